// Package kcp is the command kcp: its verbs are packages below it, each with an Options
// struct, a constructor and a Run method. This package only puts them together.
package kcp
