package model

import (
	"time"

	"github.com/forkless/kcp/pkg/logicalcluster"
)

// Msg is something that happened.
type Msg any

// What the terminal says.
type (
	// Size is how large the terminal is now.
	Size struct{ Width, Height int }
	// Key is a key that was pressed, as Bubble Tea calls it: "up", "ctrl+c", "space", "a".
	Key string
	// Paste is text that was pasted.
	Paste string
	// Wheel is how many rows the wheel was turned down.
	Wheel int
	// Elapsed is the message of a command Later, and says how late it is.
	Elapsed struct {
		Now time.Time
		Msg Msg
	}
)

// What is below an open node. Seq is that of the command Watch.
type (
	// Children are workspaces of a list, in the order of their names.
	Children struct {
		Seq   int
		Items []Item
		// First begins a list, and Last ends it: what was not in it is gone.
		First, Last bool
	}
	// Changes are workspaces that have come or changed, and the names of those that went
	// before that.
	Changes struct {
		Seq  int
		Now  []Item
		Gone []string
	}
	// Lost says that a watch does not work at present.
	Lost struct {
		Seq int
		// Problem is what went wrong, in a line.
		Problem string
		Why     Loss
		// Retry is when it will be tried again.
		Retry time.Time
	}
	// Live says that a watch works, without anything having changed.
	Live struct{ Seq int }
)

// Loss is why a node cannot be watched.
type Loss int

const (
	// Unreachable says that the server does not answer.
	Unreachable Loss = iota
	// Denied says that the user may not look into the workspace.
	Denied
	// Hidden says that the user may look into the workspace, but not at what is below it.
	Hidden
	// Childless says that there are no workspaces in such a workspace.
	Childless
	// Broken is anything else.
	Broken
)

// Answers. Seq is that of the command.
type (
	// Part is one part of what there is to say about the workspace under the cursor.
	Part struct {
		Seq int
		// Of is the part. Details has only this part filled in.
		Of      Aspect
		Details Details
		Problem string
	}
	// Home says where the home workspace of the user is.
	Home struct {
		Seq     int
		Path    logicalcluster.Path
		Problem string
	}
	// User says who is asking.
	User struct{ Name string }
	// Types are the workspace types that may be used below a workspace.
	Types struct {
		Seq     int
		Types   []string
		Default string
		Problem string
	}
	// Created says what came of creating a workspace.
	Created struct {
		Seq     int
		Problem string
		Hints   []string
	}
	// Preview says what would go with a workspace.
	Preview struct {
		Seq  int
		Text string
		// Protected is why the workspace should stay, empty if nobody said so.
		Protected string
		Problem   string
	}
	// Deleted says what came of deleting a workspace.
	Deleted struct {
		Seq     int
		Problem string
	}
	// Reasons is the answer to why.
	Reasons struct {
		Seq     int
		Text    string
		Problem string
	}
	// Consumers are the logical clusters of the workspaces that have bound an export.
	Consumers struct {
		Seq      int
		Clusters []string
		Problem  string
	}
	// Pinned are the pins after a change of them.
	Pinned struct {
		Pins    []Pin
		Said    string
		Problem string
	}
	// Found are workspaces that a walk over the tree has come across.
	Found struct {
		Seq   int
		Items []Item
		Done  bool
	}
	// Requested are requests that were made.
	Requested []Request
	// Returned says that a program has ended which had the terminal.
	Returned struct{ Problem string }
)

// settled says that the cursor has rested.
type settled struct{ seq int }

// Request is a line of the log.
type Request struct {
	At     time.Time
	Method string
	Path   string
	// Status is that of the answer, 0 if there was none.
	Status  int
	Took    time.Duration
	Problem string
}

// Pin is a workspace with a name of the user's own.
type Pin struct {
	Name string
	Path logicalcluster.Path
}
