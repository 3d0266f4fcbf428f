// Package model is the picker of "kubectl ws pick" without its terminal and its server: a
// plain value that is told what was found and which keys are pressed, that says what is to
// be done, and that draws itself in lines.
//
// Candidates come in any number and order; the first that is known of a workspace decides
// its place among equals, what is learned of it later completes it.
package model
