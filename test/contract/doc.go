// Package contract holds what clients may rely on: one test for each behavior, on
// one server, through client-go or plain HTTP. The tests run at the same time, each in
// workspaces of its own.
//
// A behavior belongs here if a client can observe it and would break if it changed. How
// kubectl and its plugins look is for package e2e, bad input for package badinput.
package contract
