package claims

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"

	"github.com/forkless/kcp/internal/apihash"
	"github.com/forkless/kcp/internal/permissionclaims"
	"github.com/forkless/kcp/internal/servertest"
	apisv1alpha1 "github.com/forkless/kcp/pkg/apis/apis/v1alpha1"
	apisv1alpha2 "github.com/forkless/kcp/pkg/apis/apis/v1alpha2"
	"github.com/forkless/kcp/pkg/apis/conditions"
	"github.com/forkless/kcp/pkg/logicalcluster"
)

var (
	schemas    = apisv1alpha1.GroupVersion.WithResource("apiresourceschemas")
	exports    = apisv1alpha2.GroupVersion.WithResource("apiexports")
	bindings   = apisv1alpha2.GroupVersion.WithResource("apibindings")
	configMaps = corev1.SchemeGroupVersion.WithResource("configmaps")
	accounts   = corev1.SchemeGroupVersion.WithResource("serviceaccounts")
	secrets    = corev1.SchemeGroupVersion.WithResource("secrets")
	events     = corev1.SchemeGroupVersion.WithResource("events")
	namespaces = corev1.SchemeGroupVersion.WithResource("namespaces")
	widgets    = schema.GroupVersionResource{Group: "example.com", Version: "v1", Resource: "widgets"}
)

const home = "default"

// workspace is a workspace, or a virtual one, as one user sees it.
type workspace struct {
	testing.TB
	client  dynamic.Interface
	cluster string
}

func newWorkspace(t testing.TB, server *servertest.Server) workspace {
	t.Helper()
	ws := server.Workspace(t, "root", "")
	return as(t, server.In(t, "base", ws.Spec.Cluster), ws.Spec.Cluster)
}

func as(t testing.TB, config *rest.Config, cluster string) workspace {
	t.Helper()
	config.QPS = -1
	client, err := dynamic.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	return workspace{TB: t, client: client, cluster: cluster}
}

// through returns what the provider of an export sees of a consumer, or of all for "*".
func through(t testing.TB, server *servertest.Server, provider workspace, consumer string) workspace {
	t.Helper()
	config := server.In(t, "base", "root")
	config.Host = fmt.Sprintf("%s/services/apiexport/%s/%s/clusters/%s", server.URL(), provider.cluster, exportName, consumer)
	return as(t, config, consumer)
}

func (w workspace) in(t testing.TB) workspace {
	w.TB = t
	return w
}

// resource returns the objects of a resource: those of the default namespace if it has
// namespaces at all.
func (w workspace) resource(r schema.GroupVersionResource) dynamic.ResourceInterface {
	switch r {
	case configMaps, accounts, secrets, events, widgets:
		return w.client.Resource(r).Namespace(home)
	default:
		return w.client.Resource(r)
	}
}

var kinds = map[schema.GroupVersionResource]string{
	schemas: "APIResourceSchema", exports: "APIExport", bindings: "APIBinding", configMaps: "ConfigMap",
	accounts: "ServiceAccount", events: "Event", secrets: "Secret", namespaces: "Namespace", widgets: "Widget",
}

func (w workspace) tryCreate(r schema.GroupVersionResource, obj runtime.Object) (*unstructured.Unstructured, error) {
	w.Helper()
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(obj)
	if err != nil {
		w.Fatal(err)
	}
	delete(content, "status")
	u := &unstructured.Unstructured{Object: content}
	u.SetGroupVersionKind(r.GroupVersion().WithKind(kinds[r]))
	return w.resource(r).Create(w.Context(), u, metav1.CreateOptions{})
}

func (w workspace) create(r schema.GroupVersionResource, obj runtime.Object) *unstructured.Unstructured {
	w.Helper()
	created, err := w.tryCreate(r, obj)
	if err != nil {
		w.Fatalf("creating %s: %v", r.Resource, err)
	}
	return created
}

