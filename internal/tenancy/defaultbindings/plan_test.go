package defaultbindings_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	apischema "k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apiserver/pkg/authentication/user"

	"github.com/forkless/kcp/internal/binding"
	"github.com/forkless/kcp/internal/exportref"
	"github.com/forkless/kcp/internal/schema"
	"github.com/forkless/kcp/internal/tenancy/defaultbindings"
	"github.com/forkless/kcp/internal/tenancy/tenancytest"
	apisv1alpha1 "github.com/forkless/kcp/pkg/apis/apis/v1alpha1"
	apisv1alpha2 "github.com/forkless/kcp/pkg/apis/apis/v1alpha2"
	"github.com/forkless/kcp/pkg/apis/conditions"
	corev1alpha1 "github.com/forkless/kcp/pkg/apis/core/v1alpha1"
	tenancyv1alpha1 "github.com/forkless/kcp/pkg/apis/tenancy/v1alpha1"
	"github.com/forkless/kcp/pkg/logicalcluster"
	"github.com/forkless/kcp/pkg/tenancy"
)

// world is what a Planner reads: all exports are in root:provider. It implements the
// readers completely, in memory.
type world struct {
	exports map[string]*apisv1alpha2.APIExport
	schemas map[string]*apisv1alpha1.APIResourceSchema
	// bound are the UIDs of the schemas that somebody has bound.
	bound map[string]bool
	// reserved are resources that are the system's own.
	reserved map[string]bool
	// binders are the users who may bind.
	binders map[string]bool
	tree    *tenancytest.Tree
}

var provider = tenancytest.ClusterAt("root:provider")

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{
		exports: map[string]*apisv1alpha2.APIExport{}, schemas: map[string]*apisv1alpha1.APIResourceSchema{},
		bound: map[string]bool{}, reserved: map[string]bool{}, binders: map[string]bool{"alice": true}, tree: tenancytest.New(t),
	}
	w.tree.AddCluster("root:provider", "root:universal")
	return w
}

// export adds an export of resources, which nobody has bound before if unbound is set.
func (w *world) export(name string, unbound bool, resources ...string) *apisv1alpha2.APIExport {
	export := &apisv1alpha2.APIExport{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Status:     apisv1alpha2.APIExportStatus{IdentityHash: "identity-of-" + name},
	}
	for _, resource := range resources {
		uid := name + "-" + resource
		kind := strings.ToUpper(resource[:1]) + strings.TrimSuffix(resource[1:], "s")
		described := "v1." + resource + "." + name + ".dev"
		export.Spec.Resources = append(export.Spec.Resources, apisv1alpha2.ResourceSchema{Group: "wildwest.dev", Name: resource, Schema: described})
		w.schemas[described] = &apisv1alpha1.APIResourceSchema{
			ObjectMeta: metav1.ObjectMeta{Name: described, UID: types.UID(uid), ResourceVersion: "1"},
			Spec: apisv1alpha1.APIResourceSchemaSpec{
				Group: "wildwest.dev", Scope: apiextensionsv1.NamespaceScoped,
				Names: apiextensionsv1.CustomResourceDefinitionNames{
					Plural: resource, Singular: strings.TrimSuffix(resource, "s"), Kind: kind, ListKind: kind + "List",
				},
				Versions: []apisv1alpha1.APIResourceVersion{{
					Name: "v1", Served: true, Storage: true, Schema: runtime.RawExtension{Raw: []byte(`{"type":"object"}`)},
				}},
			},
		}
		w.bound[uid] = !unbound
	}
	w.exports[name] = export
	return export
}

func (w *world) Export(_ context.Context, cluster logicalcluster.Name, name string) (*apisv1alpha2.APIExport, error) {
	if export, ok := w.exports[name]; ok && cluster == provider {
		return export, nil
	}
	return nil, apierrors.NewNotFound(apischema.GroupResource{Resource: "apiexports"}, name)
}

func (w *world) Schema(_ context.Context, cluster logicalcluster.Name, name string) (*apisv1alpha1.APIResourceSchema, error) {
	if described, ok := w.schemas[name]; ok && cluster == provider {
		return described, nil
	}
	return nil, apierrors.NewNotFound(apischema.GroupResource{Resource: "apiresourceschemas"}, name)
}

