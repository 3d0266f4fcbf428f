package servertest

import (
	"context"
	"fmt"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"

	corev1alpha1 "github.com/forkless/kcp/pkg/apis/core/v1alpha1"
	tenancyv1alpha1 "github.com/forkless/kcp/pkg/apis/tenancy/v1alpha1"
)

const (
	// Poll is how often tests look whether what they wait for has come about.
	Poll = 10 * time.Millisecond
	// Patience is how long they wait for it.
	Patience = time.Minute

	// startTimeout is for how long a server may start.
	startTimeout = 2 * time.Minute
)

// Workspace makes a workspace below parent as the administrator and returns it when it is
// ready. Its name is the given one, or generated if that is empty; its type is the
// default of parent.
func (s *Server) Workspace(t testing.TB, parent, name string) *tenancyv1alpha1.Workspace {
	t.Helper()
	ws := &tenancyv1alpha1.Workspace{ObjectMeta: metav1.ObjectMeta{Name: name}}
	if name == "" {
		ws.GenerateName = "ws-"
	}
	ready, err := CreateWorkspace(t.Context(), s.In(t, "base", parent), ws)
	if err != nil {
		t.Fatal(err)
	}
	return ready
}

// CreateWorkspace makes a workspace in the workspace that config is directed at, and
// returns it when it is ready.
func CreateWorkspace(ctx context.Context, config *rest.Config, ws *tenancyv1alpha1.Workspace) (*tenancyv1alpha1.Workspace, error) {
	client, err := dynamic.NewForConfig(config)
	if err != nil {
		return nil, err
	}
	workspaces := client.Resource(tenancyv1alpha1.GroupVersion.WithResource("workspaces"))
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(ws)
	if err != nil {
		return nil, err
	}
	// What has no status yet must not say that it is scheduling.
	delete(content, "status")
	obj := &unstructured.Unstructured{Object: content}
	obj.SetGroupVersionKind(tenancyv1alpha1.GroupVersion.WithKind("Workspace"))
	obj, err = workspaces.Create(ctx, obj, metav1.CreateOptions{})
	if err != nil {
		return nil, fmt.Errorf("creating workspace %s%s: %w", ws.Name, ws.GenerateName, err)
	}
	created := &tenancyv1alpha1.Workspace{}
	err = wait.PollUntilContextTimeout(ctx, Poll, Patience, true, func(ctx context.Context) (bool, error) {
		latest, err := workspaces.Get(ctx, obj.GetName(), metav1.GetOptions{})
		if err != nil {
			return false, err
		}
		created = &tenancyv1alpha1.Workspace{}
		err = runtime.DefaultUnstructuredConverter.FromUnstructured(latest.Object, created)
		return created.Status.Phase == corev1alpha1.PhaseReady, err
	})
	if err != nil {
		return nil, fmt.Errorf("waiting until workspace %s is ready, which says %+v: %w", obj.GetName(), created.Status, err)
	}
	return created, nil
}

// Eventually waits until condition returns true. What it returns beside is said if that
// never happens.
func Eventually(t testing.TB, what string, condition func() (done bool, seen any)) {
	t.Helper()
	var seen any
	err := wait.PollUntilContextTimeout(t.Context(), Poll, Patience, true, func(context.Context) (done bool, err error) {
		done, seen = condition()
		return done, nil
	})
	if err != nil {
		t.Fatalf("%s: not within %s, last seen: %v", what, Patience, seen)
	}
}
