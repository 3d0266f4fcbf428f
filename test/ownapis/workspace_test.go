package ownapis

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/forkless/kcp/internal/apihash"
	"github.com/forkless/kcp/internal/servertest"
	apisv1alpha1 "github.com/forkless/kcp/pkg/apis/apis/v1alpha1"
	apisv1alpha2 "github.com/forkless/kcp/pkg/apis/apis/v1alpha2"
	"github.com/forkless/kcp/pkg/apis/conditions"
	corev1alpha1 "github.com/forkless/kcp/pkg/apis/core/v1alpha1"
	tenancyv1alpha1 "github.com/forkless/kcp/pkg/apis/tenancy/v1alpha1"
	"github.com/forkless/kcp/pkg/logicalcluster"
)

func newWorkspace(name string) *tenancyv1alpha1.Workspace {
	return &tenancyv1alpha1.Workspace{ObjectMeta: metav1.ObjectMeta{Name: name}}
}

// TestNewWorkspace is row 13: what every ordinary workspace begins with.
func TestNewWorkspace(t *testing.T) {
	s := servertest.Start(t)
	ws := s.Workspace(t, "root", "new")
	w := in(t, s, ws.Spec.Cluster)
	root := in(t, s, "root")
	cluster := logicalcluster.MustParseName(ws.Spec.Cluster)

	all := w.bindings()
	if diff := cmp.Diff([]string{"tenancy.kcp.io", "topology.kcp.io"}, slices.Sorted(maps.Keys(all))); diff != "" {
		t.Fatalf("bindings (-want +got):\n%s", diff)
	}
	locks := map[string]map[string]string{}
	for name, b := range all {
		checkBound(t, b, get[apisv1alpha2.APIExport](root, exports, name).Status.IdentityHash)
		if want := apihash.BindingName(cluster, "root", name); b.Name != want {
			t.Errorf("the binding is called %s, want %s", b.Name, want)
		}
		hash := apihash.Export(logicalcluster.Root, name)
		if b.Labels["internal.apis.kcp.io/export"] != hash || b.Labels["claimed.internal.apis.kcp.io/"+hash] != apihash.Reflexive {
			t.Errorf("%s has labels %v", b.Name, b.Labels)
		}
		if b.Annotations["kcp.io/path"] != "root:new" || b.Annotations["kcp.io/cluster"] != ws.Spec.Cluster {
			t.Errorf("%s has annotations %v", b.Name, b.Annotations)
		}
		if diff := cmp.Diff([]string{"apis.kcp.io/apibinding-finalizer"}, b.Finalizers); diff != "" {
			t.Errorf("finalizers of %s (-want +got):\n%s", b.Name, diff)
		}
		for _, bound := range b.Status.BoundResources {
			locks[bound.Resource+"."+bound.Group] = map[string]string{"n": b.Name}
		}
	}
	lc := get[corev1alpha1.LogicalCluster](w, logicalClusters, "cluster")
	var locked map[string]map[string]string
	if err := json.Unmarshal([]byte(lc.Annotations[apisv1alpha1.ResourceBindingsAnnotationKey]), &locked); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(locks, locked); diff != "" {
		t.Errorf("who has which resource (-want +got):\n%s", diff)
	}
	if w.serves(corev1alpha1.GroupVersion.WithResource("shards")) {
		t.Error("shards are root's business")
	}
	if crds := w.names(apiextensions); len(crds) != 0 {
		t.Errorf("what is bound is no definition of the workspace: %v", crds)
	}

	// What the controller of bindings makes of them is what they were born as.
	b := all["tenancy.kcp.io"]
	w.patch(bindings, b.Name, `{"metadata":{"labels":{"touched":"yes"}}}`)
	after := get[apisv1alpha2.APIBinding](w, bindings, b.Name)
	if diff := cmp.Diff(b.Status, after.Status); diff != "" {
		t.Errorf("status (-born +later):\n%s", diff)
	}
}

