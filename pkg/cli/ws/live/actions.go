package live

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"

	"github.com/spf13/cobra"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/clientcmd/api"

	tenancyv1alpha1 "github.com/forkless/kcp/pkg/apis/tenancy/v1alpha1"
	"github.com/forkless/kcp/pkg/cli/client"
	"github.com/forkless/kcp/pkg/cli/completion"
	"github.com/forkless/kcp/pkg/cli/diagnosis/workspace"
	"github.com/forkless/kcp/pkg/cli/kubeconfig"
	"github.com/forkless/kcp/pkg/cli/run"
	"github.com/forkless/kcp/pkg/cli/tui"
	"github.com/forkless/kcp/pkg/cli/tui/model"
	"github.com/forkless/kcp/pkg/cli/tui/source"
	"github.com/forkless/kcp/pkg/cli/ws/path"
	"github.com/forkless/kcp/pkg/cli/ws/remove"
	"github.com/forkless/kcp/pkg/cli/ws/target"
	"github.com/forkless/kcp/pkg/cli/ws/walk"
	"github.com/forkless/kcp/pkg/logicalcluster"
)

// mostFound ends the walk of the finder, as it does that of "ws pick".
const mostFound = 5000

// actions are what the other commands do, for the tree.
type actions struct {
	finder *target.Finder
	origin *target.Origin
	client *client.Client
	// shell is the command "ws shell", nil if there is none.
	shell *cobra.Command
}

func (a *actions) all() tui.Actions {
	all := tui.Actions{
		User:      a.user,
		Home:      a.home,
		Create:    a.create,
		Why:       a.why,
		Consumers: a.consumers,
		Walk:      a.walk,
		TogglePin: a.togglePin,
		Types:     a.types,
		Preview:   a.preview,
		Delete:    a.delete,
		Edit:      a.edit,
	}
	if a.shell != nil {
		all.Shell = a.openShell
	}
	return all
}

func (a *actions) user(ctx context.Context) (string, error) {
	p := a.origin.Path
	if p.Empty() {
		p = logicalcluster.Root.Path()
	}
	user, err := a.client.WhoAmI(ctx, p)
	return user.Username, err
}

func (a *actions) home(ctx context.Context) (logicalcluster.Path, error) {
	// An Origin remembers where home is, and is for one goroutine.
	origin, err := a.finder.Origin()
	if err != nil {
		return logicalcluster.Path{}, err
	}
	return origin.Workspace(ctx, "~")
}

func (a *actions) create(ctx context.Context, parent logicalcluster.Path, name, workspaceType string) error {
	ws := &tenancyv1alpha1.Workspace{ObjectMeta: metav1.ObjectMeta{Name: name}}
	if workspaceType != "" {
		p, err := logicalcluster.ParsePath(workspaceType)
		if err != nil {
			return err
		}
		ws.Spec.Type = &tenancyv1alpha1.WorkspaceTypeReference{Name: p.Base()}
		if in, ok := p.Parent(); ok {
			ws.Spec.Type.Path = in.String()
		}
	}
	_, err := a.client.CreateWorkspace(ctx, parent, ws)
	return err
}

func (a *actions) why(ctx context.Context, s model.Subject, width int) (string, error) {
	d, err := workspace.DiagnoseFrom(ctx, a.client, s.Path, a.origin.Path)
	if err != nil {
		return "", err
	}
	look := a.finder.Display.For(a.finder.Streams.Out)
	look.Width = width
	var text bytes.Buffer
	d.Print(&text, look)
	return text.String(), nil
}

func (a *actions) consumers(ctx context.Context, s model.Subject, export string) ([]string, error) {
	return a.client.ConsumerClusters(ctx, s.Path, export)
}

