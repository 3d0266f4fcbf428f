// Package apiresourceschema is the virtual workspace of the schemas behind what a workspace
// has bound, for those who cannot read them where their providers have them:
//
//	/services/apiresourceschema/<cluster>/clusters/<* or the same cluster>/apis/apis.kcp.io/v1alpha1/apiresourceschemas
//
// Who may get APIBindings in the workspace may get and list the schemas that its bindings
// have bound. A watch stays open and has no events: schemas do not change.
package apiresourceschema