// TestDeletedBinding: the binding of our own APIs is one like others. With it go the
// workspaces, and who wants to have some again binds again.
func TestDeletedBinding(t *testing.T) {
	s := servertest.Start(t)
	ws := s.Workspace(t, "root", "parent")
	w := in(t, s, ws.Spec.Cluster)
	w.mustCreate(workspaces, child("child", "root", "universal"))
	w.ready("child")

	w.delete(bindings, w.bindings()["tenancy.kcp.io"].Name)
	servertest.Eventually(t, "the binding is gone, and the API with it", func() (bool, any) {
		_, bound := w.bindings()["tenancy.kcp.io"]
		return !bound && !w.serves(workspaces), bound
	})
	if err := w.create(workspaces, child("other", "root", "universal")); !apierrors.IsNotFound(err) {
		t.Errorf("a workspace without the API has no workspaces, got %v", err)
	}
	if !w.serves(logicalClusters) || !w.serves(bindings) {
		t.Error("what every workspace has went along")
	}
	if names := in(t, s, "root").names(workspaces); !slices.Contains(names, "parent") {
		t.Errorf("other workspaces are not concerned: %v", names)
	}

	w.mustCreate(bindings, `{"apiVersion":"apis.kcp.io/v1alpha2","kind":"APIBinding","metadata":{"name":"again"},
		"spec":{"reference":{"export":{"path":"root","name":"tenancy.kcp.io"}}}}`)
	servertest.Eventually(t, "it is bound again", func() (bool, any) {
		b := get[apisv1alpha2.APIBinding](w, bindings, "again")
		return b.Status.Phase == apisv1alpha2.APIBindingPhaseBound, b.Status
	})
	if names := w.names(workspaces); len(names) != 0 {
		t.Errorf("what went is there again: %v", names)
	}
	w.mustCreate(workspaces, child("child", "root", "universal"))
	w.ready("child")
	in(t, s, "root").delete(workspaces, "parent")
	servertest.Eventually(t, "the workspace goes with all that is in it", func() (bool, any) {
		names := in(t, s, "root").names(workspaces)
		return len(names) == 0, names
	})
}

// TestAdoption: workspaces of servers that had our own APIs without binding them get the
// bindings. Such a workspace does not say what has bound its resources.
func TestAdoption(t *testing.T) {
	s := servertest.Start(t)
	w := privileged(t, s, s.Workspace(t, "root", "old").Spec.Cluster)
	before := w.bindings()
	for _, b := range before {
		w.delete(bindings, b.Name)
	}
	servertest.Eventually(t, "nothing is bound", func() (bool, any) { return len(w.bindings()) == 0, w.bindings() })
	w.patch(logicalClusters, "cluster", `{"metadata":{"annotations":{"`+apisv1alpha1.ResourceBindingsAnnotationKey+`":null}}}`)
	servertest.Eventually(t, "it has what it had", func() (bool, any) {
		after := w.bindings()
		for name, b := range before {
			if after[name].Name != b.Name || after[name].Status.Phase != apisv1alpha2.APIBindingPhaseBound {
				return false, after
			}
		}
		return w.serves(workspaces), after
	})
	if phase := get[corev1alpha1.LogicalCluster](w, logicalClusters, "cluster").Status.Phase; phase != corev1alpha1.PhaseReady {
		t.Errorf("it was ready, and is %s", phase)
	}
}

