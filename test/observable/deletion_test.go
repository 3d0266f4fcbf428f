package observable

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/forkless/kcp/internal/servertest"
)

func containsAll(s string, parts ...string) bool {
	for _, part := range parts {
		if !strings.Contains(s, part) {
			return false
		}
	}
	return true
}

// emptyingWaits: a finalizer holds a workspace, which says so.
func (s *suite) emptyingWaits(t *testing.T) {
	org := s.organization(t)
	parent := s.in(t, admin, org)
	ws := s.Workspace(t, org, "ws")
	inside := s.in(t, admin, ws.Spec.Cluster)
	inside.must(t, inside.create(t, "{kind: Namespace, metadata: {name: more}}"))
	inside.must(t, inside.create(t, "{kind: ConfigMap, metadata: {name: held, finalizers: [example.dev/hold]}}"))
	inside.must(t, inside.create(t, "{kind: ConfigMap, metadata: {name: free}}"))
	parent.must(t, parent.delete(t, "Workspace", "ws"))
	servertest.Eventually(t, "the workspace says what it waits for", func() (bool, any) {
		status, reason, message := condition(parent.get(t, "Workspace", "ws").Unstructured, "WorkspaceContentDeleted")
		return status == "False" && reason == "SomeResourcesRemain" && strings.Contains(message, "example.dev/hold in 1 resource instances"), message
	})
	equal(t, "phase", "Deleting", text(parent.must(t, parent.get(t, "Workspace", "ws")), "status", "phase"))
	inside.gone(t, "ConfigMap", "free")
	inside.must(t, inside.patch(t, "ConfigMap", "held", "{metadata: {finalizers: null}}"))
	parent.gone(t, "Workspace", "ws")
}

// foreignFinalizers: those of others on the workspace, or on its logical cluster.
func (s *suite) foreignFinalizers(t *testing.T) {
	org := s.organization(t)
	parent := s.in(t, admin, org)
	const hold, free = "{metadata: {finalizers: [%s example.dev/hold]}}", "{metadata: {finalizers: %s}}"

	ws := s.Workspace(t, org, "on-workspace")
	inside := s.in(t, admin, ws.Spec.Cluster)
	parent.must(t, parent.patch(t, "Workspace", ws.Name, fmt.Sprintf(hold, "core.kcp.io/logicalcluster,")))
	parent.must(t, parent.delete(t, "Workspace", ws.Name))
	// What must not happen cannot be waited for; another deletion that comes later is
	// through by then.
	later := s.Workspace(t, org, "later")
	parent.must(t, parent.delete(t, "Workspace", later.Name))
	parent.gone(t, "Workspace", later.Name)
	lc := inside.must(t, inside.get(t, "LogicalCluster", "cluster"))
	if lc.GetDeletionTimestamp() != nil {
		t.Error("a foreign finalizer on the workspace comes before the logical cluster is touched")
	}
	parent.must(t, parent.patch(t, "Workspace", ws.Name, fmt.Sprintf(free, "[core.kcp.io/logicalcluster]")))
	parent.gone(t, "Workspace", ws.Name)

	ws = s.Workspace(t, org, "on-cluster")
	inside = s.in(t, admin, ws.Spec.Cluster)
	inside.must(t, inside.patch(t, "LogicalCluster", "cluster", fmt.Sprintf(hold, "")))
	lc = inside.must(t, inside.get(t, "LogicalCluster", "cluster"))
	if !containsAll(fmt.Sprint(lc.GetFinalizers()), "core.kcp.io/logicalcluster-deletion", "example.dev/hold") {
		t.Errorf("the finalizer of a live cluster cannot be dropped; there are %v", lc.GetFinalizers())
	}
	parent.must(t, parent.delete(t, "Workspace", ws.Name))
	servertest.Eventually(t, "the cluster loses its own finalizer and waits for the other", func() (bool, any) {
		r := inside.get(t, "LogicalCluster", "cluster")
		if r.err != nil {
			return false, r.err
		}
		return fmt.Sprint(r.GetFinalizers()) == "[example.dev/hold]", r.GetFinalizers()
	})
	parent.must(t, parent.get(t, "Workspace", ws.Name))
	inside.must(t, inside.patch(t, "LogicalCluster", "cluster", fmt.Sprintf(free, "null")))
	parent.gone(t, "Workspace", ws.Name)
}

