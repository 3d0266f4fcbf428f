// Package crdspec lets equal CustomResourceDefinitions share their specs in memory.
//
// A schema takes many times its size on disk once it is decoded, and the same
// definition is often in a thousand workspaces. Decoding what is stored therefore goes
// by the bytes of the spec: where they are the same as those of an object that is in
// memory, the objects get the same spec, and the bytes are not decoded again.
//
//  1. What is decoded equals what upstream decodes.
//  2. A spec is shared as long as an object that has it is in use, and not longer.
//  3. Whoever changes the spec of a decoded object, deeper than by replacing its fields,
//     changes that of others. Objects from storage are read-only for that reason anyway;
//     upstream's registry changes metadata and status in place, and never the spec.
package crdspec
