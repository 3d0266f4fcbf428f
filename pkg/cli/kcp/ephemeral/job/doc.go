// Package job runs a program as a shell runs a job: in a process group of its own, which
// has the terminal if there is one, gets the signals that this process gets, each once, and
// ends as a whole.
//
//  1. The program is looked up before it is run, so that a typing error costs nothing.
//  2. At a terminal it is in the foreground, so ctrl-c reaches it and not this process. If
//     this process is part of a pipeline, the terminal is left to the pipeline until the
//     program wants it.
//  3. ctrl-z stops the program and then this process, as a shell expects of a job, and both
//     go on together.
//  4. Its exit code is that which a shell would have: 128 and the number of the signal that
//     has ended it.
//  5. Whoever is to end the group, should this process be killed, knows of it before there is
//     anything in it.
//  6. When it has ended, what it has left in its group is ended.
//  7. On Linux it is killed with this process even if nobody ends the group.
//
// On Windows, which has no process groups and no signals, it is a job object: ctrl-c reaches
// everything on the console, and to end is to be killed.
package job
