package deletion

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/forkless/kcp/internal/servertest"
	"github.com/forkless/kcp/pkg/apis/conditions"
	corev1alpha1 "github.com/forkless/kcp/pkg/apis/core/v1alpha1"
	tenancyv1alpha1 "github.com/forkless/kcp/pkg/apis/tenancy/v1alpha1"
)

// TestHooksAreTold: rows 31, 32 and 39. Who waits for a workspace reads whom it waits for.
func TestHooksAreTold(t *testing.T) {
	s := newSuite(t)
	s.newType("root", tenancyv1alpha1.WorkspaceType{
		ObjectMeta: metav1.ObjectMeta{Name: "base"}, Spec: tenancyv1alpha1.WorkspaceTypeSpec{Initializer: true, Extend: universal},
	})
	s.newType("root", tenancyv1alpha1.WorkspaceType{
		ObjectMeta: metav1.ObjectMeta{Name: "top"},
		Spec: tenancyv1alpha1.WorkspaceTypeSpec{
			Initializer: true, Extend: tenancyv1alpha1.WorkspaceTypeExtension{With: []tenancyv1alpha1.WorkspaceTypeReference{{Name: "base", Path: "root"}}},
		},
	})
	name := s.create("root", "told", "top")
	ws := s.until("root", name, "it says whom it waits for", func(ws *tenancyv1alpha1.Workspace) bool {
		c, _ := conditions.Get(ws, corev1alpha1.WorkspaceInitialized)
		return strings.Contains(c.Message, "root:base") && strings.Contains(c.Message, "root:top")
	})
	lc := s.cluster(ws)
	since := lc.CreationTimestamp.UTC().Format("2006-01-02T15:04:05Z")
	want := fmt.Sprintf("Initializers still exist: root:base (since %[1]s, never written), root:top (since %[1]s, never written)", since)
	for what, object := range map[string]conditions.Getter{"Workspace": ws, "LogicalCluster": lc} {
		c, _ := conditions.Get(object, corev1alpha1.WorkspaceInitialized)
		if c.Message != want || c.Status != corev1.ConditionFalse || c.Reason != "InitializerExists" || c.Severity != conditions.SeverityInfo {
			t.Errorf("%s: got %+v, want %s", what, c, want)
		}
	}
	for _, initializer := range []corev1alpha1.Initializer{"root:base", "root:top"} {
		key, value := corev1alpha1.InitializerLabel(initializer)
		if !slices.Contains(ws.Status.Initializers, initializer) || lc.Labels[key] != value {
			t.Errorf("%s: the Workspace has %v, the labels are %v", initializer, ws.Status.Initializers, lc.Labels)
		}
	}

	s.patchStatus(ws, `{"status":{"initializers":["root:top"]}}`)
	if err := s.tryPatchStatus(ws, `{"status":{"initializers":["root:top","root:other"]}}`); !apierrors.IsForbidden(err) {
		t.Errorf("an initializer was added: %v", err)
	}
	s.until("root", name, "it still waits for the other one", func(ws *tenancyv1alpha1.Workspace) bool {
		c, _ := conditions.Get(ws, corev1alpha1.WorkspaceInitialized)
		return ws.Status.Phase == corev1alpha1.PhaseInitializing && c.Message == fmt.Sprintf("Initializers still exist: root:top (since %s, never written)", since)
	})
	s.patchStatus(ws, `{"status":{"initializers":[]}}`)
	s.until("root", name, "it is ready, and so its label and lists say", func(ws *tenancyv1alpha1.Workspace) bool {
		return ws.Status.Phase == corev1alpha1.PhaseReady && ws.Labels[tenancyv1alpha1.PhaseLabelKey] == "Ready" &&
			len(ws.Status.Initializers) == 0 && conditions.IsTrue(ws, corev1alpha1.WorkspaceInitialized)
	})
	if lc := s.cluster(ws); slices.ContainsFunc(labelKeys(lc), func(key string) bool { return strings.HasPrefix(key, "initializer.") }) {
		t.Errorf("labels are %v", lc.Labels)
	}
}

