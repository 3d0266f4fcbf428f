// Package outside is about modules that are not this one: that they can use pkg/kcptest
// with nothing but the path to this repository, and that what the documents show them
// compiles and does what they say.
package outside
