// Package operations runs the kcp program as operators do, and looks at what they see of
// it: logs, exit codes, and how it ends while clients work.
package operations
