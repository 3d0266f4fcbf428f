// Package authn finds out who sends a request.
//
// New puts the authenticators in order; the first to recognise its credential
// decides. A credential that is presented and recognised by none is an error, which
// becomes 401: it never makes its bearer anonymous. Who is authenticated is in the
// group system:authenticated. Groups that the server alone puts anybody into are taken
// from whoever brings them along (drop.go).
//
// Most authenticators are upstream's; each file here says how one is made from flags.
// What a user may do, and whether he counts as himself in a logical cluster, is not
// decided here: see packages authz and identity.
package authn