func (w *world) Conversion(_ context.Context, _ logicalcluster.Name, name string) (*apisv1alpha1.APIConversion, error) {
	return nil, apierrors.NewNotFound(apischema.GroupResource{Resource: "apiconversions"}, name)
}

func (w *world) OfSchema(s *apisv1alpha1.APIResourceSchema, cluster logicalcluster.Name, conversion *apisv1alpha1.APIConversion) (*schema.Definition, error) {
	crd, err := schema.BoundCRD(s, cluster, conversion)
	if err != nil {
		return nil, err
	}
	return schema.New(crd)
}

func (w *world) Has(_ context.Context, cluster logicalcluster.Name, name string) (bool, error) {
	return cluster == logicalcluster.BoundCRDs && w.bound[name], nil
}

func (w *world) Storage(resource apischema.GroupResource, identityHash string) (string, bool) {
	return identityHash, !w.reserved[resource.Resource]
}

func (w *world) planner() *defaultbindings.Planner {
	return &defaultbindings.Planner{
		APIs: w, Definitions: w, Stored: w, Identities: w,
		Reserved:   func(logicalcluster.Name, string) []binding.Rival { return nil },
		References: exportref.NewResolver(w.tree.Paths(), w),
		MayBind: func(_ context.Context, _ logicalcluster.Name, _ string, who user.Info) (bool, error) {
			return w.binders[who.GetName()], nil
		},
	}
}

var now = metav1.NewTime(time.Date(2026, 1, 2, 3, 4, 5, 6, time.UTC))

func wanting(exports ...string) defaultbindings.Input {
	uids := 0
	in := defaultbindings.Input{
		Consumer: tenancy.Place{Cluster: logicalcluster.MustParseName("consumer"), Path: logicalcluster.MustParsePath("root:consumer")},
		Who:      &user.DefaultInfo{Name: "alice"}, Decide: true, Now: now,
		NewUID: func() types.UID {
			uids++
			return types.UID(fmt.Sprintf("uid-%d", uids))
		},
	}
	for _, name := range exports {
		in.Wanted = append(in.Wanted, defaultbindings.Wanted{Binding: "of-" + name, Path: "root:provider", Export: name})
	}
	return in
}

