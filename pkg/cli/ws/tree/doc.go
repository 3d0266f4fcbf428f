// Package tree is the command "kubectl ws tree": drawing the workspaces below one, or
// writing them as a document, a list of paths, or a graph. What cannot be read is marked
// in the drawing, the rest is drawn.
//
// It works in three steps, of which only the first makes requests:
//
//	grow     walk the tree, and ask for what else is to be shown of each workspace
//	prune    keep what the filters ask for, and what leads there
//	draw     lay it out in lines, as a view for documents, or as a graph
//
// With --watch the tree is drawn again whenever something changes, or each change is told
// in a line of its own where there is no terminal.
package tree
