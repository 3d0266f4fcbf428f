package claimed

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	apischema "k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/kubernetes/pkg/apis/core"

	"github.com/forkless/kcp/internal/controller"
	"github.com/forkless/kcp/internal/permissionclaims"
	"github.com/forkless/kcp/internal/schema"
	"github.com/forkless/kcp/internal/storage"
	apisv1alpha2 "github.com/forkless/kcp/pkg/apis/apis/v1alpha2"
	"github.com/forkless/kcp/pkg/logicalcluster"
)

const (
	exportLabel     = "claimed.internal.apis.kcp.io/phGj1BkmdNY3LKTrtFc1KGLYTBs8Nt50p8PIU"
	configMapsValue = "3QVjs6pfBjMpLEVYYhysJnroYGsQGlWm05E4qe"
	reflexive       = "LstvmbbzVDDOn90ZbhzSQO5U3DMCf88h1pZ"
)

var (
	consumer = logicalcluster.MustParseName("consumer")
	other    = logicalcluster.MustParseName("other")

	configMaps  = apischema.GroupResource{Resource: "configmaps"}
	widgets     = apischema.GroupResource{Group: "example.com", Resource: "widgets"}
	apiBindings = apisv1alpha2.Resource("apibindings")
)

type pairs = map[string]string

// lookup knows widgets in the consumer, bound with the identity "good".
func lookup(cluster logicalcluster.Name, resource apischema.GroupResource) (schema.Served, bool) {
	if cluster != consumer || resource != widgets {
		return schema.Served{}, false
	}
	return schema.Served{Identity: "good", Export: schema.Export{Name: "widgets", IdentityHash: "good"}}, true
}

// accepts returns a binding of abcd1234:my-export that accepts claims on resources.
func accepts(selector apisv1alpha2.PermissionClaimSelector, identity string, resources ...apischema.GroupResource) *apisv1alpha2.APIBinding {
	binding := &apisv1alpha2.APIBinding{ObjectMeta: metav1.ObjectMeta{Name: "binding"}}
	binding.Spec.Reference.Export = &apisv1alpha2.ExportBindingReference{Name: "my-export"}
	binding.Status.APIExportClusterName = "abcd1234"
	for _, resource := range resources {
		answer := apisv1alpha2.AcceptablePermissionClaim{State: apisv1alpha2.ClaimAccepted}
		answer.Group, answer.Resource, answer.IdentityHash = resource.Group, resource.Resource, identity
		answer.Selector, answer.Verbs = selector, []string{"*"}
		binding.Spec.PermissionClaims = append(binding.Spec.PermissionClaims, answer)
	}
	return binding
}

var (
	all = apisv1alpha2.PermissionClaimSelector{MatchAll: true}
	red = apisv1alpha2.PermissionClaimSelector{LabelSelector: metav1.LabelSelector{MatchLabels: pairs{"color": "red"}}}
)

