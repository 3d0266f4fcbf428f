// Package model is the live tree of workspaces as a program without input and output:
// what it knows, what a message does to that, and what it looks like.
//
// The contract:
//
//  1. Update and View make no requests, read no clock and never wait. What has to be
//     done comes out of Update as commands, plain values that somebody else carries out;
//     what came of them goes in as messages, failures included.
//  2. Every command that asks for something carries a number, and every answer the
//     number of its command. An answer to a question that is not asked any more is
//     dropped, so answers may come in any order and as late as they like.
//  3. The cursor is on a workspace, not on a row: it stays on it, whatever comes and goes.
//  4. Only open nodes that can be seen are watched.
//  5. The work for a frame depends on the size of the terminal, not on how many
//     workspaces there are. What a change costs may depend on how many are shown.
//
// A Model is used by one goroutine.
package model