func (w workspace) get(r schema.GroupVersionResource, name string) *unstructured.Unstructured {
	w.Helper()
	u, err := w.resource(r).Get(w.Context(), name, metav1.GetOptions{})
	if err != nil {
		w.Fatalf("reading %s %s: %v", r.Resource, name, err)
	}
	return u
}

func (w workspace) tryPatch(r schema.GroupVersionResource, name, patch string) (*unstructured.Unstructured, error) {
	return w.resource(r).Patch(w.Context(), name, types.MergePatchType, []byte(patch), metav1.PatchOptions{})
}

func (w workspace) patch(r schema.GroupVersionResource, name, patch string) *unstructured.Unstructured {
	w.Helper()
	u, err := w.tryPatch(r, name, patch)
	if err != nil {
		w.Fatalf("patching %s %s: %v", r.Resource, name, err)
	}
	return u
}

func (w workspace) delete(r schema.GroupVersionResource, name string) {
	w.Helper()
	if err := w.resource(r).Delete(w.Context(), name, metav1.DeleteOptions{}); err != nil {
		w.Fatalf("deleting %s %s: %v", r.Resource, name, err)
	}
}

// names returns the names of the objects of a resource, sorted.
func (w workspace) names(r schema.GroupVersionResource) []string {
	w.Helper()
	list, err := w.client.Resource(r).List(w.Context(), metav1.ListOptions{})
	if err != nil {
		w.Fatalf("listing %s: %v", r.Resource, err)
	}
	names := []string{}
	for i := range list.Items {
		names = append(names, list.Items[i].GetName())
	}
	slices.Sort(names)
	return names
}

// binding returns a binding as its Go type.
func (w workspace) binding(name string) *apisv1alpha2.APIBinding {
	w.Helper()
	raw, err := json.Marshal(w.get(bindings, name))
	if err != nil {
		w.Fatal(err)
	}
	b := &apisv1alpha2.APIBinding{}
	if err := json.Unmarshal(raw, b); err != nil {
		w.Fatal(err)
	}
	return b
}

// awaitBinding waits until a binding is as wanted.
func (w workspace) awaitBinding(name, what string, wanted func(*apisv1alpha2.APIBinding) bool) *apisv1alpha2.APIBinding {
	w.Helper()
	var last *apisv1alpha2.APIBinding
	servertest.Eventually(w, what, func() (bool, any) {
		last = w.binding(name)
		return wanted(last), last.Status
	})
	return last
}

// awaitClaims waits until a binding says that its claims are in force.
func (w workspace) awaitClaims(name string) {
	w.Helper()
	w.awaitBinding(name, "claims to be in force", func(b *apisv1alpha2.APIBinding) bool {
		if b.Status.Phase != apisv1alpha2.APIBindingPhaseBound || !conditions.IsTrue(b, apisv1alpha1.PermissionClaimsApplied) {
			return false
		}
		exported := permissionclaims.Exported(b)
		for name := range permissionclaims.Accepted(b) {
			if _, ok := exported[name]; ok && !slices.ContainsFunc(b.Status.AppliedPermissionClaims, func(c apisv1alpha2.ScopedPermissionClaim) bool {
				return permissionclaims.NameOf(c.PermissionClaim) == name
			}) {
				return false
			}
		}
		return true
	})
}

// exportName is what the export of a provider is called.
const exportName = "sharing"

func claim(r schema.GroupVersionResource, verbs ...string) apisv1alpha2.PermissionClaim {
	return apisv1alpha2.PermissionClaim{
		GroupResource: apisv1alpha2.GroupResource{Group: r.Group, Resource: r.Resource}, Verbs: verbs,
	}
}

// newProvider makes a workspace with an export that makes claims.
func newProvider(t testing.TB, server *servertest.Server, claims ...apisv1alpha2.PermissionClaim) workspace {
	t.Helper()
	w := newWorkspace(t, server)
	export := &apisv1alpha2.APIExport{ObjectMeta: metav1.ObjectMeta{Name: exportName}}
	export.Spec.PermissionClaims = claims
	w.create(exports, export)
	return w
}

