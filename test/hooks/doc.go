// Package hooks runs examples/initializer and examples/terminator, controllers that people copy, with
// the accounts that their manifests give them, through what such controllers live to see.
package hooks
