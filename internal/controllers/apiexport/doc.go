// Package apiexport is the controller that gives APIExports their identity: the hash of a
// key that is kept in a secret, and that says whose objects those of the export are.
//
//  1. An export that names no secret gets the one called like itself in the namespace
//     kcp-system. Secret and namespace are made if they are not there, in one transaction
//     with the export, so that no crash leaves a key that nobody goes by.
//  2. status.identityHash is set once, and never changes.
//  3. IdentityValid says whether the secret still has that key. Whoever moves an export
//     puts the same key into a secret of the new workspace.
//
// Secrets are heard of through the feed; what is remembered is which of them exports name.
package apiexport
