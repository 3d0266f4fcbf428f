package birth_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/forkless/kcp/internal/binding"
	"github.com/forkless/kcp/internal/tenancy/birth"
	"github.com/forkless/kcp/internal/tenancy/tenancytest"
	"github.com/forkless/kcp/pkg/apis/conditions"
	corev1alpha1 "github.com/forkless/kcp/pkg/apis/core/v1alpha1"
	tenancyv1alpha1 "github.com/forkless/kcp/pkg/apis/tenancy/v1alpha1"
	"github.com/forkless/kcp/pkg/logicalcluster"
	"github.com/forkless/kcp/pkg/tenancy"
)

const cluster = "0123456789abcdef"

var now = metav1.NewTime(time.Date(2026, 1, 2, 3, 4, 5, 6, time.UTC))

// input is the birth of root:org:app, of a type in root.
func input(t *testing.T, typeName string, owner string) birth.Input {
	t.Helper()
	tree := tenancytest.New(t)
	tree.AddCluster("root:org", "root:organization")
	tree.AddTypeSpec("root", "waiting", tenancyv1alpha1.WorkspaceTypeSpec{
		Initializer: true,
		Terminator:  true,
		Extend: tenancyv1alpha1.WorkspaceTypeExtension{
			With: []tenancyv1alpha1.WorkspaceTypeReference{{Name: "universal"}},
		},
	})
	tree.AddTypeSpec("root", "bare", tenancyv1alpha1.WorkspaceTypeSpec{})
	reference := tenancyv1alpha1.WorkspaceTypeReference{Name: typeName, Path: "root"}
	set, err := tree.Resolver().Resolve(t.Context(), tenancytest.PlaceAt("root:org"), reference)
	if err != nil {
		t.Fatal(err)
	}
	uids := 0
	return birth.Input{
		Workspace: &tenancyv1alpha1.Workspace{
			ObjectMeta: metav1.ObjectMeta{
				Name: "app", UID: "workspace", ResourceVersion: "7", Generation: 1,
				Labels:      map[string]string{"region": "stale", "mine": "kept"},
				Annotations: map[string]string{tenancyv1alpha1.OwnerAnnotationKey: owner},
			},
			Spec: tenancyv1alpha1.WorkspaceSpec{Type: &reference},
		},
		Parent:  tenancytest.PlaceAt("root:org"),
		Type:    set,
		Cluster: logicalcluster.MustParseName(cluster),
		Shard:   birth.Shard{Name: "root", ExternalURL: "https://host:6443/", Region: "north"},
		Locks:   binding.Locks{"workspaces.tenancy.kcp.io": {Binding: "tenancy"}},
		RootCA:  "certificates",
		Now:     now,
		NewUID: func() types.UID {
			uids++
			return types.UID(fmt.Sprintf("uid-%d", uids))
		},
	}
}

const alice = `{"username":"alice","groups":["team"]}`

