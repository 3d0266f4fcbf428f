package binding_test

import (
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	apischema "k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/forkless/kcp/internal/binding"
	"github.com/forkless/kcp/internal/schema"
	apisv1alpha1 "github.com/forkless/kcp/pkg/apis/apis/v1alpha1"
	apisv1alpha2 "github.com/forkless/kcp/pkg/apis/apis/v1alpha2"
	"github.com/forkless/kcp/pkg/apis/conditions"
	"github.com/forkless/kcp/pkg/logicalcluster"
)

var (
	now      = metav1.NewTime(time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC))
	provider = logicalcluster.MustParseName("provider1")
	consumer = logicalcluster.MustParseName("consumer1")
	cowboys  = apischema.GroupResource{Group: "wildwest.dev", Resource: "cowboys"}
	horses   = apischema.GroupResource{Group: "wildwest.dev", Resource: "horses"}
)

func namesOf(plural, kind string) apiextensionsv1.CustomResourceDefinitionNames {
	return apiextensionsv1.CustomResourceDefinitionNames{Plural: plural, Singular: plural[:len(plural)-1], Kind: kind, ListKind: kind + "List"}
}

// definition returns what a schema of a resource is served by, stored in a version.
func definition(resource apischema.GroupResource, kind, version string) *schema.Definition {
	crd := &apiextensionsv1.CustomResourceDefinition{Spec: apiextensionsv1.CustomResourceDefinitionSpec{
		Group: resource.Group, Names: namesOf(resource.Resource, kind),
		Versions: []apiextensionsv1.CustomResourceDefinitionVersion{{Name: version, Served: true, Storage: true}},
	}}
	crd.Status.AcceptedNames = crd.Spec.Names
	return &schema.Definition{Hash: resource.String() + kind + version, CRD: crd}
}

func offer(resource apischema.GroupResource, kind string, edit ...func(*binding.Offer)) binding.Offer {
	o := binding.Offer{
		Resource: resource, Schema: "today." + resource.String(), UID: types.UID("uid of today." + resource.String()),
		Definition: definition(resource, kind, "v1"),
	}
	for _, e := range edit {
		e(&o)
	}
	return o
}

func exportOf(offers ...binding.Offer) *binding.Export {
	object := &apisv1alpha2.APIExport{ObjectMeta: metav1.ObjectMeta{Name: "wild"}}
	object.Status.IdentityHash = "identity"
	return &binding.Export{Cluster: provider, Object: object, Offers: offers}
}

func newBinding() *apisv1alpha2.APIBinding {
	b := &apisv1alpha2.APIBinding{ObjectMeta: metav1.ObjectMeta{Name: "mine"}}
	b.Spec.Reference.Export = &apisv1alpha2.ExportBindingReference{Path: "root:provider", Name: "wild"}
	return b
}

// boundTo returns a binding that has bound an export.
func boundTo(t *testing.T, export *binding.Export) *apisv1alpha2.APIBinding {
	t.Helper()
	b := binding.Decide(binding.Input{Cluster: consumer, Binding: newBinding(), Export: export, Now: now}).Binding
	if b.Status.Phase != apisv1alpha2.APIBindingPhaseBound {
		t.Fatalf("not bound: %+v", b.Status)
	}
	return b
}

func entry(resource apischema.GroupResource, schemaName, identity string, versions ...string) apisv1alpha2.BoundAPIResource {
	return apisv1alpha2.BoundAPIResource{
		Group: resource.Group, Resource: resource.Resource, StorageVersions: versions,
		Schema: apisv1alpha2.BoundAPIResourceSchema{Name: schemaName, UID: "uid of " + schemaName, IdentityHash: identity},
	}
}

var (
	todayCowboys = entry(cowboys, "today.cowboys.wildwest.dev", "identity", "v1")
	todayHorses  = entry(horses, "today.horses.wildwest.dev", "identity", "v1")
)

