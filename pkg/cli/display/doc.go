// Package display knows what the other end of a stream can show: whether somebody looks
// at it, how wide it is, and whether colors and characters beyond ASCII arrive there.
//
// The contract:
//
//  1. Off a terminal nothing is cut, and no escape sequence is written unless the user
//     asked for color with --color=always or CLICOLOR_FORCE.
//  2. Colors are the 16 of the terminal, whose theme decides what they look like. No
//     fact is carried by color alone.
//  3. Widths are counted in cells of the terminal: a Chinese character has two, a
//     combining accent none.
//
// Deciding takes flags, the environment and a stream; a Display is what comes out of it,
// a plain value that can be given to whatever draws.
package display