// TestTerminators: rows 41 and 42, and who may end it by hand. What is not held goes at
// once; what a terminator needs to get in stays; the workspace says what it waits for.
func TestTerminators(t *testing.T) {
	s := newSuite(t)
	s.terminatorType("root", "careful")
	name := s.create("root", "careful", "careful")
	ws := s.ready("root", name)
	if !slices.Equal(ws.Status.Terminators, []corev1alpha1.Terminator{"root:careful"}) {
		t.Errorf("terminators of a ready workspace are %v", ws.Status.Terminators)
	}
	lc := s.cluster(ws)
	key, value := corev1alpha1.TerminatorLabel("root:careful")
	if !slices.Contains(lc.Finalizers, corev1alpha1.TerminatorsFinalizer) || lc.Labels[key] != value {
		t.Errorf("finalizers are %v, labels %v", lc.Finalizers, lc.Labels)
	}
	maps := s.kube(ws).CoreV1().ConfigMaps("default")
	for name, finalizers := range map[string][]string{"held": {"example.com/archive"}, "free": nil} {
		if _, err := maps.Create(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name, Finalizers: finalizers}}, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	watching, err := maps.Watch(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}

	s.delete("root", name)
	ws = s.until("root", name, "it tells of terminators and content", func(ws *tenancyv1alpha1.Workspace) bool {
		content, _ := conditions.Get(ws, corev1alpha1.WorkspaceContentDeleted)
		return ws.Status.Phase == corev1alpha1.PhaseTerminating && conditions.IsFalse(ws, corev1alpha1.WorkspaceTerminated) &&
			content.Reason == corev1alpha1.ReasonSomeResourcesRemain && strings.Contains(content.Message, "example.com/archive in 1 resource instances")
	})
	lc = s.cluster(ws)
	since := lc.DeletionTimestamp.UTC().Format("2006-01-02T15:04:05Z")
	terminated, _ := conditions.Get(ws, corev1alpha1.WorkspaceTerminated)
	if want := fmt.Sprintf("Terminators still exist: root:careful (since %s, never written)", since); terminated.Message != want {
		t.Errorf("got %q, want %q", terminated.Message, want)
	}
	servertest.Eventually(t, "what nothing holds goes, whether there are terminators or not", func() (bool, any) {
		_, err := maps.Get(t.Context(), "free", metav1.GetOptions{})
		return apierrors.IsNotFound(err), err
	})
	if _, err := maps.Get(t.Context(), "held", metav1.GetOptions{}); err != nil {
		t.Errorf("what a terminator has held is not to be had: %v", err)
	}
	if _, err := maps.Patch(t.Context(), "held", types.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`), metav1.PatchOptions{}); err != nil {
		t.Fatal(err)
	}
	ws = s.until("root", name, "the content is gone", func(ws *tenancyv1alpha1.Workspace) bool {
		return conditions.IsTrue(ws, corev1alpha1.WorkspaceContentDeleted)
	})
	// Events that wait for the terminator keep the watch of whoever looks on.
	if ws.Status.Phase != corev1alpha1.PhaseTerminating {
		t.Errorf("phase is %s", ws.Status.Phase)
	}
	if _, err := s.kube(ws).RbacV1().ClusterRoleBindings().Get(t.Context(), "workspace-admin", metav1.GetOptions{}); err != nil {
		t.Errorf("the owner of the workspace, for whom terminators may act, is not its admin any more: %v", err)
	}

	s.patchStatus(ws, `{"status":{"terminators":[]}}`)
	s.gone("root", name)
	for range watching.ResultChan() {
		// It is its end that is waited for.
	}
}

// TestConnectionsAreCut: a workspace that stays in Deleting cuts off whoever was connected
// when its last terminator was done.
func TestConnectionsAreCut(t *testing.T) {
	s := newSuite(t)
	s.terminatorType("root", "careful")
	name := s.create("root", "cut", "careful")
	ws := s.ready("root", name)
	maps := s.kube(ws).CoreV1().ConfigMaps("default")
	if _, err := maps.Create(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "held", Finalizers: []string{"example.com/x"}}}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	s.delete("root", name)
	s.until("root", name, "it is terminating", func(ws *tenancyv1alpha1.Workspace) bool {
		return conditions.IsFalse(ws, corev1alpha1.WorkspaceContentDeleted)
	})
	// Not one of the content, whose store may close: the terminator's removal ends it.
	ctx, cancel := context.WithTimeout(t.Context(), servertest.Patience)
	defer cancel()
	watching, err := s.kube(ws).RbacV1().ClusterRoles().Watch(ctx, metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	s.patchStatus(ws, `{"status":{"terminators":[]}}`)
	s.until("root", name, "it is deleting", func(ws *tenancyv1alpha1.Workspace) bool { return ws.Status.Phase == corev1alpha1.PhaseDeleting })
	for range watching.ResultChan() {
		// It is its end that is waited for.
	}
	if err := ctx.Err(); err != nil {
		t.Errorf("a watch outlived the terminators: %v", err)
	}
	s.until("root", name, "no terminator is waited for", func(ws *tenancyv1alpha1.Workspace) bool {
		return conditions.IsTrue(ws, corev1alpha1.WorkspaceTerminated)
	})
	if _, err := maps.Patch(t.Context(), "held", types.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`), metav1.PatchOptions{}); err != nil {
		t.Fatal(err)
	}
	s.gone("root", name)
}

