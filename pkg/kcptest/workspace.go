package kcptest

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"

	corev1alpha1 "github.com/forkless/kcp/pkg/apis/core/v1alpha1"
	tenancyv1alpha1 "github.com/forkless/kcp/pkg/apis/tenancy/v1alpha1"
)

// Workspace is a workspace of a control plane.
type Workspace struct {
	controlPlane  *ControlPlane
	path, cluster string
}

// Path is the path of the workspace, as "root:acme".
func (w *Workspace) Path() string { return w.path }

// Cluster is the name of the logical cluster that the workspace is; empty for those that
// were not made by Workspace.
func (w *Workspace) Cluster() string { return w.cluster }

// URL is the address of the workspace, which is that of a Kubernetes API server.
func (w *Workspace) URL() string { return w.controlPlane.URL() + "/clusters/" + w.path }

// Config returns the configuration of an administrator of the workspace.
func (w *Workspace) Config() *rest.Config {
	config := w.controlPlane.Config()
	config.Host = w.URL()
	return config
}

// Workspace makes a workspace and returns it when it is ready. On a control plane that
// outlives the test, the workspace is deleted when the test ends.
func (c *ControlPlane) Workspace(t testing.TB, opts ...WorkspaceOption) *Workspace {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	w, err := c.WorkspaceContext(ctx, opts...)
	if err != nil {
		t.Fatal(err)
	}
	if c.owner != t {
		c.tellIfFailed(t)
		t.Cleanup(func() { w.deleteAfter(t) })
	}
	return w
}

// WorkspaceContext is Workspace for those who are no test. Nobody deletes the workspace.
func (c *ControlPlane) WorkspaceContext(ctx context.Context, opts ...WorkspaceOption) (*Workspace, error) {
	wanted := workspaceSettingsOf(opts)
	workspaces, err := c.At(wanted.parent).workspaces()
	if err != nil {
		return nil, err
	}
	created, err := workspaces.Create(ctx, wanted.object(), metav1.CreateOptions{})
	if err != nil {
		return nil, fmt.Errorf("creating a workspace in %s: %w", wanted.parent, err)
	}
	path := wanted.parent + ":" + created.GetName()
	for !isReady(created) {
		if created, err = changed(ctx, workspaces, created); err != nil {
			return nil, fmt.Errorf("waiting for workspace %s, which says %v: %w", path, statusOf(created), err)
		}
	}
	cluster, _, _ := unstructured.NestedString(created.Object, "spec", "cluster")
	return &Workspace{controlPlane: c, path: path, cluster: cluster}, nil
}

// Workspace makes a workspace below this one; see ControlPlane.Workspace.
func (w *Workspace) Workspace(t testing.TB, opts ...WorkspaceOption) *Workspace {
	t.Helper()
	return w.controlPlane.Workspace(t, append([]WorkspaceOption{WithParent(w.path)}, opts...)...)
}

// workspaces are those in the workspace.
func (w *Workspace) workspaces() (dynamic.ResourceInterface, error) {
	client, err := dynamic.NewForConfig(w.Config())
	if err != nil {
		return nil, err
	}
	return client.Resource(tenancyv1alpha1.GroupVersion.WithResource("workspaces")), nil
}

// object is the workspace to create.
func (s workspaceSettings) object() *unstructured.Unstructured {
	object := &unstructured.Unstructured{Object: map[string]any{}}
	object.SetGroupVersionKind(tenancyv1alpha1.GroupVersion.WithKind("Workspace"))
	if s.name != "" {
		object.SetName(s.name)
	} else {
		object.SetGenerateName(s.prefix)
	}
	if s.typeName != "" {
		object.Object["spec"] = map[string]any{"type": map[string]any{"path": s.typePath, "name": s.typeName}}
	}
	return object
}

func isReady(workspace *unstructured.Unstructured) bool {
	phase, _, _ := unstructured.NestedString(workspace.Object, "status", "phase")
	return phase == string(corev1alpha1.PhaseReady)
}

func statusOf(workspace *unstructured.Unstructured) any {
	if workspace == nil {
		return nil
	}
	return workspace.Object["status"]
}

// changed returns the object when it is another one than before. A watch says so at once.
func changed(ctx context.Context, client dynamic.ResourceInterface, before *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	watch, err := client.Watch(ctx, metav1.SingleObject(metav1.ObjectMeta{Name: before.GetName(), ResourceVersion: before.GetResourceVersion()}))
	if err != nil {
		return before, err
	}
	defer watch.Stop()
	for event := range watch.ResultChan() {
		switch object := event.Object.(type) {
		case *unstructured.Unstructured:
			if object.GetName() == before.GetName() && object.GetResourceVersion() != before.GetResourceVersion() {
				return object, nil
			}
		case *metav1.Status:
			return before, errors.New(object.Message)
		}
	}
	if ctx.Err() != nil {
		return before, context.Cause(ctx)
	}
	// Watches end now and then.
	return client.Get(ctx, before.GetName(), metav1.GetOptions{})
}

// deleteAfter deletes the workspace after a test, without waiting until it is gone: nobody
// looks at it any more.
func (w *Workspace) deleteAfter(t testing.TB) {
	select {
	case <-w.controlPlane.Stopped():
		return
	default:
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	parent, name := cutLast(w.path)
	workspaces, err := w.controlPlane.At(parent).workspaces()
	if err == nil {
		err = workspaces.Delete(ctx, name, metav1.DeleteOptions{})
	}
	if err != nil && !apierrors.IsNotFound(err) {
		t.Logf("deleting workspace %s: %v", w.path, err)
	}
}

// cutLast splits a path before its last name.
func cutLast(path string) (parent, name string) {
	i := strings.LastIndexByte(path, ':')
	return path[:max(i, 0)], path[i+1:]
}