func TestBornReady(t *testing.T) {
	in := input(t, "team", alice)
	before := in.Workspace.DeepCopy()
	born, err := birth.Of(in)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(before, in.Workspace); diff != "" {
		t.Errorf("the input was changed (-before +after):\n%s", diff)
	}

	seconds := now.Rfc3339Copy()
	isTrue := func(t conditions.Type) conditions.Condition {
		return conditions.Condition{Type: t, Status: corev1.ConditionTrue, LastTransitionTime: seconds}
	}
	wantWorkspace := before.DeepCopy()
	wantWorkspace.TypeMeta = metav1.TypeMeta{APIVersion: "tenancy.kcp.io/v1alpha1", Kind: "Workspace"}
	wantWorkspace.Generation = 2
	wantWorkspace.Finalizers = []string{"core.kcp.io/logicalcluster"}
	wantWorkspace.Labels = map[string]string{"region": "north", "mine": "kept", "tenancy.kcp.io/phase": "Ready"}
	wantWorkspace.Annotations = map[string]string{
		"core.kcp.io/shard":                 "root",
		"internal.tenancy.kcp.io/shard":     "1pfxsevk",
		"internal.tenancy.kcp.io/cluster":   cluster,
		"experimental.tenancy.kcp.io/owner": `{"username":"alice"}`,
	}
	wantWorkspace.Spec.Cluster = cluster
	wantWorkspace.Spec.URL = "https://host:6443/clusters/root:org:app"
	wantWorkspace.Status = tenancyv1alpha1.WorkspaceStatus{
		Phase:      "Ready",
		Conditions: conditions.Conditions{isTrue("WorkspaceInitialized"), isTrue("WorkspaceScheduled")},
	}
	if diff := cmp.Diff(wantWorkspace, born.Workspace); diff != "" {
		t.Errorf("workspace (-want +got):\n%s", diff)
	}

	wantCluster := &corev1alpha1.LogicalCluster{
		TypeMeta: metav1.TypeMeta{APIVersion: "core.kcp.io/v1alpha1", Kind: "LogicalCluster"},
		ObjectMeta: metav1.ObjectMeta{
			Name: "cluster", UID: "uid-1", CreationTimestamp: seconds, Generation: 1,
			Labels:     map[string]string{"tenancy.kcp.io/phase": "Ready"},
			Finalizers: []string{"core.kcp.io/logicalcluster-deletion"},
			Annotations: map[string]string{
				"internal.tenancy.kcp.io/type":           "root:team",
				"internal.apis.kcp.io/resource-bindings": `{"workspaces.tenancy.kcp.io":{"n":"tenancy"}}`,
				"core.kcp.io/shard":                      "root",
				"kcp.io/path":                            "root:org:app",
				"experimental.tenancy.kcp.io/owner":      `{"username":"alice"}`,
			},
		},
		Spec: corev1alpha1.LogicalClusterSpec{
			Owner: &corev1alpha1.LogicalClusterOwner{
				APIVersion: "tenancy.kcp.io/v1alpha1", Resource: "workspaces", Name: "app",
				Cluster: tenancytest.ClusterAt("root:org").String(), UID: "workspace",
			},
			CreatedBy:    &authenticationv1.UserInfo{Username: "alice", Groups: []string{"team"}},
			Initializers: []corev1alpha1.Initializer{"root:universal", "system:apibindings"},
		},
		Status: corev1alpha1.LogicalClusterStatus{
			URL:        "https://host:6443/clusters/" + cluster,
			Phase:      "Ready",
			Conditions: conditions.Conditions{isTrue("WorkspaceInitialized")},
		},
	}
	if diff := cmp.Diff(wantCluster, born.LogicalCluster); diff != "" {
		t.Errorf("logical cluster (-want +got):\n%s", diff)
	}

	wantBinding := &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: "workspace-admin", UID: "uid-2", CreationTimestamp: seconds},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "cluster-admin"},
		Subjects:   []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: "User", Name: "alice"}},
	}
	if diff := cmp.Diff(wantBinding, born.AdminBinding); diff != "" {
		t.Errorf("admin binding (-want +got):\n%s", diff)
	}

	var names []string
	for _, namespace := range born.Namespaces {
		names = append(names, namespace.Name)
		if namespace.UID == "" || !namespace.CreationTimestamp.Equal(&seconds) ||
			namespace.Labels["kubernetes.io/metadata.name"] != namespace.Name ||
			namespace.Annotations["bootstrap.kcp.io/create-only"] != "true" ||
			namespace.Spec.Finalizers[0] != "kubernetes" || namespace.Status.Phase != "Active" {
			t.Errorf("namespace is not complete: %v", namespace)
		}
	}
	if diff := cmp.Diff([]string{"default", "kube-system"}, names); diff != "" {
		t.Errorf("namespaces (-want +got):\n%s", diff)
	}
	var accounts []string
	for _, account := range born.ServiceAccounts {
		accounts = append(accounts, account.Namespace+"/"+account.Name)
		if account.UID == "" || !account.CreationTimestamp.Equal(&seconds) {
			t.Errorf("service account is not complete: %v", account)
		}
	}
	if diff := cmp.Diff([]string{"default/default", "kube-system/default"}, accounts); diff != "" {
		t.Errorf("service accounts (-want +got):\n%s", diff)
	}
	var maps []string
	for _, configMap := range born.ConfigMaps {
		maps = append(maps, configMap.Namespace+"/"+configMap.Name)
		if configMap.UID == "" || configMap.Data["ca.crt"] != "certificates" || configMap.Annotations["kubernetes.io/description"] == "" {
			t.Errorf("config map is not complete: %v", configMap)
		}
	}
	if diff := cmp.Diff([]string{"default/kube-root-ca.crt", "kube-system/kube-root-ca.crt"}, maps); diff != "" {
		t.Errorf("config maps (-want +got):\n%s", diff)
	}
}

