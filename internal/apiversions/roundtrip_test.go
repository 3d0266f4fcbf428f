package apiversions_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/forkless/kcp/internal/apiversions"
	"github.com/forkless/kcp/pkg/apis/apis/v1alpha1"
	"github.com/forkless/kcp/pkg/apis/apis/v1alpha2"
	"github.com/forkless/kcp/pkg/apis/conditions"
)

// seeds are how many objects of each kind a run of the tests looks at; fuzzing looks at
// more.
const seeds = 500

// FuzzExport: an export in either version comes back unchanged from the other.
func FuzzExport(f *testing.F) {
	f.Fuzz(func(t *testing.T, seed uint64) { roundTripExport(t, seed) })
}

func TestExportRoundTrip(t *testing.T) {
	for seed := range uint64(seeds) {
		roundTripExport(t, seed)
	}
}

func roundTripExport(t *testing.T, seed uint64) {
	t.Helper()
	converter, ok := apiversions.For(v1alpha2.Resource("apiexports"))
	if !ok {
		t.Fatal("exports have two versions")
	}
	latest := generator{rand.New(rand.NewPCG(seed, 1))}.exportV1alpha2()
	// All but resources that v1alpha1 names come last.
	want := latest.DeepCopy()
	slices.SortStableFunc(want.Spec.Resources, func(a, b v1alpha2.ResourceSchema) int { return later(a) - later(b) })
	checkRoundTrip(t, seed, converter, latest, v1alpha1.GroupVersion, want)

	old := generator{rand.New(rand.NewPCG(seed, 2))}.exportV1alpha1()
	checkRoundTrip(t, seed, converter, old, v1alpha2.GroupVersion, old)
}

func later(r v1alpha2.ResourceSchema) int {
	if r.Storage.Virtual != nil || r.Schema != "v1."+r.Name+"."+r.Group {
		return 1
	}
	return 0
}

// FuzzBinding: a binding in either version comes back unchanged from the other.
func FuzzBinding(f *testing.F) {
	f.Fuzz(func(t *testing.T, seed uint64) { roundTripBinding(t, seed) })
}

func TestBindingRoundTrip(t *testing.T) {
	for seed := range uint64(seeds) {
		roundTripBinding(t, seed)
	}
}

func roundTripBinding(t *testing.T, seed uint64) {
	t.Helper()
	converter, ok := apiversions.For(v1alpha2.Resource("apibindings"))
	if !ok {
		t.Fatal("bindings have two versions")
	}
	latest := generator{rand.New(rand.NewPCG(seed, 1))}.bindingV1alpha2()
	checkRoundTrip(t, seed, converter, latest, v1alpha1.GroupVersion, latest)
	old := generator{rand.New(rand.NewPCG(seed, 2))}.bindingV1alpha1()
	checkRoundTrip(t, seed, converter, old, v1alpha2.GroupVersion, old)
}

// checkRoundTrip converts in to another version and back, as unstructured objects, which
// is how it is done. Nothing it is given may be changed by that.
func checkRoundTrip(t *testing.T, seed uint64, converter *apiversions.Converter, in runtime.Object, through schema.GroupVersion, want runtime.Object) {
	t.Helper()
	u, back := toUnstructured(t, in), in.GetObjectKind().GroupVersionKind().GroupVersion()
	other, err := converter.Convert([]*unstructured.Unstructured{u}, through)
	if err != nil {
		t.Fatalf("seed %d: %v", seed, err)
	}
	if got := other[0].GroupVersionKind().GroupVersion(); got != through {
		t.Fatalf("seed %d: got %s, want %s", seed, got, through)
	}
	middle := other[0].DeepCopy()
	again, err := converter.Convert(other, back)
	if err != nil {
		t.Fatalf("seed %d: %v", seed, err)
	}
	if diff := cmp.Diff(toUnstructured(t, want).Object, again[0].Object); diff != "" {
		t.Fatalf("seed %d: %T does not come back as it was from %s (-want +got):\n%s\nin between:\n%v", seed, in, through, diff, middle.Object)
	}
}

func toUnstructured(t *testing.T, in runtime.Object) *unstructured.Unstructured {
	t.Helper()
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(in)
	if err != nil {
		t.Fatal(err)
	}
	// As the server does with what comes over the wire.
	u := &unstructured.Unstructured{Object: content}
	for _, part := range []string{"spec", "status"} {
		if m, ok := u.Object[part].(map[string]any); ok && len(m) == 0 {
			delete(u.Object, part)
		}
	}
	return u
}

