// Package run is the frame around every command line program of the project: it
// connects a cobra command with streams and signals, and it is the one place where
// an error becomes text and an exit code.
//
// Text: one line "error: …" on the error stream, then a usage line if the command
// was called the wrong way, then up to two lines "hint: …". Never a stack trace and
// never help text after a request that failed. Whatever a server sent is printed
// without control characters, so that it cannot drive the terminal.
//
// Exit codes: 0 done, 1 any error, 3 the answer to a question is no, 4 a timeout that the
// user has set ran out, 130 interrupted, 143 terminated. A command that runs another
// program passes its exit code on, with 126 if it cannot be executed and 127 if it is not
// there. 2 is what Go itself ends with after a crash, and is not used.
//
// Commands return errors, they neither print nor log them. Only main ends the
// process.
package run