// nestedDeletion: what is nested goes first, and nothing remains.
func (s *suite) nestedDeletion(t *testing.T) {
	org := s.organization(t)
	child := s.Workspace(t, org, "child")
	grandchild := s.Workspace(t, org+":child", "grandchild")
	root := s.in(t, admin, "root")
	root.must(t, root.delete(t, "Workspace", lastOf(org)))
	root.gone(t, "Workspace", lastOf(org))
	for _, cluster := range []string{child.Spec.Cluster, grandchild.Spec.Cluster} {
		in := s.in(t, privileged, cluster)
		in.refused(t, "there is no logical cluster left", in.get(t, "LogicalCluster", "cluster"), metav1.StatusReasonNotFound, "")
	}
	for _, path := range []string{org, org + ":child", org + ":child:grandchild"} {
		in := s.in(t, admin, path)
		in.refused(t, "no path leads there", in.list(t, "Namespace"), metav1.StatusReasonNotFound, path)
	}
}

// ownDeletion: a cluster is deleted from inside only where it says that it may be.
func (s *suite) ownDeletion(t *testing.T) {
	org := s.organization(t)
	ws := s.child(t, org, "ws")
	s.grant(t, ws, "user-1", "cluster-admin")
	user, system := s.in(t, "user-1", ws), s.in(t, privileged, ws)
	user.refused(t, "nobody creates logical clusters", user.create(t, "{kind: LogicalCluster, metadata: {name: cluster}}"), metav1.StatusReasonForbidden, "LogicalCluster cannot be created")
	user.refused(t, "with another name they are no clusters at all", user.create(t, "{kind: LogicalCluster, metadata: {name: other}}"), metav1.StatusReasonInvalid, "")
	user.refused(t, "or deletes them", user.delete(t, "LogicalCluster", "cluster"), metav1.StatusReasonForbidden, "")
	system.must(t, system.patch(t, "LogicalCluster", "cluster", "{spec: {directlyDeletable: true}}"))
	if r := user.delete(t, "LogicalCluster", "cluster"); r.err != nil {
		t.Errorf("with directlyDeletable it is accepted: %v", r.err)
	}
}

// deletionUnderLoad: whoever writes while a workspace goes cannot leave anything behind.
func (s *suite) deletionUnderLoad(t *testing.T) {
	org := s.organization(t)
	ws := s.Workspace(t, org, "ws")
	parent, inside := s.in(t, admin, org), s.in(t, admin, ws.Spec.Cluster)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	configMaps := inside.of(t, "ConfigMap")
	var writers sync.WaitGroup
	for range 8 {
		writers.Go(func() {
			for ctx.Err() == nil {
				// Refusals are as good as successes here: the race is what counts.
				_, _ = configMaps.Create(ctx, &unstructured.Unstructured{Object: map[string]any{
					"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"generateName": "late-"},
				}}, metav1.CreateOptions{})
			}
		})
	}
	servertest.Eventually(t, "the writers write", func() (bool, any) {
		list := inside.list(t, "ConfigMap")
		return list.err == nil && text(list.Unstructured, "names") != "", list.err
	})
	parent.must(t, parent.delete(t, "Workspace", "ws"))
	parent.gone(t, "Workspace", "ws")
	cancel()
	writers.Wait()

	system := s.in(t, privileged, ws.Spec.Cluster)
	for _, kind := range []string{"ConfigMap", "Namespace", "ClusterRoleBinding", "LogicalCluster"} {
		equal(t, kind+"s that are left in the cluster", "", text(system.must(t, system.list(t, kind)), "names"))
	}
}