// generator makes objects that the rules of the kinds allow.
type generator struct{ *rand.Rand }

func (g generator) flip() bool { return g.IntN(2) == 0 }

func (g generator) meta() metav1.ObjectMeta {
	meta := metav1.ObjectMeta{Name: "a"}
	if g.flip() {
		meta.Annotations = map[string]string{"example.com/note": "kept"}
	}
	if g.flip() {
		meta.Labels = map[string]string{"a": "b"}
		meta.ManagedFields = []metav1.ManagedFieldsEntry{{Manager: "m", Operation: "Apply", APIVersion: "apis.kcp.io/v1alpha1"}}
	}
	return meta
}

func (g generator) conditions() conditions.Conditions {
	if g.flip() {
		return nil
	}
	return conditions.Conditions{{Type: "Ready", Status: corev1.ConditionTrue, LastTransitionTime: metav1.Unix(1000, 0).Rfc3339Copy()}}
}

func (g generator) verbs() []string {
	return [][]string{{"*"}, {"*"}, {"get"}, {"get", "list"}, {"*", "get"}}[g.IntN(5)]
}

func (g generator) selector() v1alpha2.PermissionClaimSelector {
	switch g.IntN(4) {
	case 0:
		return v1alpha2.PermissionClaimSelector{LabelSelector: metav1.LabelSelector{MatchLabels: map[string]string{"a": "b"}}}
	case 1:
		return v1alpha2.PermissionClaimSelector{LabelSelector: metav1.LabelSelector{
			MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "a", Operator: metav1.LabelSelectorOpIn, Values: []string{"b"}}},
		}}
	default:
		return v1alpha2.PermissionClaimSelector{MatchAll: true}
	}
}

// keys calls visit with different groups, resources and identities.
func (g generator) keys(visit func(group, resource, identity string)) {
	for i := range g.IntN(4) {
		visit([]string{"", "apps", "example.com"}[g.IntN(3)], fmt.Sprintf("things%d", i), []string{"", "hash"}[g.IntN(2)])
	}
}

func (g generator) claimsV1alpha2() (claims []v1alpha2.PermissionClaim) {
	g.keys(func(group, resource, identity string) {
		claim := v1alpha2.PermissionClaim{
			GroupResource: v1alpha2.GroupResource{Group: group, Resource: resource}, IdentityHash: identity, Verbs: g.verbs(),
		}
		if g.IntN(3) == 0 {
			selector := g.selector()
			claim.DefaultSelector = &selector
		}
		claims = append(claims, claim)
	})
	return claims
}

func (g generator) scopedV1alpha2() (claims []v1alpha2.ScopedPermissionClaim) {
	for _, claim := range g.claimsV1alpha2() {
		claims = append(claims, v1alpha2.ScopedPermissionClaim{PermissionClaim: claim, Selector: g.selector()})
	}
	return claims
}

func (g generator) claimsV1alpha1() (claims []v1alpha1.PermissionClaim) {
	g.keys(func(group, resource, identity string) {
		claim := v1alpha1.PermissionClaim{GroupResource: v1alpha1.GroupResource{Group: group, Resource: resource}, IdentityHash: identity, All: true}
		if g.flip() {
			claim.All, claim.ResourceSelector = false, []v1alpha1.ResourceSelector{{Name: "a"}, {Namespace: "b"}}
		}
		claims = append(claims, claim)
	})
	return claims
}

func (g generator) exportV1alpha2() *v1alpha2.APIExport {
	e := &v1alpha2.APIExport{ObjectMeta: g.meta()}
	e.SetGroupVersionKind(v1alpha2.GroupVersion.WithKind("APIExport"))
	for i := range g.IntN(4) {
		resource := v1alpha2.ResourceSchema{
			Name: fmt.Sprintf("widgets%d", i), Group: "example.com",
			Storage: v1alpha2.ResourceSchemaStorage{CRD: &v1alpha2.ResourceSchemaStorageCRD{}},
		}
		resource.Schema = "v1." + resource.Name + ".example.com"
		switch g.IntN(4) {
		case 0:
			resource.Storage = v1alpha2.ResourceSchemaStorage{Virtual: &v1alpha2.ResourceSchemaStorageVirtual{
				Reference: corev1.TypedLocalObjectReference{Kind: "K", Name: "n"}, IdentityHash: "x",
			}}
		case 1:
			resource.Schema = "another"
		}
		e.Spec.Resources = append(e.Spec.Resources, resource)
	}
	e.Spec.PermissionClaims = g.claimsV1alpha2()
	if g.flip() {
		e.Spec.Identity = &v1alpha2.Identity{SecretRef: &corev1.SecretReference{Name: "a", Namespace: "b"}}
		e.Spec.MaximalPermissionPolicy = &v1alpha2.MaximalPermissionPolicy{Local: &v1alpha2.LocalAPIExportPolicy{}}
		e.Status = v1alpha2.APIExportStatus{IdentityHash: "hash", Conditions: g.conditions(), VirtualWorkspaces: []v1alpha2.VirtualWorkspace{{URL: "https://a"}}}
	}
	return e
}

