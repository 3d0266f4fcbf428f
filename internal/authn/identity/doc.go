// Package identity is the vocabulary of who a caller is: the groups that mean
// something to the server, the extra keys of a user, and what they make of a user in
// one logical cluster.
//
// A user is known in the whole installation, but need not count as himself
// everywhere. Three extra keys limit or widen him:
//
//   - scopes say in which logical clusters the user counts as himself. A value is a
//     list of alternatives ("cluster:a,cluster:b"), several values must all agree;
//   - cluster-name is the logical cluster a service account comes from;
//   - warrants are further users whose permissions he has as well.
//
// Effective turns a user into those a policy is asked about. It is pure: no
// authenticator or policy is known here. Both the parts that make users and the
// parts that judge them build on this package, so it imports neither.
package identity
