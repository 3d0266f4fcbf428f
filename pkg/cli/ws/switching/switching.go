package switching

import (
	"context"
	"fmt"
	"io"

	"k8s.io/client-go/tools/clientcmd/api"

	"github.com/forkless/kcp/pkg/cli/client"
	"github.com/forkless/kcp/pkg/cli/kubeconfig"
	"github.com/forkless/kcp/pkg/cli/ws/path"
	"github.com/forkless/kcp/pkg/cli/ws/target"
	"github.com/forkless/kcp/pkg/logicalcluster"
)

// Switcher goes to workspaces.
type Switcher struct {
	// Finder knows where one is.
	Finder *target.Finder
	// Short prints the bare path instead of a sentence.
	Short bool
}

// Go goes to where ref leads from origin. For the current workspace it only says
// where that is.
func (s Switcher) Go(ctx context.Context, origin *target.Origin, ref path.Reference) error {
	switch ref.Kind {
	case path.Current:
		return Print(s.Finder.Streams.Out, origin.Place, "", s.Short)
	case path.Previous:
		return s.back(ctx)
	}
	to, err := origin.Resolve(ctx, ref)
	if err != nil {
		return err
	}
	c, err := origin.Client()
	if err != nil {
		return err
	}
	bindings := listBindings(ctx, c, to)
	workspaceType := ""
	// The top of the tree is not checked: it is the way out of a workspace that is gone.
	if ref.Kind != path.Top {
		if workspaceType, err = inspect(ctx, c, to); err != nil {
			return err
		}
	}
	return s.enter(ctx, origin, to, workspaceType, bindings)
}

// To goes to the workspace to, of which the caller knows that it is there, and the
// type.
func (s Switcher) To(ctx context.Context, origin *target.Origin, to logicalcluster.Path, workspaceType string) error {
	c, err := origin.Client()
	if err != nil {
		return err
	}
	return s.enter(ctx, origin, to, workspaceType, listBindings(ctx, c, to))
}

// enter makes to the current workspace.
func (s Switcher) enter(ctx context.Context, origin *target.Origin, to logicalcluster.Path, workspaceType string, bindings <-chan bindingList) error {
	server := origin.At(to)
	err := s.Finder.Flags.Store().Edit(ctx, func(config *api.Config) error {
		if err := kubeconfig.Switch(config, origin.Context(), server); err != nil {
			return err
		}
		if home, ok := origin.Home(); ok {
			kubeconfig.SetHome(config, origin.Base, home)
		}
		return nil
	})
	if err != nil {
		return err
	}
	return s.arrived(kubeconfig.Place{Server: server, Base: origin.Base, Path: to}, workspaceType, bindings)
}

// back goes to where the previous context leads. Nothing is checked: it may be no
// workspace, or on a server that is down.
func (s Switcher) back(ctx context.Context) error {
	if err := s.Finder.Flags.Store().Edit(ctx, kubeconfig.SwitchBack); err != nil {
		return err
	}
	// Where that is, the file says alone: flags may have named another context.
	origin, err := s.Finder.Stored().Origin()
	if err != nil {
		return err
	}
	var bindings <-chan bindingList
	if origin.InWorkspace() {
		c, err := origin.Client()
		if err != nil {
			return err
		}
		bindings = listBindings(ctx, c, origin.Path)
	}
	return s.arrived(origin.Place, "", bindings)
}

// arrived says where one is, and then what the bindings there lack. bindings is nil
// where there can be none.
func (s Switcher) arrived(place kubeconfig.Place, workspaceType string, bindings <-chan bindingList) error {
	if err := Print(s.Finder.Streams.Out, place, workspaceType, s.Short); err != nil {
		return err
	}
	if bindings != nil {
		warn(s.Finder.Streams.ErrOut, <-bindings)
	}
	return nil
}

// Print says that place is the current workspace. workspaceType is left out if it is
// empty. With short it prints the bare path, or nothing where there is no workspace.
func Print(out io.Writer, place kubeconfig.Place, workspaceType string, short bool) error {
	var err error
	switch {
	case short && place.InWorkspace():
		_, err = fmt.Fprintln(out, place.Path)
	case short:
	case !place.InWorkspace():
		_, err = fmt.Fprintf(out, "Current workspace is the URL %q.\n", place.Server)
	case workspaceType != "":
		_, err = fmt.Fprintf(out, "Current workspace is '%s' (type %s).\n", place.Path, workspaceType)
	default:
		_, err = fmt.Fprintf(out, "Current workspace is '%s'.\n", place.Path)
	}
	return err
}

// bindingList is the answer to a request for the APIBindings of a workspace.
type bindingList struct {
	items []client.Binding
	err   error
}

// listBindings asks for the APIBindings of p, meanwhile other things can be done. The
// answer may be left in the channel.
func listBindings(ctx context.Context, c *client.Client, p logicalcluster.Path) <-chan bindingList {
	answer := make(chan bindingList, 1)
	go func() {
		items, err := c.Bindings(ctx, p)
		answer <- bindingList{items: items, err: err}
	}()
	return answer
}