func (a *actions) walk(ctx context.Context, top logicalcluster.Path, found func([]model.Item)) error {
	_, err := walk.Walk(ctx, a.client, top, walk.Options{Limit: mostFound, Found: func(n *walk.Node) {
		if n.Workspace != nil && n.Parent != nil {
			item := source.ItemOf(n.Parent.Path, n.Workspace)
			item.Path = n.Path
			found([]model.Item{item})
		}
	}})
	return err
}

// togglePin pins a workspace under its own name, or under that of its parent as well
// where the name is taken. A workspace that is pinned loses all its pins.
func (a *actions) togglePin(ctx context.Context, p logicalcluster.Path) ([]model.Pin, string, error) {
	said := ""
	err := a.finder.Flags.Store().Edit(ctx, func(config *api.Config) error {
		said = toggle(config, a.origin.Base, p)
		return nil
	})
	if err != nil {
		return nil, "", err
	}
	now, err := a.finder.Origin()
	if err != nil {
		return nil, "", err
	}
	return pinsOf(now), said, nil
}

// toggle changes the pins in config and says what it did.
func toggle(config *api.Config, base string, p logicalcluster.Path) string {
	taken, said := map[string]bool{}, ""
	for _, pin := range kubeconfig.PinsOf(config) {
		taken[pin.Name] = true
		if pin.Path == p && path.SameServer(pin.Base, base) {
			kubeconfig.DeletePin(config, pin.Name)
			said += " @" + pin.Name
		}
	}
	if said != "" {
		return "unpinned" + said
	}
	name := p.Base()
	if parent, ok := p.Parent(); ok && taken[name] {
		name = parent.Base() + "-" + name
	}
	for i := 2; taken[name]; i++ {
		name = fmt.Sprintf("%s-%d", p.Base(), i)
	}
	kubeconfig.SetPin(config, name, base, p)
	return fmt.Sprintf("pinned as @%s: kubectl ws @%s", name, name)
}

// types returns the types that may be used below a workspace, and the default.
func (a *actions) types(ctx context.Context, parent logicalcluster.Path) ([]string, string, error) {
	types, err := completion.Types(ctx, a.client, parent)
	if err != nil {
		return nil, "", err
	}
	standard := ""
	if lc, err := a.client.LogicalCluster(ctx, parent); err == nil {
		from := &source.Server{Client: a.client}
		standard = from.DefaultType(ctx, lc.Annotations[tenancyv1alpha1.TypeAnnotationKey])
	}
	return types, standard, nil
}

func (a *actions) preview(ctx context.Context, s model.Subject) (text, protected string, err error) {
	// The width of an overlay is not that of the terminal; it breaks lines itself.
	look := a.finder.Display.For(a.finder.Streams.Out)
	look.Width = 0
	return remove.Preview(ctx, a.client, s.Parent, s.Name, look)
}

func (a *actions) delete(ctx context.Context, s model.Subject) error {
	return remove.Start(ctx, a.client, s.Parent, s.Name)
}

// edit opens the Workspace in the editor that kubectl uses.
func (a *actions) edit(ctx context.Context, s model.Subject) (err error) {
	config, err := a.origin.Private(s.Parent)
	if err != nil {
		return err
	}
	file, err := kubeconfig.WritePrivate(config)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.Remove()) }()
	cmd := exec.CommandContext(ctx, "kubectl", "edit", "workspaces.tenancy.kcp.io", s.Name)
	cmd.Env = append(os.Environ(), "KUBECONFIG="+file.Name)
	streams := a.finder.Streams
	cmd.Stdin, cmd.Stdout, cmd.Stderr = streams.In, streams.Out, streams.ErrOut
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("kubectl edit workspace %s: %w", s.Name, err)
	}
	return nil
}

// openShell runs "ws shell" in a workspace. How the shell ends is the shell's own affair.
func (a *actions) openShell(ctx context.Context, s model.Subject) error {
	a.shell.SetContext(ctx)
	err := a.shell.RunE(a.shell, []string{":" + s.Path.String()})
	if run.IsExit(err) {
		return nil
	}
	return err
}
