// Package admission names our admission plugins and puts them in order.
//
// Each plugin is a package below this one. The list in Plugins is the whole of what
// requests pass: first all plugins of the list change the object, in this order, then,
// after defaulting and validation by the schema, all of them check it, in this order
// again. So whatever a plugin sets it also checks, because others run between.
//
// Plugins keep no state per logical cluster and read through small interfaces that
// answer from memory.
package admission
