// Package hooks runs what stands in for the controllers of others: examples/initializer, with
// the account that its manifests give it, through what such a controller lives to see.
package hooks
