// Package completion answers what a shell asks when somebody presses the tab key: which
// words may stand here. It is for programs that kubectl asks through an executable of
// another name (kubectl_complete-ws), and for the scripts that "completion" prints.
//
// Contract, for all that is asked of it:
//
//  1. An answer within 400 ms: what is not known after patience is left out.
//  2. One request at a time, and the answer kept for ten seconds, in a file that only the
//     user can read: the next key is often pressed at once.
//  3. Silence about everything that goes wrong, and no questions: who has to log in again
//     learns that from the command, not from a key.
//  4. Candidates are whole words, also behind a colon.
//
// What stands where is decided by the usage lines: a command whose usage line says PATH
// takes a workspace. So commands need not know of this package. A command that knows
// better sets a function of its own and another word.
package completion
