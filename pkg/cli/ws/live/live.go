// Package live is the interactive tree of "kubectl ws -i" and "kubectl ws tree -i": it
// shows the workspaces of the server that the kubeconfig leads to, and goes where
// somebody has left the tree for.
package live

import (
	"context"
	"fmt"
	"io"
	"net/url"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/forkless/kcp/pkg/cli/tui"
	"github.com/forkless/kcp/pkg/cli/tui/model"
	"github.com/forkless/kcp/pkg/cli/tui/source"
	"github.com/forkless/kcp/pkg/cli/ws/path"
	"github.com/forkless/kcp/pkg/cli/ws/switching"
	"github.com/forkless/kcp/pkg/cli/ws/target"
	"github.com/forkless/kcp/pkg/logicalcluster"
)

// Run shows the tree with the cursor on start, or on the current workspace if start is
// zero, and switches to the workspace that it was left for. shell is the command that
// opens shells in workspaces, nil if there is none.
func Run(ctx context.Context, finder *target.Finder, start logicalcluster.Path, shell *cobra.Command) error {
	origin, err := finder.Origin()
	if err != nil {
		return err
	}
	requests := &tui.Requests{}
	// What servers warn of would be drawn into the tree.
	c, err := origin.ClientVia(requests.Wrap, io.Discard)
	if err != nil {
		return err
	}
	a := &actions{finder: finder, origin: origin, client: c, shell: shell}
	result, err := tui.Run(ctx, tui.Config{
		Streams:  finder.Streams,
		Model:    options(finder, origin, start),
		Source:   &source.Server{Client: c},
		Actions:  a.all(),
		Requests: requests,
	})
	if err != nil {
		return err
	}
	return leave(ctx, finder, origin, result)
}

// options are what is known without asking the server.
func options(finder *target.Finder, origin *target.Origin, start logicalcluster.Path) model.Options {
	o := model.Options{
		Display:   finder.Display.For(finder.Streams.Out),
		Current:   origin.Path,
		Start:     start,
		Server:    origin.Base,
		Now:       time.Now(),
		Clipboard: takesClipboard(os.Getenv),
		Home:      true,
		Pins:      pinsOf(origin),
	}
	if o.Current.Empty() && o.Start.Empty() {
		o.Start = logicalcluster.Root.Path()
	}
	if u, err := url.Parse(origin.Base); err == nil && u.Host != "" {
		o.Server = u.Hostname()
	}
	return o
}

// pinsOf returns the pins that lead to workspaces of the same server.
func pinsOf(origin *target.Origin) []model.Pin {
	var pins []model.Pin
	for _, pin := range origin.Pins() {
		if path.SameServer(pin.Base, origin.Base) {
			pins = append(pins, model.Pin{Name: pin.Name, Path: pin.Path})
		}
	}
	return pins
}

// takesClipboard says whether a terminal is known to understand OSC 52. Those that do not
// ignore it, so only the ones that are known for that are left out.
func takesClipboard(getenv func(string) string) bool {
	switch {
	case getenv("TERM_PROGRAM") == "Apple_Terminal":
		return false
	case getenv("VTE_VERSION") != "" && getenv("VTE_VERSION") < "7600":
		return false
	}
	switch getenv("TERM") {
	case "linux", "dumb", "vt100", "vt220", "":
		return false
	}
	return true
}

// leave goes where the tree was left for.
func leave(ctx context.Context, finder *target.Finder, origin *target.Origin, result tui.Result) error {
	var arg string
	switch {
	case result.Home:
		arg = "~"
	case !result.To.Empty():
		arg = fmt.Sprintf(":%s", result.To)
	default:
		return nil
	}
	ref, err := finder.Parse(arg)
	if err != nil {
		return err
	}
	return switching.Switcher{Finder: finder}.Go(ctx, origin, ref)
}
