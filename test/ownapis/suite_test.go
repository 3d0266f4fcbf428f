package ownapis

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"

	"github.com/forkless/kcp/internal/servertest"
	apisv1alpha1 "github.com/forkless/kcp/pkg/apis/apis/v1alpha1"
	apisv1alpha2 "github.com/forkless/kcp/pkg/apis/apis/v1alpha2"
	corev1alpha1 "github.com/forkless/kcp/pkg/apis/core/v1alpha1"
	tenancyv1alpha1 "github.com/forkless/kcp/pkg/apis/tenancy/v1alpha1"
)

var (
	bindings        = apisv1alpha2.GroupVersion.WithResource("apibindings")
	exports         = apisv1alpha2.GroupVersion.WithResource("apiexports")
	schemas         = apisv1alpha1.GroupVersion.WithResource("apiresourceschemas")
	workspaces      = tenancyv1alpha1.GroupVersion.WithResource("workspaces")
	workspaceTypes  = tenancyv1alpha1.GroupVersion.WithResource("workspacetypes")
	logicalClusters = corev1alpha1.GroupVersion.WithResource("logicalclusters")
	secrets         = corev1.SchemeGroupVersion.WithResource("secrets")
	cowboys         = schema.GroupVersionResource{Group: "wildwest.dev", Version: "v1alpha1", Resource: "cowboys"}
	apiextensions   = schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"}
	clusterRoles    = rbacv1.SchemeGroupVersion.WithResource("clusterroles")
	roleBindings    = rbacv1.SchemeGroupVersion.WithResource("clusterrolebindings")
)

// workspace is a workspace as one user sees it.
type workspace struct {
	testing.TB
	client  dynamic.Interface
	config  *rest.Config
	cluster string
}

// in returns a workspace as its administrator sees it.
func in(t testing.TB, s *servertest.Server, cluster string) workspace {
	t.Helper()
	return as(t, s.In(t, "base", cluster), cluster)
}

// privileged returns a workspace as those see it whom nothing is denied.
func privileged(t testing.TB, s *servertest.Server, cluster string) workspace {
	t.Helper()
	return as(t, s.In(t, "shard-base", cluster), cluster)
}

func as(t testing.TB, config *rest.Config, cluster string) workspace {
	t.Helper()
	client, err := dynamic.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	return workspace{TB: t, client: client, config: config, cluster: cluster}
}

func (w workspace) create(r schema.GroupVersionResource, object string) error {
	w.Helper()
	_, err := w.client.Resource(r).Create(w.Context(), read(w, object), metav1.CreateOptions{})
	return err
}

func read(t testing.TB, object string) *unstructured.Unstructured {
	t.Helper()
	u := &unstructured.Unstructured{}
	if err := json.Unmarshal([]byte(object), &u.Object); err != nil {
		t.Fatalf("%v in %s", err, object)
	}
	return u
}

func (w workspace) mustCreate(r schema.GroupVersionResource, object string) {
	w.Helper()
	if err := w.create(r, object); err != nil {
		w.Fatalf("creating %s: %v", object, err)
	}
}

func (w workspace) delete(r schema.GroupVersionResource, name string) {
	w.Helper()
	if err := w.client.Resource(r).Delete(w.Context(), name, metav1.DeleteOptions{}); err != nil {
		w.Fatalf("deleting %s %s: %v", r.Resource, name, err)
	}
}

func (w workspace) patch(r schema.GroupVersionResource, name, patch string) {
	w.Helper()
	if _, err := w.client.Resource(r).Patch(w.Context(), name, types.MergePatchType, []byte(patch), metav1.PatchOptions{}); err != nil {
		w.Fatalf("patching %s %s: %v", r.Resource, name, err)
	}
}

// get returns an object as its Go type.
func get[T any](w workspace, r schema.GroupVersionResource, name string) (obj T) {
	w.Helper()
	u, err := w.client.Resource(r).Get(w.Context(), name, metav1.GetOptions{})
	if err != nil {
		w.Fatalf("reading %s %s: %v", r.Resource, name, err)
	}
	return into[T](w, u)
}

func into[T any](t testing.TB, u *unstructured.Unstructured) (obj T) {
	t.Helper()
	raw, err := json.Marshal(u)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(raw, &obj); err != nil {
		t.Fatal(err)
	}
	return obj
}