var (
	everything = apisv1alpha2.PermissionClaimSelector{MatchAll: true}
	red        = apisv1alpha2.PermissionClaimSelector{LabelSelector: metav1.LabelSelector{MatchLabels: map[string]string{"color": "red"}}}
)

func answer(c apisv1alpha2.PermissionClaim, state apisv1alpha2.AcceptablePermissionClaimState, selector apisv1alpha2.PermissionClaimSelector) apisv1alpha2.AcceptablePermissionClaim {
	return apisv1alpha2.AcceptablePermissionClaim{
		ScopedPermissionClaim: apisv1alpha2.ScopedPermissionClaim{PermissionClaim: c, Selector: selector}, State: state,
	}
}

func accept(c apisv1alpha2.PermissionClaim, selector apisv1alpha2.PermissionClaimSelector) apisv1alpha2.AcceptablePermissionClaim {
	return answer(c, apisv1alpha2.ClaimAccepted, selector)
}

func reject(c apisv1alpha2.PermissionClaim) apisv1alpha2.AcceptablePermissionClaim {
	return answer(c, apisv1alpha2.ClaimRejected, everything)
}

// bind binds the export of a provider, called as the binding is.
func (w workspace) bind(name string, provider workspace, export string, answers ...apisv1alpha2.AcceptablePermissionClaim) {
	w.Helper()
	b := &apisv1alpha2.APIBinding{ObjectMeta: metav1.ObjectMeta{Name: name}}
	b.Spec.Reference.Export = &apisv1alpha2.ExportBindingReference{Path: provider.cluster, Name: export}
	b.Spec.PermissionClaims = answers
	w.create(bindings, b)
}

// answer replaces the answers of a binding.
func (w workspace) answer(name string, answers ...apisv1alpha2.AcceptablePermissionClaim) {
	w.Helper()
	raw, err := json.Marshal(answers)
	if err != nil {
		w.Fatal(err)
	}
	w.patch(bindings, name, `{"spec":{"permissionClaims":`+string(raw)+`}}`)
}

func configMap(name string, labels map[string]string) *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: home, Name: name, Labels: labels}}
}

// label returns the label of objects that the provider finds.
func label(t testing.TB, provider workspace, c apisv1alpha2.PermissionClaim) (key, value string) {
	t.Helper()
	cluster, err := logicalcluster.ParseName(provider.cluster)
	if err != nil {
		t.Fatal(err)
	}
	return apihash.ClaimLabelKey(cluster, exportName), permissionclaims.LabelValue(permissionclaims.NameOf(c))
}

// claimLabels returns the labels of an object that have to do with claims.
func claimLabels(u *unstructured.Unstructured) map[string]string {
	labels := u.GetLabels()
	maps.DeleteFunc(labels, func(key, _ string) bool {
		return !strings.HasPrefix(key, apisv1alpha1.APIExportPermissionClaimLabelPrefix)
	})
	if len(labels) == 0 {
		return nil
	}
	return labels
}

// awaitLabels waits until an object has these labels of claims and no others.
func (w workspace) awaitLabels(r schema.GroupVersionResource, name string, want map[string]string) {
	w.Helper()
	servertest.Eventually(w, fmt.Sprintf("labels %v of %s %s", want, r.Resource, name), func() (bool, any) {
		got := claimLabels(w.get(r, name))
		return maps.Equal(got, want), got
	})
}

// condition returns a condition without its time, which tests do not know.
func condition(from conditions.Getter, t conditions.Type) conditions.Condition {
	c, _ := conditions.Get(from, t)
	c.LastTransitionTime = metav1.Time{}
	return c
}

func same(t testing.TB, reason string, want, got any) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", reason, diff)
	}
}

// isRefused fails the test unless err is a Status with this reason and a text in it.
func isRefused(t testing.TB, reason string, err error, want metav1.StatusReason, text string) {
	t.Helper()
	if apierrors.ReasonForError(err) != want || err != nil && !strings.Contains(err.Error(), text) {
		t.Errorf("%s: got error %v, want %s with %q", reason, err, want, text)
	}
}
