// Package apiexport is the virtual workspace of providers: what those who have bound an
// APIExport hold of it, and what of their other objects they let the provider see.
//
//	/services/apiexport/<cluster of the export>/<export>/clusters/<consumer or *>/<api path>
//
// What is served is decided by the export (package file resources.go): its own resources,
// those it claims, and the bindings to it. It is worked out from memory for each request;
// nothing is kept for an export or a consumer, but for the watches that run.
//
// Who may (authorize.go), in this order:
//
//  1. the provider's workspace has to allow the same verb on apiexports/content. Who is
//     not allowed reads "access denied" and nothing else, whatever there is or is not.
//  2. for one consumer, its binding has to bind the resource, or to accept the claim for
//     it with this verb. Who passed the first step reads which of these is missing.
//  3. for claimed resources of another export, the maximal permission policy of that one.
//
// Requests into one consumer are served by the same handlers as its own, in its cluster,
// as the user who made them with a warrant of the workspace (consumer.go): admission, audit
// and webhooks see the provider. Those over all consumers are lists and watches of the one
// store of the resource and identity.
//
// Of claimed resources a provider sees what package permissionclaims says: lists and
// watches select by the label of the claim, everything else is bounded by its Guard.
package apiexport
