// Package ci tests what is offered to those who test in CI: the GitHub action of this
// repository is run as a runner would, and the recipes of docs/ci.md are checked.
package ci
