// Package home says where the home workspace of a user is. It is pure: from a name it
// works out an address, and looks at nothing.
//
// There are two layouts.
//
// Rootless, the usual one: the home is a logical cluster without a Workspace, outside of the
// tree below root. Its name is a hash of the user's name (Cluster), so that every name has
// one, whatever is in it, and no two users share one unless they have broken SHA-224 cut to
// 64 bits. Whose it is says the home itself, and is compared. A name that is a segment of
// a path makes the path "user:<name>", which leads to the home by the same hash, without a
// look-up (Find). The home of any other name goes by its cluster alone.
//
// Buckets: the home is a Workspace "<root>:<bucket>:…:<name>" in the tree below root. Buckets
// spread the users, by a hash of their names. Names become names of workspaces by replacing
// what these must not have, which two users may share: whose a home is decides about who
// gets it, and a name of which nothing is left has none.
package home
