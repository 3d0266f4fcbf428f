// Package tui tests the interactive tree as it is used: the real plugin, in a terminal,
// at a real server.
package tui
