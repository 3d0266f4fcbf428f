package workspacetypeexists_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/authentication/user"

	"github.com/forkless/kcp/internal/admission/admissiontest"
	"github.com/forkless/kcp/internal/admission/workspacetypeexists"
	"github.com/forkless/kcp/internal/tenancy/tenancytest"
	tenancyv1alpha1 "github.com/forkless/kcp/pkg/apis/tenancy/v1alpha1"
)

type (
	spec = tenancyv1alpha1.WorkspaceTypeSpec
	ref  = tenancyv1alpha1.WorkspaceTypeReference
)

// everybody may use the types of root that the bootstrap policy gives to everybody.
var everybody = admissiontest.Grants{
	"root use workspacetypes/universal", "root use workspacetypes/organization", "root use workspacetypes/team",
}

func tree(t testing.TB) *tenancytest.Tree {
	t.Helper()
	tree := tenancytest.New(t)
	tree.AddCluster("root:org", "root:organization")
	tree.AddCluster("root:org:app", "root:universal")
	tree.AddCluster("root:leaf", "root:leaf")
	tree.AddCluster("root:untyped", "root:gone")
	tree.AddTypeSpec("root", "leaf", spec{LimitAllowedChildren: &tenancyv1alpha1.WorkspaceTypeSelector{None: true}})
	tree.AddTypeSpec("root:org", "labelled", spec{
		AdditionalWorkspaceLabels: map[string]string{"tier": "gold", "mine": "type's"},
		Extend:                    tenancyv1alpha1.WorkspaceTypeExtension{With: []ref{{Name: "base"}}},
	})
	tree.AddTypeSpec("root:org", "base", spec{
		AdditionalWorkspaceLabels: map[string]string{"base": "yes"},
		Extend:                    tenancyv1alpha1.WorkspaceTypeExtension{With: []ref{{Name: "universal"}}},
	})
	tree.AddTypeSpec("root:org", "loop", spec{Extend: tenancyv1alpha1.WorkspaceTypeExtension{With: []ref{{Name: "loop"}}}})
	return tree
}

// create is a request for a workspace with a spec and the label mine.
func create(spec map[string]any, who user.Info) admissiontest.Request {
	return admissiontest.Request{
		Resource:  tenancyv1alpha1.GroupVersion.WithResource("workspaces"),
		Kind:      "Workspace",
		Operation: admission.Create,
		User:      who,
		Object: &unstructured.Unstructured{Object: map[string]any{
			"metadata": map[string]any{"name": "new", "labels": map[string]any{"mine": "kept"}},
			"spec":     spec,
		}},
	}
}

func TestAdmit(t *testing.T) {
	id := tenancytest.ClusterAt("root:org").String()
	cases := map[string]struct {
		reason string
		parent string
		spec   map[string]any
		want   map[string]any
		labels map[string]string
		denied string
	}{
		"DefaultInRoot": {
			reason: "root has organizations by default", parent: "root",
			spec: map[string]any{}, want: map[string]any{"name": "organization", "path": "root"},
		},
		"DefaultInOrganization": {
			reason: "an organization universal workspaces", parent: "root:org",
			spec: map[string]any{}, want: map[string]any{"name": "universal", "path": "root"},
		},
		"EmptyName": {
			reason: "an empty name is none", parent: "root:org",
			spec: map[string]any{"type": map[string]any{"name": ""}}, want: map[string]any{"name": "universal", "path": "root"},
		},
		"SearchUpwards": {
			reason: "where the type was found is written down", parent: "root:org:app",
			spec: map[string]any{"type": map[string]any{"name": "base"}}, want: map[string]any{"name": "base", "path": "root:org"},
			labels: map[string]string{"base": "yes"},
		},
		"PathKept": {
			reason: "a cluster name as path is stored as it was given", parent: "root",
			spec: map[string]any{"type": map[string]any{"name": "base", "path": id}}, want: map[string]any{"name": "base", "path": id},
			labels: map[string]string{"base": "yes"},
		},
		"Labels": {
			reason: "labels come from the type itself, not from its bases, and do not replace any", parent: "root:org",
			spec: map[string]any{"type": map[string]any{"name": "labelled"}}, want: map[string]any{"name": "labelled", "path": "root:org"},
			labels: map[string]string{"tier": "gold"},
		},
		"UnknownFieldsStay": {
			reason: "other fields are left alone", parent: "root:org",
			spec: map[string]any{"location": map[string]any{"selector": map[string]any{}}}, want: map[string]any{"name": "universal", "path": "root"},
		},
		"Missing": {
			reason: "a type that is not there is forbidden, not missing", parent: "root",
			spec: map[string]any{"type": map[string]any{"name": "gone"}}, denied: `workspace type "gone" not found`,
		},
		"MissingAtPath": {
			reason: "with a path as well", parent: "root",
			spec: map[string]any{"type": map[string]any{"name": "gone", "path": "root:org"}}, denied: `workspace type "gone" not found`,
		},
		"ParentUnresolvable": {
			reason: "the default of an unknown type is not known", parent: "root:untyped",
			spec: map[string]any{}, denied: `"gone" not found`,
		},
		"NoParent": {
			reason: "there must be a workspace to create it in", parent: "root:nowhere",
			spec: map[string]any{}, denied: "no logical cluster",
		},
		"Mount": {
			reason: "a mounted workspace gets no type", parent: "root",
			spec: map[string]any{"mount": map[string]any{"ref": map[string]any{"kind": "K"}}},
		},
		"Nonsense": {
			reason: "what cannot be read is left to the schema", parent: "root",
			spec: map[string]any{"type": "organization"},
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			tree := tree(t)
			plugin := workspacetypeexists.New(tree.Resolver(), tree.Clusters(), everybody)
			r := create(c.spec, nil)
			err := plugin.Admit(admissiontest.In(t, tenancytest.ClusterAt(c.parent)), r.Attributes(), nil)
			admissiontest.Check(t, c.reason, err, c.denied)
			if c.want == nil {
				return
			}
			object := r.Object.(*unstructured.Unstructured)
			got, _, err := unstructured.NestedMap(object.Object, "spec", "type")
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("%s: spec.type (-want +got):\n%s", c.reason, diff)
			}
			labels := map[string]string{"mine": "kept"}
			for key, value := range c.labels {
				labels[key] = value
			}
			if diff := cmp.Diff(labels, object.GetLabels()); diff != "" {
				t.Errorf("%s: labels (-want +got):\n%s", c.reason, diff)
			}
			if _, ok := c.spec["location"]; ok {
				if _, ok, _ := unstructured.NestedMap(object.Object, "spec", "location", "selector"); !ok {
					t.Errorf("%s: the location is gone", c.reason)
				}
			}
		})
	}
}