// TestParentsWait: row 47. A parent waits for the terminators of what is in it, says for
// which workspaces, and keeps until then what their controllers may need: the type, and
// the service account that one of them may be.
func TestParentsWait(t *testing.T) {
	s := newSuite(t)
	parent := s.ready("root", s.create("root", "parent", "universal"))
	s.terminatorType("root:parent", "local")
	child := s.ready("root:parent", s.create("root:parent", "child", "local", "root:parent"))
	grandchild := s.ready("root:parent:child", s.create("root:parent:child", "grandchild", "local", "root:parent"))

	s.delete("root", "parent")
	for path, held := range map[string]string{"root": "parent", "root:parent": "child"} {
		s.until(path, held, "it names what is in it", func(ws *tenancyv1alpha1.Workspace) bool {
			c, _ := conditions.Get(ws, corev1alpha1.WorkspaceContentDeleted)
			below := map[string]string{"parent": "root:parent:child", "child": "root:parent:child:grandchild"}[held]
			return strings.Contains(c.Message, "Nested workspaces are remaining: "+below+" (Terminating)")
		})
	}
	if _, err := s.kube(parent).CoreV1().ServiceAccounts("default").Get(t.Context(), "default", metav1.GetOptions{}); err != nil {
		t.Errorf("a service account that may be who is waited for: %v", err)
	}
	if _, err := s.dynamic("root:parent").Resource(typesResource).Get(t.Context(), "local", metav1.GetOptions{}); err != nil {
		t.Errorf("the type whose terminator is waited for: %v", err)
	}
	if lc := s.cluster(child); lc.DeletionTimestamp == nil || lc.Status.Phase != corev1alpha1.PhaseTerminating {
		t.Errorf("the child is %+v", lc.Status)
	}

	// In any order; those above wait all the same.
	s.patchStatus(child, `{"status":{"terminators":[]}}`)
	s.until("root:parent", "child", "the child waits for what is in it", func(ws *tenancyv1alpha1.Workspace) bool {
		return ws.Status.Phase == corev1alpha1.PhaseDeleting
	})
	s.patchStatus(grandchild, `{"status":{"terminators":[]}}`)
	s.gone("root", "parent")
}

// TestOthersAreTold: rows 45 and 46. Finalizers of others are told where they are waited for.
func TestOthersAreTold(t *testing.T) {
	s := newSuite(t)
	ws := s.ready("root", s.create("root", "held", "universal"))
	s.patch(s.dynamic("root").Resource(workspaces), ws.Name, finalizers(append(slices.Clone(ws.Finalizers), "example.com/outer")...))
	clusters := s.dynamic(ws.Spec.Cluster).Resource(corev1alpha1.GroupVersion.WithResource("logicalclusters"))
	s.patch(clusters, "cluster", finalizers("example.com/inner"))

	s.delete("root", ws.Name)
	ws = s.until("root", ws.Name, "the workspace is held", func(ws *tenancyv1alpha1.Workspace) bool {
		return conditions.IsFalse(ws, corev1alpha1.WorkspaceReleased)
	})
	released, _ := conditions.Get(ws, corev1alpha1.WorkspaceReleased)
	want := fmt.Sprintf("The workspace is held by finalizers of others (since %s): example.com/outer; nothing in it is deleted before they are removed",
		ws.DeletionTimestamp.UTC().Format("2006-01-02T15:04:05Z"))
	if released.Message != want || released.Reason != corev1alpha1.ReasonFinalizersRemain || released.Severity != conditions.SeverityInfo {
		t.Errorf("got %+v, want %s", released, want)
	}
	if lc := s.cluster(ws); lc.DeletionTimestamp != nil {
		t.Errorf("the logical cluster is being deleted: %+v", lc.Status)
	}

	s.patch(s.dynamic("root").Resource(workspaces), ws.Name, finalizers("core.kcp.io/logicalcluster"))
	ws = s.until("root", ws.Name, "the logical cluster is held", func(ws *tenancyv1alpha1.Workspace) bool {
		c, _ := conditions.Get(ws, corev1alpha1.WorkspaceReleased)
		return strings.HasPrefix(c.Message, "The logical cluster is held by finalizers of others") && strings.HasSuffix(c.Message, "example.com/inner") &&
			conditions.IsTrue(ws, corev1alpha1.WorkspaceContentDeleted)
	})
	if lc := s.cluster(ws); !slices.Equal(lc.Finalizers, []string{"example.com/inner"}) {
		t.Errorf("row 45: finalizers are %v", lc.Finalizers)
	}
	s.patch(clusters, "cluster", finalizers())
	s.gone("root", ws.Name)
}

func finalizers(all ...string) string {
	if all == nil {
		all = []string{}
	}
	patch, err := json.Marshal(map[string]any{"metadata": map[string]any{"finalizers": all}})
	if err != nil {
		panic(err) // of strings
	}
	return string(patch)
}
