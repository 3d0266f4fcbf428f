package live

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/clientcmd/api"

	tenancyv1alpha1 "github.com/forkless/kcp/pkg/apis/tenancy/v1alpha1"
	"github.com/forkless/kcp/pkg/cli/client"
	"github.com/forkless/kcp/pkg/cli/diagnosis/workspace"
	"github.com/forkless/kcp/pkg/cli/kubeconfig"
	"github.com/forkless/kcp/pkg/cli/tui"
	"github.com/forkless/kcp/pkg/cli/tui/model"
	"github.com/forkless/kcp/pkg/cli/tui/source"
	"github.com/forkless/kcp/pkg/cli/ws/path"
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
}

func (a *actions) all() tui.Actions {
	return tui.Actions{
		User:      a.user,
		Home:      a.home,
		Create:    a.create,
		Why:       a.why,
		Consumers: a.consumers,
		Walk:      a.walk,
		TogglePin: a.togglePin,
		Edit:      a.edit,
		Shell:     a.shell,
	}
}

func (a *actions) user(ctx context.Context) (string, error) {
	p := a.origin.Path
	if p.Empty() {
		p = logicalcluster.Root.Path()
	}
	return a.client.WhoAmI(ctx, p)
}

func (a *actions) home(ctx context.Context) (logicalcluster.Path, error) {
	return a.origin.Workspace(ctx, "~")
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
	cluster := s.Cluster
	if cluster == "" {
		lc, err := a.client.LogicalCluster(ctx, s.Path)
		if err != nil {
			return nil, err
		}
		cluster = lc.Annotations[logicalcluster.AnnotationKey]
	}
	provider, err := logicalcluster.ParseName(cluster)
	if err != nil {
		return nil, err
	}
	return a.client.Consumers(ctx, provider, export)
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

// edit opens the Workspace in the editor that kubectl uses.
func (a *actions) edit(s model.Subject) (*exec.Cmd, func(), error) {
	config, err := a.origin.Private(s.Parent)
	if err != nil {
		return nil, nil, err
	}
	kubectl, err := exec.LookPath("kubectl")
	if err != nil {
		return nil, nil, err
	}
	return private(config, kubectl, "edit", "workspaces.tenancy.kcp.io", s.Name)
}

// shell starts the shell of the user in the workspace.
func (a *actions) shell(s model.Subject) (*exec.Cmd, func(), error) {
	config, err := a.origin.Reduced(s.Path)
	if err != nil {
		return nil, nil, err
	}
	shell := os.Getenv("SHELL")
	if shell == "" {
		shell = "/bin/sh"
	}
	cmd, after, err := private(config, shell)
	if err != nil {
		return nil, nil, err
	}
	cmd.Env = append(cmd.Env, "KCP_WORKSPACE_SHELL="+s.Path.String())
	return cmd, after, nil
}

// private returns a program that runs with a kubeconfig of its own, which is removed
// afterwards.
func private(config *api.Config, name string, args ...string) (*exec.Cmd, func(), error) {
	file, err := kubeconfig.WritePrivate(config)
	if err != nil {
		return nil, nil, err
	}
	cmd := exec.Command(name, args...) //nolint:noctx // because it has the terminal, and ends when the user says so.
	cmd.Env = append(os.Environ(), "KUBECONFIG="+file.Name)
	return cmd, func() { _ = file.Remove() }, nil
}
