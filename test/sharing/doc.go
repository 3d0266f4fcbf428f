// Package sharing runs examples/databases, the provider that people copy, through what a
// controller lives to see: consumers who come and go, and restarts. docs/apis.md, which shows
// the example to readers, is run by package clients.
package sharing