// TestTypeWithDefaults, with row 29: a type that binds somebody's export by default.
func TestTypeWithDefaults(t *testing.T) {
	s := servertest.Start(t, servertest.WithUsers(t))
	provider := in(t, s, s.Workspace(t, "root", "provider").Spec.Cluster)
	provider.exportCowboys()
	provider.mustCreate(workspaceTypes, extending("ranch", `{"export":"cowboys"}`))
	home := in(t, s, s.Workspace(t, "root", "home").Spec.Cluster)

	// The first finds that nobody has bound the export before, the others are born with it.
	for _, name := range []string{"first", "second"} {
		home.mustCreate(workspaces, child(name, "root:provider", "ranch"))
		ws := home.ready(name)
		w := in(t, s, ws.Spec.Cluster)
		b := w.bindings()["cowboys"]
		if b.Status.Phase != apisv1alpha2.APIBindingPhaseBound || !strings.HasPrefix(b.Name, "cowboys-") || len(b.Name) != len("cowboys-")+5 {
			t.Errorf("%s: %s is %+v", name, b.Name, b.Status)
		}
		if path := b.Spec.Reference.Export.Path; path != provider.cluster {
			t.Errorf("%s: without a path an export is in the cluster of the type, %s, got %q", name, provider.cluster, path)
		}
		if !w.serves(cowboys) || !w.serves(workspaces) {
			t.Errorf("%s does not serve what its type binds", name)
		}
		if lc := get[corev1alpha1.LogicalCluster](w, logicalClusters, "cluster"); conditions.Has(&lc, corev1alpha1.APIBindingsInitialized) {
			t.Errorf("%s: nothing is waited for any more, but %v", name, lc.Status.Conditions)
		}
	}

	// Who makes a type must be allowed to bind what it binds.
	provider.allow("types", "user-1", "tenancy.kcp.io", "workspacetypes", "create")
	user := as(t, s.As(t, "user-1-token", provider.cluster), provider.cluster)
	err := user.create(workspaceTypes, extending("mine", `{"path":"root:provider","export":"cowboys"}`))
	if !apierrors.IsForbidden(err) || !strings.Contains(err.Error(), "no permission to bind to export root:provider:cowboys") {
		t.Errorf("got %v", err)
	}
	provider.allow("binds", "user-1", "apis.kcp.io", "apiexports", "bind")
	servertest.Eventually(t, "with the permission it is let in", func() (bool, any) {
		err := user.create(workspaceTypes, extending("mine", `{"path":"root:provider","export":"cowboys"}`))
		return err == nil, err
	})
}

// TestMissingExport: a workspace whose type binds what is not there waits, says for what,
// and is ready when it comes.
func TestMissingExport(t *testing.T) {
	s := servertest.Start(t)
	provider := in(t, s, s.Workspace(t, "root", "provider").Spec.Cluster)
	provider.mustCreate(workspaceTypes, extending("ranch", `{"path":"root:provider","export":"cowboys"}`))
	home := in(t, s, s.Workspace(t, "root", "home").Spec.Cluster)
	home.mustCreate(workspaces, child("waiting", "root:provider", "ranch"))
	var ws tenancyv1alpha1.Workspace
	servertest.Eventually(t, "the workspace has a place", func() (bool, any) {
		ws = get[tenancyv1alpha1.Workspace](home, workspaces, "waiting")
		return ws.Spec.Cluster != "", ws.Status
	})
	if ws.Status.Phase != corev1alpha1.PhaseInitializing || !slices.Contains(ws.Status.Initializers, corev1alpha1.InitializerAPIBindings) {
		t.Errorf("it has not all that it is to begin with, and is %+v", ws.Status)
	}
	w := in(t, s, ws.Spec.Cluster)
	lc := get[corev1alpha1.LogicalCluster](w, logicalClusters, "cluster")
	condition, _ := conditions.Get(&lc, corev1alpha1.APIBindingsInitialized)
	if condition.Reason != corev1alpha1.ReasonAPIBindingErrors || condition.Severity != conditions.SeverityError ||
		!strings.Contains(condition.Message, "root:provider|cowboys not found") {
		t.Errorf("it does not say what is missing: %+v", condition)
	}
	if _, ok := w.bindings()["tenancy.kcp.io"]; !ok {
		t.Error("what can be bound is not")
	}
	provider.exportCowboys()
	home.ready("waiting")
	if b := w.bindings()["cowboys"]; b.Status.Phase != apisv1alpha2.APIBindingPhaseBound {
		t.Errorf("it is ready without being bound: %+v", b.Status)
	}
}