// bindings returns the bindings of a workspace by the names of their exports.
func (w workspace) bindings() map[string]apisv1alpha2.APIBinding {
	w.Helper()
	list, err := w.client.Resource(bindings).List(w.Context(), metav1.ListOptions{})
	if err != nil {
		w.Fatal(err)
	}
	all := map[string]apisv1alpha2.APIBinding{}
	for i := range list.Items {
		b := into[apisv1alpha2.APIBinding](w, &list.Items[i])
		all[b.Spec.Reference.Export.Name] = b
	}
	return all
}

// names returns the names of the objects of a resource, sorted.
func (w workspace) names(r schema.GroupVersionResource) []string {
	w.Helper()
	list, err := w.client.Resource(r).List(w.Context(), metav1.ListOptions{})
	if err != nil {
		w.Fatal(err)
	}
	var names []string
	for i := range list.Items {
		names = append(names, list.Items[i].GetName())
	}
	slices.Sort(names)
	return names
}

// serves says whether discovery shows a resource.
func (w workspace) serves(r schema.GroupVersionResource) bool {
	w.Helper()
	client, err := discovery.NewDiscoveryClientForConfig(w.config)
	if err != nil {
		w.Fatal(err)
	}
	_, lists, err := client.ServerGroupsAndResources()
	if err != nil {
		w.Fatal(err)
	}
	return slices.ContainsFunc(lists, func(list *metav1.APIResourceList) bool {
		return list.GroupVersion == r.GroupVersion().String() && slices.ContainsFunc(list.APIResources, func(a metav1.APIResource) bool {
			return a.Name == r.Resource
		})
	})
}

// allow lets a user do something in a workspace.
func (w workspace) allow(name, user, group, resource string, verbs ...string) {
	w.Helper()
	w.mustCreate(clusterRoles, `{"apiVersion":"rbac.authorization.k8s.io/v1","kind":"ClusterRole","metadata":{"name":"`+name+`"},
		"rules":[{"apiGroups":["`+group+`"],"resources":["`+resource+`"],"verbs":["`+strings.Join(verbs, `","`)+`"]},
			{"nonResourceURLs":["/"],"verbs":["access"]}]}`)
	w.mustCreate(roleBindings, `{"apiVersion":"rbac.authorization.k8s.io/v1","kind":"ClusterRoleBinding","metadata":{"name":"`+name+`"},
		"roleRef":{"apiGroup":"rbac.authorization.k8s.io","kind":"ClusterRole","name":"`+name+`"},
		"subjects":[{"apiGroup":"rbac.authorization.k8s.io","kind":"User","name":"`+user+`"}]}`)
}

// exportCowboys exports an API from a workspace.
func (w workspace) exportCowboys() {
	w.Helper()
	w.mustCreate(schemas, `{"apiVersion":"apis.kcp.io/v1alpha1","kind":"APIResourceSchema","metadata":{"name":"today.cowboys.wildwest.dev"},
		"spec":{"group":"wildwest.dev","scope":"Namespaced","names":{"plural":"cowboys","singular":"cowboy","kind":"Cowboy","listKind":"CowboyList"},
			"versions":[{"name":"v1alpha1","served":true,"storage":true,"schema":{"type":"object","x-kubernetes-preserve-unknown-fields":true}}]}}`)
	w.mustCreate(exports, `{"apiVersion":"apis.kcp.io/v1alpha2","kind":"APIExport","metadata":{"name":"cowboys"},
		"spec":{"resources":[{"group":"wildwest.dev","name":"cowboys","schema":"today.cowboys.wildwest.dev"}]}}`)
}

// child is a new Workspace of a type.
func child(name, typePath, typeName string) string {
	return `{"apiVersion":"tenancy.kcp.io/v1alpha1","kind":"Workspace","metadata":{"name":"` + name + `"},
		"spec":{"type":{"path":"` + typePath + `","name":"` + typeName + `"}}}`
}

// extending is a type that extends universal and binds exports by default.
func extending(name, defaults string) string {
	return `{"apiVersion":"tenancy.kcp.io/v1alpha1","kind":"WorkspaceType","metadata":{"name":"` + name + `"},
		"spec":{"extend":{"with":[{"path":"root","name":"universal"}]},"defaultAPIBindings":[` + defaults + `]}}`
}

// ready waits until a child of w is ready and returns it.
func (w workspace) ready(name string) tenancyv1alpha1.Workspace {
	w.Helper()
	var ws tenancyv1alpha1.Workspace
	servertest.Eventually(w, "workspace "+name+" is ready", func() (bool, any) {
		ws = get[tenancyv1alpha1.Workspace](w, workspaces, name)
		return ws.Status.Phase == corev1alpha1.PhaseReady, ws.Status
	})
	return ws
}
