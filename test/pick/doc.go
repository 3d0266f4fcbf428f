// Package pick tests the picker as it is used: the real plugin, in a terminal, at a real
// server.
package pick