func TestPlan(t *testing.T) {
	type outcome struct {
		// Phases are those of the bindings to be made, Served how many resources they give.
		Phases map[string]apisv1alpha2.APIBindingPhase
		Served map[string]int
		Locks  binding.Locks
		// Waits is the reason for which the workspace waits, Problem part of the message.
		Waits, Problem string
	}
	const bound = apisv1alpha2.APIBindingPhaseBound
	cowboysBy := func(name string) binding.Locks { return binding.Locks{"cowboys.wildwest.dev": {Binding: name}} }
	for name, test := range map[string]struct {
		reason string
		world  func(*world)
		in     func() defaultbindings.Input
		want   outcome
	}{
		"Bound": {
			reason: "what somebody has bound before is bound at once",
			world:  func(w *world) { w.export("a", false, "cowboys") },
			in:     func() defaultbindings.Input { return wanting("a") },
			want: outcome{
				Phases: map[string]apisv1alpha2.APIBindingPhase{"of-a": bound}, Served: map[string]int{"of-a": 1}, Locks: cowboysBy("of-a"),
			},
		},
		"First": {
			reason: "the definition of what nobody has bound before has to be stored by the controller of bindings",
			world:  func(w *world) { w.export("a", true, "cowboys") },
			in:     func() defaultbindings.Input { return wanting("a") },
			want: outcome{
				Phases: map[string]apisv1alpha2.APIBindingPhase{"of-a": ""}, Served: map[string]int{"of-a": 0}, Locks: binding.Locks{},
				Waits: corev1alpha1.ReasonWaitingOnAPIBindings, Problem: "of-a",
			},
		},
		"Undecided": {
			reason: "in a workspace that is there others may take things at the same time",
			world:  func(w *world) { w.export("a", false, "cowboys") },
			in: func() defaultbindings.Input {
				in := wanting("a")
				in.Decide = false
				return in
			},
			want: outcome{
				Phases: map[string]apisv1alpha2.APIBindingPhase{"of-a": ""}, Served: map[string]int{"of-a": 0}, Locks: binding.Locks{},
				Waits: corev1alpha1.ReasonWaitingOnAPIBindings, Problem: "of-a",
			},
		},
		"Conflict": {
			reason: "of two that give the same the first has it, and the second waits",
			world: func(w *world) {
				w.export("a", false, "cowboys")
				w.export("b", false, "cowboys", "horses")
			},
			in: func() defaultbindings.Input { return wanting("a", "b") },
			want: outcome{
				Phases: map[string]apisv1alpha2.APIBindingPhase{"of-a": bound, "of-b": ""}, Served: map[string]int{"of-a": 1, "of-b": 0},
				Locks: cowboysBy("of-a"), Waits: corev1alpha1.ReasonWaitingOnAPIBindings, Problem: "of-b",
			},
		},
		"Reserved": {
			reason: "nobody's export gives what is the system's own",
			world: func(w *world) {
				w.export("a", false, "cowboys")
				w.reserved["cowboys"] = true
			},
			in: func() defaultbindings.Input { return wanting("a") },
			want: outcome{
				Phases: map[string]apisv1alpha2.APIBindingPhase{"of-a": ""}, Served: map[string]int{"of-a": 0}, Locks: binding.Locks{},
				Waits: corev1alpha1.ReasonWaitingOnAPIBindings, Problem: "of-a",
			},
		},
		"Missing": {
			reason: "an export that is not there is a problem, and the others are bound",
			world:  func(w *world) { w.export("a", false, "cowboys") },
			in:     func() defaultbindings.Input { return wanting("gone", "a") },
			want: outcome{
				Phases: map[string]apisv1alpha2.APIBindingPhase{"of-a": bound}, Served: map[string]int{"of-a": 1}, Locks: cowboysBy("of-a"),
				Waits: corev1alpha1.ReasonAPIBindingErrors, Problem: "APIExport root:provider|gone not found",
			},
		},
		"Forbidden": {
			reason: "nothing is bound that the creator may not bind",
			world:  func(w *world) { w.export("a", false, "cowboys") },
			in: func() defaultbindings.Input {
				in := wanting("a")
				in.Who = &user.DefaultInfo{Name: "mallory"}
				return in
			},
			want: outcome{
				Locks: binding.Locks{}, Waits: corev1alpha1.ReasonAPIBindingErrors, Problem: "no permission to bind to export root:provider:a",
			},
		},
		"Nowhere": {
			reason: "a path that leads nowhere is as forbidden, so that nobody learns which there are",
			world:  func(*world) {},
			in: func() defaultbindings.Input {
				in := wanting("a")
				in.Wanted[0].Path = "root:nowhere"
				return in
			},
			want: outcome{
				Locks: binding.Locks{}, Waits: corev1alpha1.ReasonAPIBindingErrors, Problem: "no permission to bind to export root:nowhere:a",
			},
		},
		"Server": {
			reason: "the server binds for itself what it wants",
			world:  func(w *world) { w.export("a", false, "cowboys") },
			in: func() defaultbindings.Input {
				in := wanting("a")
				in.Who = nil
				return in
			},
			want: outcome{
				Phases: map[string]apisv1alpha2.APIBindingPhase{"of-a": bound}, Served: map[string]int{"of-a": 1}, Locks: cowboysBy("of-a"),
			},
		},
		"Existing": {
			reason: "a binding of that name stays as it is, and is waited for",
			world:  func(w *world) { w.export("a", false, "cowboys") },
			in: func() defaultbindings.Input {
				in := wanting("a")
				in.Existing = []apisv1alpha2.APIBinding{{ObjectMeta: metav1.ObjectMeta{Name: "of-a"}}}
				return in
			},
			want: outcome{Locks: binding.Locks{}, Waits: corev1alpha1.ReasonWaitingOnAPIBindings, Problem: "of-a"},
		},
		"Claims": {
			reason: "claims are accepted, and have to be in force before the workspace is ready",
			world: func(w *world) {
				w.export("a", false, "cowboys").Spec.PermissionClaims = []apisv1alpha2.PermissionClaim{{
					GroupResource: apisv1alpha2.GroupResource{Resource: "secrets"}, Verbs: []string{"*"},
				}}
			},
			in: func() defaultbindings.Input { return wanting("a") },
			want: outcome{
				Phases: map[string]apisv1alpha2.APIBindingPhase{"of-a": bound}, Served: map[string]int{"of-a": 1}, Locks: cowboysBy("of-a"),
				Waits: corev1alpha1.ReasonWaitingOnAPIBindings, Problem: "of-a",
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			test.world(w)
			plan, err := w.planner().Plan(t.Context(), test.in())
			if err != nil {
				t.Fatal(err)
			}
			got := outcome{Locks: plan.Locks}
			for _, made := range plan.Bindings {
				if got.Phases == nil {
					got.Phases, got.Served = map[string]apisv1alpha2.APIBindingPhase{}, map[string]int{}
				}
				got.Phases[made.Object.Name], got.Served[made.Object.Name] = made.Object.Status.Phase, len(made.Served)
			}
			if waits := plan.Waiting(now); waits != nil {
				got.Waits, got.Problem = waits.Reason, test.want.Problem
				if !strings.Contains(waits.Message, test.want.Problem) {
					t.Errorf("%s: the message is %q", test.reason, waits.Message)
				}
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", test.reason, diff)
			}
		})
	}
}

