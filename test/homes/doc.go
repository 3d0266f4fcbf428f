// Package homes tests the home workspaces of users against whole servers: who has one, how
// it comes about in both layouts, and where it is. It holds tests only.
package homes