func TestValidate(t *testing.T) {
	org := tenancytest.ClusterAt("root:org").String()
	cases := map[string]struct {
		reason string
		parent string
		ref    ref
		user   user.Info
		grants admissiontest.Grants
		denied string
	}{
		"Default":       {reason: "everybody may use what comes with the installation", parent: "root", ref: ref{Name: "organization", Path: "root"}},
		"AliasAllowed":  {reason: "a team is universal as far as organizations care", parent: "root:org", ref: ref{Name: "team", Path: "root"}},
		"WrongParent":   {reason: "teams do not belong into root", parent: "root", ref: ref{Name: "team", Path: "root"}, denied: "root:team only allows parents"},
		"NestedOrg":     {reason: "nor organizations into one", parent: "root:org", ref: ref{Name: "organization", Path: "root"}, denied: "root:organization only allows parents"},
		"Home":          {reason: "homes are made in another way", parent: "root", ref: ref{Name: "home", Path: "root"}, user: admissiontest.Masters(), denied: "root:home allows no parents"},
		"NoChildren":    {reason: "limits bind the privileged too", parent: "root:leaf", ref: ref{Name: "universal", Path: "root"}, user: admissiontest.Masters(), denied: "root:leaf allows no children"},
		"NotUsable":     {reason: "a type needs use", parent: "root:org", ref: ref{Name: "base", Path: "root:org"}, denied: `unable to use workspacetype root:org:base: missing verb "use"`},
		"BaseNotUsable": {reason: "so does each of its bases", parent: "root:org", ref: ref{Name: "labelled", Path: "root:org"}, grants: admissiontest.Grants{org + " use workspacetypes/labelled"}, denied: "root:org:base"},
		"AllUsable": {
			reason: "use where the types are is enough", parent: "root:org", ref: ref{Name: "labelled", Path: "root:org"},
			grants: admissiontest.Grants{org + " use workspacetypes/labelled", org + " use workspacetypes/base"},
		},
		"Privileged":    {reason: "the privileged use anything", parent: "root:org", ref: ref{Name: "base", Path: "root:org"}, user: admissiontest.Masters()},
		"Cycle":         {reason: "circles are found here", parent: "root:org", ref: ref{Name: "loop", Path: "root:org"}, user: admissiontest.Masters(), denied: "root:org:loop -> root:org:loop"},
		"Missing":       {reason: "a type that went away meanwhile", parent: "root:org", ref: ref{Name: "gone", Path: "root"}, denied: `"gone" not found`},
		"NoPath":        {reason: "a webhook must not take the path away", parent: "root", ref: ref{Name: "organization"}, denied: "spec.type must be set"},
		"ParentUnknown": {reason: "limits of an unknown type are not known", parent: "root:untyped", ref: ref{Name: "universal", Path: "root"}, denied: `"gone" not found`},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			tree := tree(t)
			plugin := workspacetypeexists.New(tree.Resolver(), tree.Clusters(), append(c.grants, everybody...))
			reference := map[string]any{"name": c.ref.Name}
			if c.ref.Path != "" {
				reference["path"] = c.ref.Path
			}
			r := create(map[string]any{"type": reference}, c.user)
			err := plugin.Validate(admissiontest.In(t, tenancytest.ClusterAt(c.parent)), r.Attributes(), nil)
			admissiontest.Check(t, c.reason, err, c.denied)
		})
	}
}

func BenchmarkCreate(b *testing.B) {
	tree := tree(b)
	plugin := workspacetypeexists.New(tree.Resolver(), tree.Clusters(), everybody)
	ctx := admissiontest.In(b, tenancytest.ClusterAt("root:org"))
	b.ReportAllocs()
	for b.Loop() {
		attributes := create(map[string]any{}, nil).Attributes()
		if err := plugin.Admit(ctx, attributes, nil); err != nil {
			b.Fatal(err)
		}
		if err := plugin.Validate(ctx, attributes, nil); err != nil {
			b.Fatal(err)
		}
	}
}
