// Package target finds the server and the workspace that a command is about, from
// its arguments, its flags and the kubeconfig. Nothing connects before it must: the
// commands that only look at the kubeconfig never do.
package target

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd/api"

	"github.com/forkless/kcp/pkg/cli/client"
	"github.com/forkless/kcp/pkg/cli/display"
	"github.com/forkless/kcp/pkg/cli/kubeconfig"
	"github.com/forkless/kcp/pkg/cli/near"
	"github.com/forkless/kcp/pkg/cli/run"
	"github.com/forkless/kcp/pkg/cli/ws/path"
	"github.com/forkless/kcp/pkg/logicalcluster"
)

// Finder is what all workspace commands are given.
type Finder struct {
	// Streams of the command.
	Streams run.Streams
	// Flags are the connection flags.
	Flags *kubeconfig.Flags
	// Display are the flags about how things are shown.
	Display *display.Flags
	// UserHome returns the user's home directory, os.UserHomeDir outside of tests.
	UserHome func() (string, error)
}

// New returns a Finder whose flags are empty until they are parsed.
func New(streams run.Streams) *Finder {
	return &Finder{Streams: streams, Flags: &kubeconfig.Flags{}, Display: &display.Flags{}, UserHome: os.UserHomeDir}
}

// Stored returns a Finder for what the kubeconfig says, whatever the flags say.
func (f *Finder) Stored() *Finder {
	return &Finder{Streams: f.Streams, Flags: &kubeconfig.Flags{Path: f.Flags.Path}, Display: f.Display, UserHome: f.UserHome}
}

// Origin is where a command starts from. It is a snapshot of the kubeconfig.
type Origin struct {
	kubeconfig.Place

	snapshot *kubeconfig.Snapshot
	finder   *Finder
	client   *client.Client
	// home is the home workspace, once the server has been asked.
	home logicalcluster.Path
}

// Origin returns where the kubeconfig and the flags point at. It needs no network.
func (f *Finder) Origin() (*Origin, error) {
	snapshot, err := f.Flags.Load()
	if err != nil {
		return nil, err
	}
	place, err := snapshot.Place()
	if err != nil {
		return nil, err
	}
	return &Origin{Place: place, snapshot: snapshot, finder: f}, nil
}

// Context returns the name of the context that the command starts from.
func (o *Origin) Context() string { return o.snapshot.Context() }

// Client returns a client of the server, always the same one.
func (o *Origin) Client() (*client.Client, error) {
	if o.client != nil {
		return o.client, nil
	}
	config, err := o.snapshot.RESTConfig()
	if err != nil {
		return nil, err
	}
	if o.client, err = client.New(config, o.Base, o.finder.Streams.ErrOut); err != nil {
		return nil, err
	}
	if o.snapshot.ReadOnly() {
		o.client.ReadOnly()
	}
	return o.client, nil
}

// ClientAs returns a client that asks the server as somebody else, who comes with extra
// keys. Who may be put on is the server's to say.
func (o *Origin) ClientAs(user string, extra map[string][]string) (*client.Client, error) {
	config, err := o.snapshot.RESTConfig()
	if err != nil {
		return nil, err
	}
	config = rest.CopyConfig(config)
	config.Impersonate = rest.ImpersonationConfig{UserName: user, Extra: extra}
	return client.New(config, o.Base, o.finder.Streams.ErrOut)
}

// Parse reads an argument that names a workspace.
func (f *Finder) Parse(arg string) (path.Reference, error) {
	// Users without a home directory have no form of ~ that a shell has expanded.
	home, _ := f.UserHome()
	return path.Parse(arg, home)
}

// Resolve returns the path that ref names from here.
func (o *Origin) Resolve(ctx context.Context, ref path.Reference) (logicalcluster.Path, error) {
	if id, ok := ref.ClusterID(); ok {
		return o.resolveID(ctx, ref, id)
	}
	base, err := o.baseOf(ctx, ref)
	if err != nil {
		return logicalcluster.Path{}, err
	}
	return ref.Resolve(base)
}

// resolveID decides between a workspace below the current one and the logical cluster
// id, which has the same name. What is below wins: it has been named by people.
func (o *Origin) resolveID(ctx context.Context, ref path.Reference, id logicalcluster.Path) (logicalcluster.Path, error) {
	if !o.InWorkspace() {
		return id, nil
	}
	below, err := ref.Resolve(o.Path)
	if err != nil {
		return logicalcluster.Path{}, err
	}
	c, err := o.Client()
	if err != nil {
		return logicalcluster.Path{}, err
	}
	if _, err := c.Workspace(ctx, o.Path, id.Segments()[0]); !apierrors.IsNotFound(err) && !apierrors.IsForbidden(err) {
		return below, err
	}
	top, _ := logicalcluster.ParsePath(id.Segments()[0])
	if _, err := c.LogicalCluster(ctx, top); err != nil {
		// Nobody can tell whether it is there, so it is what a name usually is.
		return below, nil //nolint:nilerr // see above
	}
	return id, nil
}

