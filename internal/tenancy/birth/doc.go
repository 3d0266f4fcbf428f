// Package birth makes all objects of a new workspace at once, so that they can be
// written in one transaction and no workspace is ever half there.
//
// Of is pure. The objects it returns are complete as storage wants them: identity,
// times, finalizers, labels and status are what a create through the API followed by
// the controllers would have left, field managers aside: nobody owns the fields.
//
// A logical cluster without a Workspace, the home of a user for one, is born the same way,
// from what it has in place of one.
//
// With that our own initializers have done their work before the workspace can be
// seen. spec.initializers of the LogicalCluster names them, its status does not. If no
// other initializer is left the workspace is born Ready, otherwise Initializing, and
// package phase decides from there.
package birth
