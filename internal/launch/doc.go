// Package launch takes hold of what a server needs before it may write anything: its
// root directory, its port and its certificate, in this order.
//
// The order is the contract. Two servers on one directory would destroy it, so the
// lock comes first. A port that is in use must not leave a half-made directory
// behind, so the listener is bound before the directory is marked as ours and before
// the certificate is made. What can be looked at without taking it, as whether there can be
// an audit log, comes before all that. Whatever fails, everything taken before is given back.
//
// It does not start anything; the server is made from the result.
package launch
