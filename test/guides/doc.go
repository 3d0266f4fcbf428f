// Package guides runs the documents that lead somebody through something with the plugins
// alone: docs/find-out-why.md and docs/newcomers-hour.md.
package guides