func TestLabels(t *testing.T) {
	rejected := accepts(all, "", configMaps)
	rejected.Spec.PermissionClaims[0].State = apisv1alpha2.ClaimRejected
	unresolved := accepts(all, "", configMaps)
	unresolved.Status.APIExportClusterName = ""
	withheld := accepts(all, "", configMaps)
	withheld.Spec.PermissionClaims[0].Verbs = []string{"get"}
	withheld.Status.ExportPermissionClaims = []apisv1alpha2.PermissionClaim{{
		GroupResource: apisv1alpha2.GroupResource{Resource: "configmaps"}, Verbs: []string{"get", "list"},
	}}
	claimed := pairs{exportLabel: configMapsValue}
	for name, tc := range map[string]struct {
		reason   string
		binding  *apisv1alpha2.APIBinding
		cluster  logicalcluster.Name
		resource apischema.GroupResource
		of, want pairs
	}{
		"All":           {"all is all", accepts(all, "", configMaps), consumer, configMaps, nil, claimed},
		"Matching":      {"by labels", accepts(red, "", configMaps), consumer, configMaps, pairs{"color": "red"}, claimed},
		"Other":         {"only those", accepts(red, "", configMaps), consumer, configMaps, pairs{"color": "blue"}, nil},
		"OtherResource": {"of that resource", accepts(all, "", configMaps), consumer, widgets, nil, nil},
		"OtherCluster":  {"in that workspace", accepts(all, "", configMaps), other, configMaps, nil, nil},
		"Rejected":      {"what is rejected is not given", rejected, consumer, configMaps, nil, nil},
		"Unresolved":    {"an export that was never found has no label", unresolved, consumer, configMaps, nil, nil},
		"Withheld":      {"who may not list finds nothing by lists", withheld, consumer, configMaps, nil, nil},
		"Unclaimable": {
			"there is no such claim without an identity", accepts(all, "", widgets), consumer, widgets, nil, nil,
		},
		"WrongIdentity":   {"another export's objects are not its own", accepts(all, "bad", widgets), consumer, widgets, nil, nil},
		"BuiltInIdentity": {"what is built in has no identity", accepts(all, "good", configMaps), consumer, configMaps, nil, nil},
		"Identity": {
			"the identity that the workspace has bound counts", accepts(all, "good", widgets), consumer, widgets, nil,
			pairs{exportLabel: permissionclaims.LabelValue(permissionclaims.Name{GroupResource: widgets, IdentityHash: "good"})},
		},
		"Events": {
			"events are the same objects in both groups", accepts(all, "", apischema.GroupResource{Group: "events.k8s.io", Resource: "events"}), consumer,
			apischema.GroupResource{Resource: "events"}, nil,
			pairs{exportLabel: permissionclaims.LabelValue(permissionclaims.Name{GroupResource: apischema.GroupResource{Resource: "events"}})},
		},
		"OwnBinding": {
			"the binding of an export is its own, claimed or not", accepts(all, "", apiBindings), consumer, apiBindings,
			pairs{"internal.apis.kcp.io/export": "phGj1BkmdNY3LKTrtFc1KGLYTBs8Nt50p8PIU"}, pairs{exportLabel: reflexive},
		},
		"OtherBinding": {
			"others have both labels", accepts(all, "", apiBindings), consumer, apiBindings, pairs{"internal.apis.kcp.io/export": "x"},
			pairs{
				"claimed.internal.apis.kcp.io/x": reflexive,
				exportLabel:                      permissionclaims.LabelValue(permissionclaims.Name{GroupResource: apiBindings}),
			},
		},
		"NotABinding": {
			"that label means nothing elsewhere", rejected, consumer, configMaps,
			pairs{"internal.apis.kcp.io/export": "phGj1BkmdNY3LKTrtFc1KGLYTBs8Nt50p8PIU"}, nil,
		},
	} {
		t.Run(name, func(t *testing.T) {
			x := New(lookup)
			x.Set(consumer, tc.binding)
			if diff := cmp.Diff(tc.want, x.Labels(tc.cluster, tc.resource, tc.of)); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

func TestLabelsIn(t *testing.T) {
	x := New(lookup)
	x.Set(consumer, accepts(all, "good", widgets))
	for identity, want := range map[string]bool{"good": true, "bad": false, storage.CustomResources: false, "": false} {
		got := x.LabelsIn(consumer, storage.Resource{GroupResource: widgets, Identity: identity}, nil)
		if (got != nil) != want {
			t.Errorf("objects with identity %q: got labels %v", identity, got)
		}
	}
}

func TestCorrect(t *testing.T) {
	resource := storage.Resource{GroupResource: configMaps}
	x := New(lookup)
	x.Set(consumer, accepts(red, "", configMaps))
	for name, tc := range map[string]struct {
		reason   string
		of, want pairs
	}{
		"Missing":   {"it was there before the claim", pairs{"color": "red"}, pairs{"color": "red", exportLabel: configMapsValue}},
		"Right":     {"nothing to do", pairs{"color": "red", exportLabel: configMapsValue}, pairs{"color": "red", exportLabel: configMapsValue}},
		"Stale":     {"the claim has gone", pairs{"a": "b", exportLabel: configMapsValue}, pairs{"a": "b"}},
		"Unlabeled": {"nor here", nil, nil},
	} {
		t.Run(name, func(t *testing.T) {
			annotations := pairs{logicalcluster.AnnotationKey: consumer.String()}
			typed := &core.ConfigMap{ObjectMeta: metav1.ObjectMeta{Annotations: annotations, Labels: tc.of}}
			untyped := &unstructured.Unstructured{}
			untyped.SetAnnotations(annotations)
			untyped.SetLabels(tc.of)
			right := cmp.Equal(tc.of, tc.want)
			if x.IsRight(resource, typed) != right || x.IsRight(resource, untyped) != right {
				t.Errorf("%s: before: want right %t", tc.reason, right)
			}
			if err := x.Correct(resource, typed); err != nil {
				t.Fatal(err)
			}
			if err := x.Correct(resource, untyped); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, typed.Labels); diff != "" {
				t.Errorf("%s: typed (-want +got):\n%s", tc.reason, diff)
			}
			if diff := cmp.Diff(tc.want, untyped.GetLabels()); diff != "" {
				t.Errorf("%s: unstructured (-want +got):\n%s", tc.reason, diff)
			}
			if !x.IsRight(resource, typed) {
				t.Errorf("%s: what has been corrected is not right", tc.reason)
			}
		})
	}
	if !x.IsRight(resource, &core.ConfigMap{ObjectMeta: metav1.ObjectMeta{Labels: pairs{exportLabel: "x"}}}) {
		t.Error("an object of no cluster is nobody's to correct")
	}
}

func TestChanges(t *testing.T) {
	x := New(lookup)
	maps := permissionclaims.Name{GroupResource: configMaps}
	bindings := permissionclaims.Name{GroupResource: apiBindings}
	for _, step := range []struct {
		reason string
		do     func() []permissionclaims.Name
		want   []permissionclaims.Name
	}{
		{"nothing accepted is nothing new", func() []permissionclaims.Name { return x.Set(consumer, accepts(all, "")) }, nil},
		{"a claim is new", func() []permissionclaims.Name { return x.Set(consumer, accepts(all, "", configMaps)) }, []permissionclaims.Name{maps}},
		{"once", func() []permissionclaims.Name { return x.Set(consumer, accepts(all, "", configMaps)) }, nil},
		{"another selector", func() []permissionclaims.Name { return x.Set(consumer, accepts(red, "", configMaps)) }, []permissionclaims.Name{maps}},
		{"one goes, one comes", func() []permissionclaims.Name { return x.Set(consumer, accepts(all, "", apiBindings)) }, []permissionclaims.Name{maps, bindings}},
		{"the binding goes", func() []permissionclaims.Name { return x.Delete(consumer, "binding") }, []permissionclaims.Name{bindings}},
		{"for good", func() []permissionclaims.Name { return x.Delete(consumer, "binding") }, nil},
	} {
		if diff := cmp.Diff(step.want, step.do()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", step.reason, diff)
		}
	}
	if len(x.clusters) > 0 || len(x.sets) > 0 || len(x.Bindings()) > 0 {
		t.Errorf("something is kept of what is gone: %v, %v", x.clusters, x.sets)
	}
}

// TestShared: what many accept is there once, and goes with the last of them.
func TestShared(t *testing.T) {
	x := New(lookup)
	x.Set(consumer, accepts(all, "", configMaps))
	x.Set(other, accepts(all, "", configMaps))
	if len(x.sets) != 1 || x.clusters[consumer.String()][0].accepted != x.clusters[other.String()][0].accepted {
		t.Errorf("equal claims of two workspaces are there twice: %v", x.sets)
	}
	same := []controller.Key{{Cluster: other, Name: "binding"}}
	x.Delete(consumer, "binding")
	if got := x.Bindings(); !slices.Equal(got, same) {
		t.Errorf("something is known of bindings %v", got)
	}
	if len(x.sets) != 1 || x.Labels(other, configMaps, nil) == nil {
		t.Error("what one has given up the other has lost")
	}
}
