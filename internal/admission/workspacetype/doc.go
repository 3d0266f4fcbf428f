// Package workspacetype is the admission plugin for WorkspaceTypes: what is checked
// of a type by itself. References to other types must say where these are, and the
// author must be allowed to bind the exports that workspaces of the type will bind.
//
// That referenced types exist, or do not extend each other in a circle, is checked
// when the type is used: types may be created in any order.
package workspacetype