func TestFirstDecision(t *testing.T) {
	virtual := func(o *binding.Offer) { o.Virtual = true }
	reserved := func(o *binding.Offer) { o.Reserved = true }
	missing := func(o *binding.Offer) { o.UID, o.Definition = "", nil }
	broken := func(o *binding.Offer) { o.Definition, o.Err = nil, errors.New("it is broken") }
	other := &apisv1alpha2.APIBinding{ObjectMeta: metav1.ObjectMeta{Name: "other"}}
	other.Spec.Reference.Export = &apisv1alpha2.ExportBindingReference{Path: "root:elsewhere", Name: "west"}
	other.Status.BoundResources = []apisv1alpha2.BoundAPIResource{todayCowboys}
	local := other.DeepCopy()
	local.Spec.Reference.Export.Path = ""
	others := func(b *apisv1alpha2.APIBinding) []binding.Rival {
		return binding.OfBinding(b, func(apisv1alpha2.BoundAPIResource) *schema.Definition { return definition(cowboys, "Cowboy", "v1") })
	}
	crd := &apiextensionsv1.CustomResourceDefinition{ObjectMeta: metav1.ObjectMeta{Name: "cowboys.wildwest.dev"}}
	crd.Spec.Group, crd.Spec.Names.Plural, crd.Status.AcceptedNames = cowboys.Group, "cowboys", namesOf("cowboys", "Cowboy")

	for name, tc := range map[string]struct {
		reason string
		export *binding.Export
		rivals []binding.Rival
		gone   bool
		// because is the reason of the condition t, with its severity; both conditions of
		// binding are True if it is empty.
		t        conditions.Type
		because  string
		severity conditions.Severity
		message  string
		bound    []apisv1alpha2.BoundAPIResource
		locks    binding.Locks
		waits    bool
	}{
		"Bound": {
			reason: "nothing is in the way", export: exportOf(offer(cowboys, "Cowboy"), offer(horses, "Horse")),
			bound: []apisv1alpha2.BoundAPIResource{todayCowboys, todayHorses},
			locks: binding.Locks{"cowboys.wildwest.dev": {Binding: "mine"}, "horses.wildwest.dev": {Binding: "mine"}},
		},
		"Nothing": {reason: "an export of nothing is bound at once", export: exportOf()},
		"NoExport": {
			reason: "there is none", t: apisv1alpha1.APIExportValid,
			because: apisv1alpha1.ReasonAPIExportNotFound, severity: conditions.SeverityError, message: "APIExport root:provider|wild not found",
		},
		"NoIdentity": {
			reason: "it is not known yet whose objects these are",
			export: func() *binding.Export {
				e := exportOf(offer(cowboys, "Cowboy"))
				e.Object.Status.IdentityHash = ""
				return e
			}(),
			t: apisv1alpha1.APIExportValid, because: apisv1alpha1.ReasonMissingIdentityHash, severity: conditions.SeverityWarning,
			message: "APIExport root:provider|wild is missing status.identityHash",
		},
		"NoSchema": {
			reason: "nothing is bound, not even what could be", export: exportOf(offer(horses, "Horse"), offer(cowboys, "Cowboy", missing)),
			t: apisv1alpha1.APIExportValid, because: apisv1alpha1.ReasonInternalError, severity: conditions.SeverityError,
			message: `Invalid APIExport. Please contact the APIExport owner to resolve: APIResourceSchema "today.cowboys.wildwest.dev" not found`,
		},
		"BrokenSchema": {
			reason: "the others are bound", export: exportOf(offer(cowboys, "Cowboy", broken), offer(horses, "Horse")),
			t: apisv1alpha1.InitialBindingCompleted, because: apisv1alpha1.ReasonAPIResourceSchemaInvalid, severity: conditions.SeverityError,
			message: `Invalid APIExport. Please contact the APIExport owner to resolve: APIResourceSchema "today.cowboys.wildwest.dev": it is broken`,
			bound:   []apisv1alpha2.BoundAPIResource{todayHorses},
			locks:   binding.Locks{"horses.wildwest.dev": {Binding: "mine"}},
		},
		"ClusterGone": {
			reason: "there is nothing to bind it into", export: exportOf(offer(cowboys, "Cowboy")), gone: true,
			t: apisv1alpha1.InitialBindingCompleted, because: apisv1alpha1.ReasonLogicalClusterNotFound, severity: conditions.SeverityError,
			message: "LogicalCluster not found",
		},
		"Virtual": {
			reason: "there is no virtual storage here", export: exportOf(offer(cowboys, "Cowboy", virtual)),
			t: apisv1alpha1.InitialBindingCompleted, because: apisv1alpha1.ReasonInternalError, severity: conditions.SeverityError,
			message: "Unable to bind APIs: cowboys.wildwest.dev has virtual storage, which this server does not serve",
		},
		"Reserved": {
			reason: "nobody else may offer the system's own APIs", export: exportOf(offer(cowboys, "Cowboy", reserved)),
			t: apisv1alpha1.InitialBindingCompleted, because: apisv1alpha1.ReasonNamingConflicts, severity: conditions.SeverityError,
			message: "Unable to bind APIs: naming conflict with the system API cowboys.wildwest.dev, which is reserved: spec.names.plural=cowboys is forbidden",
			waits:   true,
		},
		"BoundByAnother": {
			reason: "the first one keeps it, what is free is bound", export: exportOf(offer(cowboys, "Cowboy"), offer(horses, "Horse")), rivals: others(other),
			t: apisv1alpha1.InitialBindingCompleted, because: apisv1alpha1.ReasonNamingConflicts, severity: conditions.SeverityError,
			message: `Unable to bind APIs because they are bound by other APIBindings or CRDs: cowboys.wildwest.dev by APIBinding "other" bound to APIExport root:elsewhere:west`,
			bound:   []apisv1alpha2.BoundAPIResource{todayHorses},
			locks:   binding.Locks{"cowboys.wildwest.dev": {Binding: "other"}, "horses.wildwest.dev": {Binding: "mine"}},
			waits:   true,
		},
		"DefinedByTheWorkspace": {
			reason: "a definition keeps it", export: exportOf(offer(cowboys, "Cowboy")), rivals: []binding.Rival{binding.OfDefinition(crd, true)},
			t: apisv1alpha1.InitialBindingCompleted, because: apisv1alpha1.ReasonNamingConflicts, severity: conditions.SeverityError,
			message: `Unable to bind APIs because they are bound by other APIBindings or CRDs: cowboys.wildwest.dev by CustomResourceDefinition "cowboys.wildwest.dev"`,
			locks:   binding.Locks{"cowboys.wildwest.dev": {CRD: true}},
			waits:   true,
		},
		"NamesOfADefinition": {
			reason: "names are accepted before a definition is established", export: exportOf(offer(cowboys, "Cowboy")),
			rivals: []binding.Rival{binding.OfDefinition(crd, false)},
			t:      apisv1alpha1.InitialBindingCompleted, because: apisv1alpha1.ReasonNamingConflicts, severity: conditions.SeverityError,
			message: `Unable to bind APIs: naming conflict with CustomResourceDefinition "cowboys.wildwest.dev": spec.names.plural=cowboys is forbidden`,
			waits:   true,
		},
		"KindOfAnother": {
			reason: "a kind of a group is one resource", export: exportOf(offer(horses, "Cowboy")), rivals: others(other),
			t: apisv1alpha1.InitialBindingCompleted, because: apisv1alpha1.ReasonNamingConflicts, severity: conditions.SeverityError,
			message: `Unable to bind APIs: naming conflict with APIBinding "other" bound to APIExport root:elsewhere:west: spec.names.kind=Cowboy is forbidden`,
			locks:   binding.Locks{"cowboys.wildwest.dev": {Binding: "other"}},
			waits:   true,
		},
		"KindOfALocalExport": {
			reason: "an export of the same workspace has no path", export: exportOf(offer(horses, "Cowboy")), rivals: others(local),
			t: apisv1alpha1.InitialBindingCompleted, because: apisv1alpha1.ReasonNamingConflicts, severity: conditions.SeverityError,
			message: `Unable to bind APIs: naming conflict with APIBinding "other" bound to local APIExport "west": spec.names.kind=Cowboy is forbidden`,
			locks:   binding.Locks{"cowboys.wildwest.dev": {Binding: "other"}},
			waits:   true,
		},
		"KindInTheSameExport": {
			reason: "the first of the export has it", export: exportOf(offer(cowboys, "Cowboy"), offer(horses, "Cowboy")),
			t: apisv1alpha1.InitialBindingCompleted, because: apisv1alpha1.ReasonNamingConflicts, severity: conditions.SeverityError,
			message: `Unable to bind APIs: naming conflict with resource cowboys.wildwest.dev of the same APIExport: spec.names.kind=Cowboy is forbidden`,
			bound:   []apisv1alpha2.BoundAPIResource{todayCowboys},
			locks:   binding.Locks{"cowboys.wildwest.dev": {Binding: "mine"}},
			waits:   true,
		},
		"KindOfAnotherGroup": {
			reason: "groups have nothing to do with each other",
			export: exportOf(offer(apischema.GroupResource{Group: "tamewest.dev", Resource: "cowboys"}, "Cowboy")), rivals: others(other),
			bound: []apisv1alpha2.BoundAPIResource{entry(apischema.GroupResource{Group: "tamewest.dev", Resource: "cowboys"}, "today.cowboys.tamewest.dev", "identity", "v1")},
			locks: binding.Locks{"cowboys.wildwest.dev": {Binding: "other"}, "cowboys.tamewest.dev": {Binding: "mine"}},
		},
		"BuiltIn": {
			reason: "what is built in stays", export: exportOf(offer(apischema.GroupResource{Resource: "configmaps"}, "ConfigMap")),
			rivals: []binding.Rival{binding.BuiltIn(apischema.GroupResource{Resource: "configmaps"}, namesOf("configmaps", "ConfigMap"))},
			t:      apisv1alpha1.InitialBindingCompleted, because: apisv1alpha1.ReasonNamingConflicts, severity: conditions.SeverityError,
			message: "Unable to bind APIs: naming conflict with the built-in API configmaps: spec.names.plural=configmaps is forbidden",
			waits:   true,
		},
	} {
		t.Run(name, func(t *testing.T) {
			in := binding.Input{Cluster: consumer, Binding: newBinding(), Export: tc.export, Rivals: tc.rivals, ClusterGone: tc.gone, Now: now}
			before := in.Binding.DeepCopy()
			plan := binding.Decide(in)
			if diff := cmp.Diff(before, in.Binding); diff != "" {
				t.Errorf("the input is changed (-before +after):\n%s", diff)
			}
			b := plan.Binding
			if tc.because == "" {
				if b.Status.Phase != apisv1alpha2.APIBindingPhaseBound || !conditions.IsTrue(b, conditions.Ready) ||
					!conditions.IsTrue(b, apisv1alpha1.InitialBindingCompleted) || !conditions.IsTrue(b, apisv1alpha1.BindingUpToDate) {
					t.Errorf("%s: got %+v", tc.reason, b.Status)
				}
			} else {
				c, _ := conditions.Get(b, tc.t)
				want := conditions.Condition{Type: tc.t, Status: "False", Reason: tc.because, Severity: tc.severity, Message: tc.message, LastTransitionTime: now}
				if diff := cmp.Diff(want, c); diff != "" {
					t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
				}
				if b.Status.Phase != apisv1alpha2.APIBindingPhaseBinding || !conditions.IsFalse(b, conditions.Ready) {
					t.Errorf("%s: got %+v", tc.reason, b.Status)
				}
			}
			if diff := cmp.Diff(tc.bound, b.Status.BoundResources); diff != "" {
				t.Errorf("%s: what is bound (-want +got):\n%s", tc.reason, diff)
			}
			if diff := cmp.Diff(tc.locks, plan.Locks); len(tc.locks)+len(plan.Locks) > 0 && diff != "" {
				t.Errorf("%s: locks (-want +got):\n%s", tc.reason, diff)
			}
			if plan.Waits != tc.waits {
				t.Errorf("%s: waits %v", tc.reason, plan.Waits)
			}
			bound := map[apischema.GroupResource]*schema.Definition{}
			if tc.export != nil {
				for _, o := range tc.export.Offers {
					bound[o.Resource] = o.Definition
				}
			}
			in.Binding, in.Bound = b, bound
			if again := binding.Decide(in); again.Binding != b {
				t.Errorf("the second decision is another one:\n%s", cmp.Diff(b, again.Binding))
			}
		})
	}
}