// TestCreatorMayNotBind is row 66: default bindings are made as the creator, who gets nothing by
// them that he may not have.
func TestCreatorMayNotBind(t *testing.T) {
	s := servertest.Start(t, servertest.WithUsers(t))
	provider := in(t, s, s.Workspace(t, "root", "provider").Spec.Cluster)
	provider.exportCowboys()
	provider.mustCreate(workspaceTypes, extending("ranch", `{"export":"cowboys"}`))
	provider.allow("use", "user-1", "tenancy.kcp.io", "workspacetypes", "use")
	home := in(t, s, s.Workspace(t, "root", "home").Spec.Cluster)
	home.allow("workspaces", "user-1", "tenancy.kcp.io", "workspaces", "create", "get")
	user := as(t, s.As(t, "user-1-token", home.cluster), home.cluster)
	servertest.Eventually(t, "the user may create workspaces", func() (bool, any) {
		err := user.create(workspaces, child("refused", "root:provider", "ranch"))
		return err == nil || apierrors.IsAlreadyExists(err), err
	})
	var ws tenancyv1alpha1.Workspace
	servertest.Eventually(t, "the workspace has a place", func() (bool, any) {
		ws = get[tenancyv1alpha1.Workspace](home, workspaces, "refused")
		return ws.Spec.Cluster != "", ws.Status
	})
	w := privileged(t, s, ws.Spec.Cluster)
	lc := get[corev1alpha1.LogicalCluster](w, logicalClusters, "cluster")
	condition, _ := conditions.Get(&lc, corev1alpha1.APIBindingsInitialized)
	if condition.Reason != corev1alpha1.ReasonAPIBindingErrors || !strings.Contains(condition.Message, "no permission to bind to export") {
		t.Errorf("it does not say what is missing: %+v", condition)
	}
	if _, bound := w.bindings()["cowboys"]; bound {
		t.Error("the export is bound for somebody who may not")
	}
	provider.allow("binds", "user-1", "apis.kcp.io", "apiexports", "bind")
	home.ready("refused")
}

// TestDefaultSelector: default bindings accept all claims, each with the selector that the
// export proposes.
func TestDefaultSelector(t *testing.T) {
	s := servertest.Start(t)
	provider := in(t, s, s.Workspace(t, "root", "provider").Spec.Cluster)
	provider.exportCowboys()
	provider.patch(exports, "cowboys", `{"spec":{"permissionClaims":[
		{"resource":"configmaps","verbs":["get"],"defaultSelector":{"matchLabels":{"ours":"yes"}}},{"resource":"secrets","verbs":["*"]}]}}`)
	provider.mustCreate(workspaceTypes, extending("ranch", `{"export":"cowboys"}`))
	home := in(t, s, s.Workspace(t, "root", "home").Spec.Cluster)
	home.mustCreate(workspaces, child("claimed", "root:provider", "ranch"))
	var ws tenancyv1alpha1.Workspace
	servertest.Eventually(t, "the workspace has a place", func() (bool, any) {
		ws = get[tenancyv1alpha1.Workspace](home, workspaces, "claimed")
		return ws.Spec.Cluster != "", ws.Status
	})
	got := map[string]apisv1alpha2.PermissionClaimSelector{}
	for _, claim := range in(t, s, ws.Spec.Cluster).bindings()["cowboys"].Spec.PermissionClaims {
		if claim.State != apisv1alpha2.ClaimAccepted {
			t.Errorf("the claim to %s is %s", claim.Resource, claim.State)
		}
		got[claim.Resource] = claim.Selector
	}
	want := map[string]apisv1alpha2.PermissionClaimSelector{
		"configmaps": {LabelSelector: metav1.LabelSelector{MatchLabels: map[string]string{"ours": "yes"}}},
		"secrets":    {MatchAll: true},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("selectors (-want +got):\n%s", diff)
	}
}
