package tui

import (
	"context"

	"github.com/forkless/kcp/pkg/cli/run"
	"github.com/forkless/kcp/pkg/cli/tui/model"
	"github.com/forkless/kcp/pkg/logicalcluster"
)

// Source is where the tree comes from. Its methods may be called by several goroutines at
// once; they answer with messages, and return when there will be none any more or ctx is
// done.
type Source interface {
	// Watch tells what is below a workspace: model.Children, model.Changes, model.Lost
	// and model.Live.
	Watch(ctx context.Context, w model.Watch, emit func(model.Msg))
	// Describe tells what there is to say about a workspace: model.Part.
	Describe(ctx context.Context, d model.Describe, emit func(model.Msg))
}

// Actions are what can be done with workspaces beyond looking at them. Those that are nil
// are not offered.
type Actions struct {
	// User returns who is asking.
	User func(ctx context.Context) (string, error)
	// Home returns where the home workspace of the user is.
	Home func(ctx context.Context) (logicalcluster.Path, error)
	// Types returns the types that may be used below a workspace, and which one is used
	// if none is named.
	Types func(ctx context.Context, parent logicalcluster.Path) (types []string, standard string, err error)
	// Create creates a workspace; an empty type is the default.
	Create func(ctx context.Context, parent logicalcluster.Path, name, workspaceType string) error
	// Preview says what would go with a workspace, and why it should stay if somebody
	// said so.
	Preview func(ctx context.Context, s model.Subject) (text, protected string, err error)
	// Delete starts the deletion of a workspace.
	Delete func(ctx context.Context, s model.Subject) error
	// Why says why a workspace is not ready, in lines of a width.
	Why func(ctx context.Context, s model.Subject, width int) (string, error)
	// Consumers returns the logical clusters of the workspaces that have bound an export.
	Consumers func(ctx context.Context, s model.Subject, export string) ([]string, error)
	// Walk finds workspaces below top.
	Walk func(ctx context.Context, top logicalcluster.Path, found func([]model.Item)) error
	// TogglePin pins or unpins a workspace. It returns the pins, and what to say about it.
	TogglePin func(ctx context.Context, p logicalcluster.Path) (pins []model.Pin, said string, err error)
	// Edit and Shell run while the tree leaves the terminal to them.
	Edit  func(ctx context.Context, s model.Subject) error
	Shell func(ctx context.Context, s model.Subject) error
}

// Config is what the tree is shown with.
type Config struct {
	Streams run.Streams
	// Model is what is known without asking anybody. Missing is filled in.
	Model   model.Options
	Source  Source
	Actions Actions
	// Requests are shown in the log, nil for none.
	Requests *Requests
}

// Result is how somebody has left the tree.
type Result struct {
	// To is where to go now, zero for nowhere.
	To logicalcluster.Path
	// Home goes to the home workspace.
	Home bool
}

// missing returns the keys that have no action, with the reason.
func (c *Config) missing() map[model.Key]string {
	reason := "not with this server"
	if c.Model.Offline != "" {
		reason = "not with a file, which can be looked at only"
	}
	missing := map[model.Key]string{}
	for key, there := range map[model.Key]bool{
		"c": c.Actions.Create != nil,
		"d": c.Actions.Delete != nil && c.Actions.Preview != nil,
		"w": c.Actions.Why != nil,
		"b": c.Actions.Consumers != nil,
		"p": c.Actions.TogglePin != nil,
		"e": c.Actions.Edit != nil,
		"s": c.Actions.Shell != nil,
	} {
		if !there {
			missing[key] = reason
		}
	}
	return missing
}