func TestBornBindingIsComplete(t *testing.T) {
	w := newWorld(t)
	w.export("a", false, "cowboys")
	plan, err := w.planner().Plan(t.Context(), wanting("a"))
	if err != nil {
		t.Fatal(err)
	}
	b := plan.Bindings[0].Object
	if b.UID != "uid-1" || !b.CreationTimestamp.Equal(&metav1.Time{Time: now.Rfc3339Copy().Time}) || b.Generation != 1 {
		t.Errorf("metadata is not complete: %+v", b.ObjectMeta)
	}
	for _, c := range []conditions.Type{
		"Ready", apisv1alpha1.APIExportValid, apisv1alpha1.InitialBindingCompleted, apisv1alpha1.BindingUpToDate,
		apisv1alpha1.PermissionClaimsValid, apisv1alpha1.PermissionClaimsApplied,
	} {
		if !conditions.IsTrue(b, c) {
			t.Errorf("%s is not True: %v", c, b.Status.Conditions)
		}
	}
	served := plan.Bindings[0].Served[0]
	want := schema.Export{Cluster: provider, Name: "a", IdentityHash: "identity-of-a"}
	if served.Export != want || served.Identity != "identity-of-a" {
		t.Errorf("served from %+v as %q", served.Export, served.Identity)
	}
}

func TestOfType(t *testing.T) {
	tree := tenancytest.New(t)
	tree.AddCluster("root:org", "root:organization")
	tree.AddTypeSpec("root:org", "own", tenancyv1alpha1.WorkspaceTypeSpec{
		Extend: tenancyv1alpha1.WorkspaceTypeExtension{With: []tenancyv1alpha1.WorkspaceTypeReference{{Name: "universal", Path: "root"}}},
		DefaultAPIBindings: []tenancyv1alpha1.APIExportReference{
			{Export: "mine"}, {Path: "root", Export: "tenancy.kcp.io"}, {Export: strings.Repeat("x", 250)},
		},
	})
	set, err := tree.Resolver().Resolve(t.Context(), tenancytest.PlaceAt("root:org"), tenancyv1alpha1.WorkspaceTypeReference{Name: "own"})
	if err != nil {
		t.Fatal(err)
	}
	var got [][2]string
	for _, wanted := range defaultbindings.OfType(set, logicalcluster.MustParseName("consumer")) {
		got = append(got, [2]string{wanted.Path, wanted.Export})
		if len(wanted.Binding) > 253 {
			t.Errorf("%s is too long for a name", wanted.Binding)
		}
	}
	own := tenancytest.ClusterAt("root:org").String()
	want := [][2]string{
		{"root", "tenancy.kcp.io"}, {"root", "topology.kcp.io"}, {own, "mine"}, {own, strings.Repeat("x", 250)},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("what extended types bind comes first, each once (-want +got):\n%s", diff)
	}
}
