// Package permissionclaim keeps the labels by which providers find claimed objects as the
// answers to their claims want them, and says in the bindings whether that is done.
//
// There are two controllers. One watches bindings and tells the index of accepted claims
// of them; it is synced when the index knows all. The other one labels, and writes what the
// status of bindings says of claims (package permissionclaims has who writes which field):
//
//  1. When an answer changes, or a binding goes, the objects of the resources concerned
//     are looked at and those are written whose labels change.
//  2. Whatever else is written without the right labels is heard of through the feed and
//     corrected: what the server writes itself, without admission, what was admitted just
//     before an answer changed, and what was left over when the process ended.
//  3. It begins when the catalog knows all that is bound, since that decides what a claim
//     with an identity is for.
//
// Objects are changed where they are stored: neither admission nor field management is
// asked, since labels of claims are nobody's.
package permissionclaim
