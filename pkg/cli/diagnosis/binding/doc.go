// Package binding finds out why an APIBinding is not bound, or does not give what it
// should: the export, the permission to bind it, what else has its resources or their
// names, claims that nobody has answered or that are about another identity.
//
// Gather asks, Judge decides. Of the provider's workspace callers may read much, little or
// nothing; what the binding itself says of it is believed, what it does not say is unknown.
package binding
