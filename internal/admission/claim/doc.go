// Package claim holds the rules about permission claims that exports and bindings have in
// common, for the admission plugins of both.
package claim
