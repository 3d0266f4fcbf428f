// Package apply puts objects into a workspace and waits until they can be used: what a
// control plane that lives for a test or a command is filled with.
//
// It has two halves. Reading turns files into Manifests, in order, and finds what is wrong
// with them before anything is written: Parse, Read, ReadFS. Applying sends them, one
// after the other, by server-side apply, and waits after each for what the next may rely
// on:
//
//   - a CustomResourceDefinition is established and served,
//   - an APIExport has its identity,
//   - an APIBinding is bound, what it accepts is applied, and what it brings is served,
//   - a Workspace is ready.
//
// Every error says which file and which document it is about. Applying twice is the same
// as applying once. Waiting ends with the context and says what was last seen.
//
// The package is a client: it needs a configuration that is directed at a workspace, and
// nothing of the server.
package apply
