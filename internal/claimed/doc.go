// Package claimed knows which permission claims the bindings of each workspace have
// accepted, and so which labels objects carry by which providers find them.
//
//  1. Claims count as soon as they are accepted, as long as the binding exists, whether or
//     not the export still makes them. An export that was never found has no label.
//  2. A claim with an identity hash counts where the workspace has bound the resource with
//     that identity, any other where the resource is one that can be claimed without.
//  3. Labels of claims are nobody's to set: those that are not wanted are forged or stale.
//  4. Bindings carry the label of their own export as well, with a value of its own.
//
// Nothing is kept of workspaces that accept no claims, and claims are interned: ten
// thousand workspaces that accept the same share them.
package claimed
