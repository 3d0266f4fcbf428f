// Package admission names our admission plugins and puts them in order.
//
// Each plugin is a package below this one. The list in Plugins is the whole of what
// requests pass: first all plugins of the list change the object, in this order, then,
// after defaulting and validation by the schema, all of them check it, in this order
// again. A webhook or policy may have the first round run twice. So whatever a plugin sets it also checks, because others run between.
//
// Plugins keep no state per logical cluster and read through small interfaces that
// answer from memory. Those that do what a workspace has configured, webhooks and
// policies, are the exception: see package configurations.
package admission