func (g generator) exportV1alpha1() *v1alpha1.APIExport {
	e := &v1alpha1.APIExport{ObjectMeta: g.meta()}
	e.SetGroupVersionKind(v1alpha1.GroupVersion.WithKind("APIExport"))
	for i := range g.IntN(4) {
		e.Spec.LatestResourceSchemas = append(e.Spec.LatestResourceSchemas, fmt.Sprintf("today.widgets%d.%s", i, []string{"core", "example.com"}[g.IntN(2)]))
	}
	e.Spec.PermissionClaims = g.claimsV1alpha1()
	if g.flip() {
		e.Spec.Identity = &v1alpha1.Identity{SecretRef: &corev1.SecretReference{Name: "a", Namespace: "b"}}
		e.Spec.MaximalPermissionPolicy = &v1alpha1.MaximalPermissionPolicy{Local: &v1alpha1.LocalAPIExportPolicy{}}
		e.Status = v1alpha1.APIExportStatus{IdentityHash: "hash", Conditions: g.conditions(), VirtualWorkspaces: []v1alpha1.VirtualWorkspace{{URL: "https://a"}}}
	}
	return e
}

func (g generator) bindingV1alpha2() *v1alpha2.APIBinding {
	b := &v1alpha2.APIBinding{ObjectMeta: g.meta()}
	b.SetGroupVersionKind(v1alpha2.GroupVersion.WithKind("APIBinding"))
	b.Spec.Reference.Export = &v1alpha2.ExportBindingReference{Path: "root:a", Name: "e"}
	for _, claim := range g.scopedV1alpha2() {
		b.Spec.PermissionClaims = append(b.Spec.PermissionClaims, v1alpha2.AcceptablePermissionClaim{
			ScopedPermissionClaim: claim,
			State:                 []v1alpha2.AcceptablePermissionClaimState{v1alpha2.ClaimAccepted, v1alpha2.ClaimRejected}[g.IntN(2)],
		})
	}
	if g.flip() {
		b.Status = v1alpha2.APIBindingStatus{
			APIExportClusterName: "abc", Phase: v1alpha2.APIBindingPhaseBound, Conditions: g.conditions(),
			BoundResources: []v1alpha2.BoundAPIResource{{
				Group: "example.com", Resource: "widgets", StorageVersions: []string{"v1"},
				Schema: v1alpha2.BoundAPIResourceSchema{Name: "a", UID: "b", IdentityHash: "c"},
			}},
			ExportPermissionClaims: g.claimsV1alpha2(), AppliedPermissionClaims: g.scopedV1alpha2(),
		}
	}
	return b
}

func (g generator) bindingV1alpha1() *v1alpha1.APIBinding {
	b := &v1alpha1.APIBinding{ObjectMeta: g.meta()}
	b.SetGroupVersionKind(v1alpha1.GroupVersion.WithKind("APIBinding"))
	b.Spec.Reference.Export = &v1alpha1.ExportBindingReference{Name: "e"}
	for _, claim := range g.claimsV1alpha1() {
		b.Spec.PermissionClaims = append(b.Spec.PermissionClaims, v1alpha1.AcceptablePermissionClaim{PermissionClaim: claim, State: v1alpha1.ClaimAccepted})
	}
	if g.flip() {
		b.Status = v1alpha1.APIBindingStatus{
			APIExportClusterName: "abc", Phase: v1alpha1.APIBindingPhaseBinding, Conditions: g.conditions(),
			ExportPermissionClaims: g.claimsV1alpha1(), AppliedPermissionClaims: g.claimsV1alpha1(),
		}
	}
	return b
}
