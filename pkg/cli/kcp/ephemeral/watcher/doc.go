// Package watcher cleans up after a process that cannot do so itself because it was killed.
//
// The watcher is a process of its own, at the other end of a pipe. It is told which process
// group there is, and when the pipe ends without a word it kills that group, removes the
// scratch directories of the process that is gone, and ends.
//
//  1. It is started before there is anything to clean up, and what it has to know is in the
//     pipe before it matters: it need not have read it when the process is killed.
//  2. It has a session of its own, none of the caller's files and nearly none of the
//     environment, by which job runners find and kill what belongs to a job.
//  3. It ends nothing but that group, and removes nothing but what lies in scratch
//     directories whose locks have gone with their process, and what that process has left
//     of a file that it was writing.
//
// Where somebody kills both at once, Linux ends the program of the group (package job), and
// the next process that makes a scratch directory removes those that were left.
package watcher