func TestLaterDecisions(t *testing.T) {
	first := exportOf(offer(cowboys, "Cowboy"))
	tomorrow := func(version string) func(*binding.Offer) {
		return func(o *binding.Offer) {
			o.Schema, o.UID = "tomorrow.cowboys.wildwest.dev", "uid of tomorrow.cowboys.wildwest.dev"
			o.Definition = definition(cowboys, "Cowboy", version)
		}
	}
	renamed := func(o *binding.Offer) { tomorrow("v1")(o); o.Definition = definition(cowboys, "Rider", "v1") }
	newIdentity := exportOf(offer(cowboys, "Cowboy"))
	newIdentity.Object.Status.IdentityHash = "another"
	rider := binding.BuiltIn(apischema.GroupResource{Group: cowboys.Group, Resource: "riders"}, namesOf("riders", "Rider"))

	for name, tc := range map[string]struct {
		reason   string
		export   *binding.Export
		rivals   []binding.Rival
		claims   bool
		upToDate string
		bound    []apisv1alpha2.BoundAPIResource
	}{
		"Same":    {reason: "nothing has changed", export: first, bound: []apisv1alpha2.BoundAPIResource{todayCowboys}},
		"Swapped": {reason: "the names are the same, so nothing is claimed", export: exportOf(offer(cowboys, "Cowboy", tomorrow("v1"))), bound: []apisv1alpha2.BoundAPIResource{entry(cowboys, "tomorrow.cowboys.wildwest.dev", "identity", "v1")}},
		"StoredDifferently": {
			reason: "objects may be stored in the old version", export: exportOf(offer(cowboys, "Cowboy", tomorrow("v2"))),
			bound: []apisv1alpha2.BoundAPIResource{entry(cowboys, "tomorrow.cowboys.wildwest.dev", "identity", "v1", "v2")},
		},
		"Renamed": {
			reason: "the new names are free", export: exportOf(offer(cowboys, "Cowboy", renamed)), claims: true,
			bound: []apisv1alpha2.BoundAPIResource{entry(cowboys, "tomorrow.cowboys.wildwest.dev", "identity", "v1")},
		},
		"RenamedInVain": {
			reason: "the new names are not free, and the old API stays", export: exportOf(offer(cowboys, "Cowboy", renamed)), rivals: []binding.Rival{rider},
			claims: true, upToDate: apisv1alpha1.ReasonNamingConflicts, bound: []apisv1alpha2.BoundAPIResource{todayCowboys},
		},
		"More":        {reason: "what is new is bound", export: exportOf(offer(cowboys, "Cowboy"), offer(horses, "Horse")), claims: true, bound: []apisv1alpha2.BoundAPIResource{todayCowboys, todayHorses}},
		"Less":        {reason: "what is not offered any more stays", export: exportOf(), bound: []apisv1alpha2.BoundAPIResource{todayCowboys}},
		"NewIdentity": {reason: "these are other objects, in other versions", export: newIdentity, bound: []apisv1alpha2.BoundAPIResource{entry(cowboys, "today.cowboys.wildwest.dev", "another", "v1")}},
		"NotOfferedAnyMoreButBound": {
			reason: "its kind is in use", export: exportOf(offer(horses, "Cowboy")), claims: true, upToDate: apisv1alpha1.ReasonNamingConflicts,
			bound: []apisv1alpha2.BoundAPIResource{todayCowboys},
		},
	} {
		t.Run(name, func(t *testing.T) {
			b := boundTo(t, first)
			in := binding.Input{
				Cluster: consumer, Binding: b, Export: tc.export, Rivals: tc.rivals, Now: now,
				Bound: map[apischema.GroupResource]*schema.Definition{cowboys: definition(cowboys, "Cowboy", "v1")},
			}
			plan := binding.Decide(in)
			if plan.Claims != tc.claims || binding.Claims(in) != tc.claims {
				t.Errorf("%s: claims %v, asked for %v", tc.reason, plan.Claims, binding.Claims(in))
			}
			if diff := cmp.Diff(tc.bound, plan.Binding.Status.BoundResources); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
			if got := conditions.Reason(plan.Binding, apisv1alpha1.BindingUpToDate); got != tc.upToDate {
				t.Errorf("%s: up to date says %q, want %q", tc.reason, got, tc.upToDate)
			}
			if !conditions.IsTrue(plan.Binding, apisv1alpha1.InitialBindingCompleted) || plan.Binding.Status.Phase != apisv1alpha2.APIBindingPhaseBound {
				t.Errorf("%s: bound once, bound for good, got %+v", tc.reason, plan.Binding.Status)
			}
			if name == "Same" && plan.Binding != b {
				t.Errorf("%s:\n%s", tc.reason, cmp.Diff(b, plan.Binding))
			}
		})
	}
}

