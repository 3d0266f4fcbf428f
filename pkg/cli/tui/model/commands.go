package model

import (
	"time"

	"github.com/forkless/kcp/pkg/logicalcluster"
)

// Command is something that is to be done.
type Command any

// Subject is a workspace that a command is about.
type Subject struct {
	Path logicalcluster.Path
	// Parent has the Workspace object called Name; it is zero where there is none.
	Parent  logicalcluster.Path
	Name    string
	Cluster string
}

// The commands.
type (
	// Watch asks what is below a workspace, until Unwatch: answers are Children,
	// Changes, Lost and Live.
	Watch struct {
		Seq  int
		Path logicalcluster.Path
	}
	// Unwatch ends a watch.
	Unwatch struct{ Seq int }
	// Later sends a message after some time, as Elapsed.
	Later struct {
		After time.Duration
		Msg   Msg
	}
	// Describe asks for details: answers are Part.
	Describe struct {
		Seq int
		Subject
	}
	// FindHome asks for Home.
	FindHome struct{ Seq int }
	// AskTypes asks for Types.
	AskTypes struct {
		Seq    int
		Parent logicalcluster.Path
	}
	// Create creates a workspace: Created.
	Create struct {
		Seq    int
		Parent logicalcluster.Path
		Name   string
		// Type is empty for the default.
		Type string
	}
	// AskPreview asks for Preview.
	AskPreview struct {
		Seq int
		Subject
	}
	// Delete deletes a workspace: Deleted.
	Delete struct {
		Seq int
		Subject
	}
	// AskWhy asks for Reasons.
	AskWhy struct {
		Seq int
		Subject
		Width int
	}
	// AskConsumers asks for Consumers.
	AskConsumers struct {
		Seq int
		Subject
		Export string
	}
	// TogglePin pins or unpins a workspace: Pinned.
	TogglePin struct{ Path logicalcluster.Path }
	// Walk looks for workspaces, loaded or not: Found.
	Walk struct {
		Seq int
		Top logicalcluster.Path
	}
	// Cancel ends the command with this number, if it still goes on.
	Cancel struct{ Seq int }
	// Edit opens the Workspace in an editor: Returned.
	Edit struct{ Subject }
	// Shell starts a shell in a workspace: Returned.
	Shell struct{ Subject }
	// Copy puts text into the clipboard.
	Copy struct{ Text string }
	// Suspend stops the program until the shell continues it.
	Suspend struct{}
	// Quit ends the program.
	Quit struct {
		// To is where to go then, zero for nowhere.
		To logicalcluster.Path
		// Home goes to the home workspace.
		Home bool
		// Print is what to print then.
		Print []string
	}
)
