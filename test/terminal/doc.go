// Package terminal is a terminal for tests: a program runs in it as it does for somebody
// who sits in front of it, and what would be on the screen can be read.
//
// It understands what programs with a whole screen write: moving the cursor, writing,
// erasing, inserting and deleting, scrolling, and the alternate screen. Colors it takes
// and forgets, so a test reads text. What it does not understand it counts, so that
// nothing is drawn wrongly in silence.
package terminal
