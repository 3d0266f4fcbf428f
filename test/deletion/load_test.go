package deletion

import (
	"context"
	"fmt"
	"sync"
	"testing"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/kubernetes"

	"github.com/forkless/kcp/internal/servertest"
)

const (
	writers = 8
	// rounds is how often a race is run.
	rounds = 3
)

// underLoad: many write to a workspace until it is gone.
func underLoad(t *testing.T, server *servertest.Server) (gone []string) {
	for round := range rounds {
		ws := server.Workspace(t, "root", fmt.Sprintf("under-load-%d", round))
		client := clientOf(t, server, ws.Spec.Cluster)
		stop := during(t, func(ctx context.Context) { writeOnce(ctx, client) })
		servertest.Eventually(t, "the writers write", func() (bool, any) {
			list, err := client.CoreV1().ConfigMaps("default").List(t.Context(), metav1.ListOptions{})
			return err == nil && len(list.Items) > writers, err
		})
		remove(t, server, "root", ws.Name)
		stop()
		gone = append(gone, ws.Spec.Cluster)
	}
	return gone
}

// writeOnce creates objects of both scopes. Refusals are as good as successes: the race
// is what counts.
func writeOnce(ctx context.Context, client kubernetes.Interface) {
	meta := metav1.ObjectMeta{GenerateName: "late-"}
	_, _ = client.CoreV1().ConfigMaps("default").Create(ctx, &corev1.ConfigMap{ObjectMeta: meta}, metav1.CreateOptions{})
	_, _ = client.RbacV1().ClusterRoles().Create(ctx, &rbacv1.ClusterRole{ObjectMeta: meta}, metav1.CreateOptions{})
	_, _ = client.CoreV1().Namespaces().Create(ctx, &corev1.Namespace{ObjectMeta: meta}, metav1.CreateOptions{})
}

// creatingNested: workspaces are made in a workspace until it is gone.
func creatingNested(t *testing.T, server *servertest.Server) (gone []string) {
	for round := range rounds {
		ws := server.Workspace(t, "root", fmt.Sprintf("creating-nested-%d", round))
		gone = append(gone, ws.Spec.Cluster)
		inside := workspacesIn(t, server, ws.Spec.Cluster)
		var mu sync.Mutex
		stop := during(t, func(ctx context.Context) {
			made, err := inside.Create(ctx, newWorkspace(), metav1.CreateOptions{})
			if err != nil {
				return
			}
			// The cluster is known once it has been placed.
			if made, err = inside.Get(ctx, made.GetName(), metav1.GetOptions{}); err != nil {
				return
			}
			if cluster, _, _ := unstructured.NestedString(made.Object, "spec", "cluster"); cluster != "" {
				mu.Lock()
				defer mu.Unlock()
				gone = append(gone, cluster)
			}
		})
		servertest.Eventually(t, "there are nested workspaces", func() (bool, any) {
			list, err := inside.List(t.Context(), metav1.ListOptions{})
			return err == nil && len(list.Items) > writers, err
		})
		remove(t, server, "root", ws.Name)
		stop()
	}
	return gone
}

// deletingAtBirth: workspaces are deleted before they are ready.
func deletingAtBirth(t *testing.T, server *servertest.Server) (gone []string) {
	root := workspacesIn(t, server, "root")
	for range 4 * writers {
		made, err := root.Create(t.Context(), newWorkspace(), metav1.CreateOptions{})
		if err != nil {
			t.Fatal(err)
		}
		var wait sync.WaitGroup
		wait.Go(func() { remove(t, server, "root", made.GetName()) })
		for {
			ws, err := root.Get(t.Context(), made.GetName(), metav1.GetOptions{})
			if err != nil {
				break
			}
			if cluster, _, _ := unstructured.NestedString(ws.Object, "spec", "cluster"); cluster != "" {
				gone = append(gone, cluster)
				break
			}
		}
		wait.Wait()
	}
	return gone
}

func newWorkspace() *unstructured.Unstructured {
	ws := &unstructured.Unstructured{}
	ws.SetGroupVersionKind(workspaces.GroupVersion().WithKind("Workspace"))
	ws.SetGenerateName("late-")
	return ws
}

// during does something over and over, by several at a time, until stop is called.
func during(t *testing.T, something func(context.Context)) (stop func()) {
	ctx, cancel := context.WithCancel(t.Context())
	var wait sync.WaitGroup
	for range writers {
		wait.Go(func() {
			for ctx.Err() == nil {
				something(ctx)
			}
		})
	}
	return func() {
		cancel()
		wait.Wait()
	}
}