func TestMetadata(t *testing.T) {
	export := exportOf()
	export.Object.Annotations = map[string]string{"extra.apis.kcp.io/a": "b", "other": "x"}
	b := newBinding()
	b.Annotations = map[string]string{"extra.apis.kcp.io/old": "x", "mine": "y"}
	got := binding.Decide(binding.Input{Cluster: consumer, Binding: b, Export: export, Now: now}).Binding
	if diff := cmp.Diff(map[string]string{"extra.apis.kcp.io/a": "b", "mine": "y"}, got.Annotations); diff != "" {
		t.Errorf("annotations (-want +got):\n%s", diff)
	}
	if len(got.Labels) != 2 || len(got.Finalizers) != 1 || got.Finalizers[0] != apisv1alpha1.APIBindingFinalizer {
		t.Errorf("got %+v", got.ObjectMeta)
	}
	gone := binding.Decide(binding.Input{Cluster: consumer, Binding: got, Now: now}).Binding
	if diff := cmp.Diff(map[string]string{"mine": "y"}, gone.Annotations); diff != "" {
		t.Errorf("annotations when the export is gone (-want +got):\n%s", diff)
	}
}

// TestExtrasLeaveRoom: an object whose annotations are too large cannot be written any
// more, not even by its owner.
func TestExtrasLeaveRoom(t *testing.T) {
	const extra = "extra.apis.kcp.io/"
	big := func(bytes int) string { return strings.Repeat("x", bytes) }
	for name, tc := range map[string]struct {
		reason string
		export map[string]string
		own    int
		want   []string
	}{
		"Small":   {"what there is room for is there", map[string]string{extra + "a": big(30_000), extra + "b": big(30_000)}, 100_000, []string{extra + "a", extra + "b"}},
		"Large":   {"an export gets no more than its share", map[string]string{extra + "a": big(30_000), extra + "b": big(40_000), extra + "c": "c"}, 0, []string{extra + "a"}},
		"OwnOnes": {"what the owner has is more important", map[string]string{extra + "a": big(30_000), extra + "b": big(30_000)}, 220_000, []string{extra + "a"}},
	} {
		t.Run(name, func(t *testing.T) {
			export := exportOf()
			export.Object.Annotations = tc.export
			b := newBinding()
			b.Annotations = map[string]string{"mine": big(tc.own)}
			got := binding.Decide(binding.Input{Cluster: consumer, Binding: b, Export: export, Now: now}).Binding
			delete(got.Annotations, "mine")
			if diff := cmp.Diff(tc.want, slices.Sorted(maps.Keys(got.Annotations))); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}
