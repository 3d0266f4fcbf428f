// Package virtual tests virtual workspaces in running servers: what providers see and may
// do with what others have bound of them, and that nobody sees anything else.
package virtual