// baseOf returns the path that ref is relative to.
func (o *Origin) baseOf(ctx context.Context, ref path.Reference) (logicalcluster.Path, error) {
	switch ref.Kind {
	case path.Absolute:
		return logicalcluster.Path{}, nil
	case path.URL:
		return logicalcluster.Path{}, o.sameServer(ref.Server)
	case path.Pinned:
		return o.pinned(ref.Pin)
	case path.Home:
		return o.askHome(ctx)
	case path.Previous:
		previous, err := o.snapshot.Previous()
		if err != nil {
			return logicalcluster.Path{}, err
		}
		if previous.Base != o.Base || !previous.InWorkspace() {
			return logicalcluster.Path{}, fmt.Errorf("the previous context leads to %s, which is no workspace on this server", previous.Server)
		}
		return previous.Path, nil
	default:
		if !o.InWorkspace() {
			return logicalcluster.Path{}, run.Hint(
				fmt.Errorf("the current server %s is no workspace, so %q leads nowhere from here", o.Server, ref),
				"an absolute path begins with a colon, such as :root")
		}
		return o.Path, nil
	}
}

// sameServer returns an error if server is another one than that of the origin.
func (o *Origin) sameServer(server string) error {
	if path.SameServer(server, o.Base) {
		return nil
	}
	return run.Hint(
		fmt.Errorf("the current server is %s, and credentials for it are not taken to %s", o.Base, server),
		"--context names a context of the other server")
}

// pinned returns the workspace that has been pinned as name.
func (o *Origin) pinned(name string) (logicalcluster.Path, error) {
	pins := o.snapshot.Pins()
	i := slices.IndexFunc(pins, func(pin kubeconfig.Pin) bool { return pin.Name == name })
	if i < 0 {
		return logicalcluster.Path{}, run.Hint(fmt.Errorf("there is no pin %q in the kubeconfig", name), pinHint(name, pins))
	}
	if err := o.sameServer(pins[i].Base); err != nil {
		return logicalcluster.Path{}, fmt.Errorf("pin %q: %w", name, err)
	}
	return pins[i].Path, nil
}

// pinHint says which pins there are, or how to make one.
func pinHint(name string, pins []kubeconfig.Pin) string {
	names := make([]string, 0, len(pins))
	for _, pin := range pins {
		names = append(names, pin.Name)
	}
	if names = near.Names(name, names); len(names) > 0 {
		return "did you mean @" + strings.Join(names, ", @") + "?"
	}
	return fmt.Sprintf("kubectl ws pin %s PATH makes one", name)
}

// Pins returns the pinned workspaces of all servers, ordered by name.
func (o *Origin) Pins() []kubeconfig.Pin { return o.snapshot.Pins() }

// History returns the workspaces on this server that the user has left, the latest
// first.
func (o *Origin) History() []logicalcluster.Path {
	var paths []logicalcluster.Path
	for _, place := range o.snapshot.History() {
		if path.SameServer(place.Base, o.Base) {
			paths = append(paths, place.Path)
		}
	}
	return paths
}

// Private returns a kubeconfig that leads to the workspace p of this server and is good
// for nothing else.
func (o *Origin) Private(p logicalcluster.Path) (*api.Config, error) { return o.snapshot.Private(p) }

// Reduced returns a kubeconfig that leads to the workspace p, with those entries of the
// user's that lead to the same server.
func (o *Origin) Reduced(p logicalcluster.Path) (*api.Config, error) { return o.snapshot.Reduced(p) }

// Home returns the home workspace of the user, as far as that is known without asking
// the server.
func (o *Origin) Home() (logicalcluster.Path, bool) {
	if !o.home.Empty() {
		return o.home, true
	}
	return o.snapshot.Home()
}

// askHome asks the server for the home workspace of the user.
func (o *Origin) askHome(ctx context.Context) (logicalcluster.Path, error) {
	c, err := o.Client()
	if err != nil {
		return logicalcluster.Path{}, err
	}
	ws, err := c.Home(ctx)
	if apierrors.IsNotFound(err) {
		return logicalcluster.Path{}, run.Hint(
			errors.New("this server has no home workspaces"),
			"kubectl ws :root goes to the top of the tree, kubectl ws . shows where you are")
	}
	if err != nil {
		return logicalcluster.Path{}, err
	}
	_, p, ok := path.SplitURL(ws.Spec.URL)
	if !ok {
		return logicalcluster.Path{}, fmt.Errorf("the URL %q of the home workspace is no workspace URL", ws.Spec.URL)
	}
	o.home = p
	return p, nil
}

// Workspace returns the workspace that arg names, or the current one if arg is empty,
// as the flag --workspace means it.
func (o *Origin) Workspace(ctx context.Context, arg string) (logicalcluster.Path, error) {
	if arg == "" {
		arg = "."
	}
	ref, err := o.finder.Parse(arg)
	if err != nil {
		return logicalcluster.Path{}, err
	}
	return o.Resolve(ctx, ref)
}