func TestBornInitializing(t *testing.T) {
	born, err := birth.Of(input(t, "waiting", alice))
	if err != nil {
		t.Fatal(err)
	}
	lc := born.LogicalCluster
	if diff := cmp.Diff([]corev1alpha1.Initializer{"root:universal", "root:waiting", "system:apibindings"}, lc.Spec.Initializers); diff != "" {
		t.Errorf("spec.initializers (-want +got):\n%s", diff)
	}
	waiting := []corev1alpha1.Initializer{"root:waiting"}
	if diff := cmp.Diff(waiting, lc.Status.Initializers); diff != "" {
		t.Errorf("only what others have to do is waited for (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(waiting, born.Workspace.Status.Initializers); diff != "" {
		t.Errorf("the workspace mirrors it (-want +got):\n%s", diff)
	}
	terminators := []corev1alpha1.Terminator{"root:waiting"}
	if diff := cmp.Diff(terminators, born.Workspace.Status.Terminators); diff != "" {
		t.Errorf("terminators show from the beginning (-want +got):\n%s", diff)
	}
	for _, phase := range []corev1alpha1.Phase{lc.Status.Phase, born.Workspace.Status.Phase} {
		if phase != corev1alpha1.PhaseInitializing {
			t.Errorf("phase is %s", phase)
		}
	}
	if got := lc.Annotations[tenancyv1alpha1.OwnerAnnotationKey]; got != alice {
		t.Errorf("the owner is trimmed only when the workspace is Ready, got %s", got)
	}
	if diff := cmp.Diff([]string{"core.kcp.io/logicalcluster-deletion", "kcp.io/has-terminators"}, lc.Finalizers); diff != "" {
		t.Errorf("finalizers (-want +got):\n%s", diff)
	}
	for _, label := range []func() (string, string){
		func() (string, string) { return corev1alpha1.InitializerLabel("root:waiting") },
		func() (string, string) { return corev1alpha1.TerminatorLabel("root:waiting") },
	} {
		if key, value := label(); lc.Labels[key] != value {
			t.Errorf("label %s is missing: %v", key, lc.Labels)
		}
	}
}

func TestBornRootless(t *testing.T) {
	in := input(t, "home", alice)
	in.Workspace, in.Parent = nil, tenancy.Place{}
	in.Rootless = birth.Rootless{Path: logicalcluster.MustParsePath("user:alice"), Owner: alice}
	born, err := birth.Of(in)
	if err != nil {
		t.Fatal(err)
	}
	if born.Workspace != nil {
		t.Errorf("there is no Workspace to be written, got %v", born.Workspace)
	}
	lc := born.LogicalCluster
	wantAnnotations := map[string]string{
		"internal.tenancy.kcp.io/type":           "root:home",
		"internal.apis.kcp.io/resource-bindings": `{"workspaces.tenancy.kcp.io":{"n":"tenancy"}}`,
		"core.kcp.io/shard":                      "root",
		"kcp.io/path":                            "user:alice",
		"experimental.tenancy.kcp.io/owner":      `{"username":"alice"}`,
	}
	if diff := cmp.Diff(wantAnnotations, lc.Annotations); diff != "" {
		t.Errorf("annotations (-want +got):\n%s", diff)
	}
	wantSpec := corev1alpha1.LogicalClusterSpec{
		CreatedBy:    &authenticationv1.UserInfo{Username: "alice", Groups: []string{"team"}},
		Initializers: []corev1alpha1.Initializer{"root:universal", "system:apibindings"},
	}
	if diff := cmp.Diff(wantSpec, lc.Spec); diff != "" {
		t.Errorf("spec (-want +got):\n%s", diff)
	}
	if lc.Status.Phase != corev1alpha1.PhaseReady || lc.Status.URL != "https://host:6443/clusters/"+cluster {
		t.Errorf("it is ready, and its address is that of the cluster: %+v", lc.Status)
	}
	if born.AdminBinding == nil || born.AdminBinding.Subjects[0].Name != "alice" {
		t.Errorf("its owner is admin in it, got %v", born.AdminBinding)
	}
	if len(born.Namespaces) != 2 {
		t.Errorf("it has the namespaces of a universal workspace, got %v", born.Namespaces)
	}
}

func TestVariants(t *testing.T) {
	t.Run("Bare", func(t *testing.T) {
		born, err := birth.Of(input(t, "bare", alice))
		if err != nil {
			t.Fatal(err)
		}
		if len(born.Namespaces) != 0 || born.Workspace.Status.Phase != corev1alpha1.PhaseReady {
			t.Errorf("a type that extends nothing gives a Ready workspace without namespaces, got %s and %v", born.Workspace.Status.Phase, born.Namespaces)
		}
	})
	t.Run("WaitingForBindings", func(t *testing.T) {
		in := input(t, "team", alice)
		in.Waiting = &conditions.Condition{
			Type: corev1alpha1.APIBindingsInitialized, Status: corev1.ConditionFalse, Severity: conditions.SeverityInfo,
			Reason: corev1alpha1.ReasonWaitingOnAPIBindings, LastTransitionTime: now.Rfc3339Copy(),
		}
		born, err := birth.Of(in)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff([]corev1alpha1.Initializer{"system:apibindings"}, born.LogicalCluster.Status.Initializers); diff != "" {
			t.Errorf("what is not bound yet is waited for (-want +got):\n%s", diff)
		}
		if got := conditions.Reason(born.LogicalCluster, corev1alpha1.APIBindingsInitialized); got != corev1alpha1.ReasonWaitingOnAPIBindings {
			t.Errorf("the condition says %q, not what is waited for", got)
		}
		if phase := born.Workspace.Status.Phase; phase != corev1alpha1.PhaseInitializing {
			t.Errorf("phase is %s", phase)
		}
	})
	t.Run("NoOwner", func(t *testing.T) {
		in := input(t, "bare", alice)
		delete(in.Workspace.Annotations, tenancyv1alpha1.OwnerAnnotationKey)
		born, err := birth.Of(in)
		if err != nil {
			t.Fatal(err)
		}
		if born.AdminBinding != nil || born.LogicalCluster.Spec.CreatedBy != nil {
			t.Error("without an owner nobody is made admin")
		}
	})
	t.Run("NotStoredYet", func(t *testing.T) {
		in := input(t, "bare", alice)
		in.Workspace.ResourceVersion, in.Workspace.Generation = "", 0
		in.Shard.Region = ""
		born, err := birth.Of(in)
		if err != nil {
			t.Fatal(err)
		}
		if born.Workspace.Generation != 1 {
			t.Errorf("what is written for the first time has generation 1, got %d", born.Workspace.Generation)
		}
		if _, ok := born.Workspace.Labels["region"]; ok {
			t.Error("a shard without region takes the label away")
		}
	})
	t.Run("RequiredGroups", func(t *testing.T) {
		in := input(t, "bare", alice)
		in.Workspace.Annotations[tenancyv1alpha1.RequiredGroupsAnnotationKey] = "a;b"
		born, err := birth.Of(in)
		if err != nil {
			t.Fatal(err)
		}
		if got := born.LogicalCluster.Annotations[tenancyv1alpha1.RequiredGroupsAnnotationKey]; got != "a;b" {
			t.Errorf("required groups go along, got %q", got)
		}
	})
	t.Run("WasUnschedulable", func(t *testing.T) {
		in := input(t, "bare", alice)
		in.Workspace.Status.Phase = corev1alpha1.PhaseUnavailable
		conditions.MarkFalse(in.Workspace, tenancyv1alpha1.WorkspaceScheduled, tenancyv1alpha1.ReasonUnschedulable, conditions.SeverityError, "No shard.")
		born, err := birth.Of(in)
		if err != nil {
			t.Fatal(err)
		}
		if born.Workspace.Status.Phase != corev1alpha1.PhaseReady || !conditions.IsTrue(born.Workspace, tenancyv1alpha1.WorkspaceScheduled) {
			t.Errorf("what kept it from being scheduled is over, got %v", born.Workspace.Status)
		}
	})
	t.Run("BadInput", func(t *testing.T) {
		in := input(t, "bare", "nonsense")
		if _, err := birth.Of(in); err == nil {
			t.Error("an owner that cannot be read is an error")
		}
		in = input(t, "bare", alice)
		in.Shard.ExternalURL = "nonsense"
		if _, err := birth.Of(in); err == nil {
			t.Error("a shard without an address is an error")
		}
	})
}
