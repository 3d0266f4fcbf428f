// Package request is what our admission plugins ask about a request, and how they
// answer it.
//
// Kinds that are served from definitions come as unstructured objects. Decisions are
// made on the Go types (As); changes are made in the object itself (SetMap, or
// meta.Accessor for metadata), so that fields we know nothing of stay as they are.
//
// A plugin answers with Denied if the request is to blame, and passes errors of
// readers through Failed.
package request
