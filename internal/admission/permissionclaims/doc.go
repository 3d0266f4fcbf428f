// Package permissionclaims is the admission plugin that labels what providers of APIs may
// see of a workspace, and keeps what they write within that.
//
//  1. Every object that is written gets the labels of the claims that its workspace has
//     accepted and that select it. Others of that kind are dropped, forged or stale,
//     whoever has sent them.
//  2. A request with a guard comes from a provider, through his virtual workspace. What he
//     writes gets the labels that the claim selects by, is refused if it has another value
//     of one of these or does not match otherwise, and is created only if the claim lets
//     him, whatever the verb he creates it by.
//
// That he changes or deletes nothing else is for storage to see to, which knows the object
// at the moment of the write. What changes without a request, or has been written before
// an answer changed, is labeled by a controller.
package permissionclaims
