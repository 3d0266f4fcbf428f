// Package bindings tests what becomes of APIBindings on the real server: how they get bound
// and what they say about it, what they exclude from a workspace, how they follow their
// exports, and how they end.
package bindings
