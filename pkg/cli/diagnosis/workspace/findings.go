package workspace

import (
	"context"
	"time"

	apisv1alpha1 "github.com/forkless/kcp/pkg/apis/apis/v1alpha1"
	corev1alpha1 "github.com/forkless/kcp/pkg/apis/core/v1alpha1"
	tenancyv1alpha1 "github.com/forkless/kcp/pkg/apis/tenancy/v1alpha1"
	"github.com/forkless/kcp/pkg/cli/client"
	"github.com/forkless/kcp/pkg/cli/diagnosis"
	"github.com/forkless/kcp/pkg/cli/diagnosis/finalizer"
	"github.com/forkless/kcp/pkg/cli/diagnosis/hook"
	"github.com/forkless/kcp/pkg/logicalcluster"
)

// Findings are what could be found out about a workspace.
type Findings struct {
	// Path of the workspace, as it was asked for.
	Path logicalcluster.Path
	// Commands writes down what to do.
	Commands diagnosis.Commands
	// Now is when that was.
	Now time.Time

	// Missing is the topmost workspace on the path that is not there, empty if all are.
	Missing logicalcluster.Path
	// Siblings are the names of what is there beside it.
	Siblings []string

	// Workspace is the object in the parent; nil if there is none, or if it could not be
	// read, which WorkspaceErr says.
	Workspace    *tenancyv1alpha1.Workspace
	WorkspaceErr error
	// Cluster is the object inside; nil if it could not be read, which ClusterErr says.
	Cluster    *corev1alpha1.LogicalCluster
	ClusterErr error
	// Inside says that the one who asks may enter all the same: he lacks a permission there.
	Inside bool
	// User is who is asking, as every workspace knows him; empty if that is not known.
	User string

	// Hooks are those that are waited for, or were, by identifier.
	Hooks map[string]hook.Described
	// Bindings are the APIBindings inside.
	Bindings    []client.Binding
	BindingsErr error

	// Left is what has finalizers in a workspace that is being deleted, and Unread the
	// resources of which that is not known.
	Left   []finalizer.Held
	Unread []string
	// Nested are the diagnoses of the workspaces in it that are still there.
	Nested []*diagnosis.Diagnosis
}

// Diagnose finds out why the workspace p is not ready, not gone or not to be reached. An
// error says that the server could not be asked at all.
func Diagnose(ctx context.Context, c *client.Client, p logicalcluster.Path) (*diagnosis.Diagnosis, error) {
	return DiagnoseFrom(ctx, c, p, logicalcluster.Path{})
}

// DiagnoseFrom is Diagnose for somebody whose commands go to the workspace here.
func DiagnoseFrom(ctx context.Context, c *client.Client, p, here logicalcluster.Path) (*diagnosis.Diagnosis, error) {
	g := gatherer{client: c, commands: diagnosis.Commands{Here: here, URL: c.URL}}
	return g.diagnose(ctx, p, 0)
}

// Watched is what tells that a diagnosis of the workspace p may come out otherwise.
func Watched(p logicalcluster.Path) []client.Collection {
	workspaces := tenancyv1alpha1.GroupVersion.WithResource("workspaces")
	all := []client.Collection{
		client.Objects(p, corev1alpha1.GroupVersion.WithResource("logicalclusters"), corev1alpha1.LogicalClusterName),
		client.Objects(p, apisv1alpha1.GroupVersion.WithResource("apibindings"), "").Optional(),
		client.Objects(p, workspaces, "").Optional(),
	}
	if parent, ok := p.Parent(); ok {
		all = append(all, client.Objects(parent, workspaces, p.Base()))
	}
	return all
}
