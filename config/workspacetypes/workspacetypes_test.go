package workspacetypes

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/util/sets"

	corev1alpha1 "github.com/forkless/kcp/pkg/apis/core/v1alpha1"
	tenancyv1alpha1 "github.com/forkless/kcp/pkg/apis/tenancy/v1alpha1"
	"github.com/forkless/kcp/pkg/logicalcluster"
)

func inRoot(names ...string) []tenancyv1alpha1.WorkspaceTypeReference {
	var refs []tenancyv1alpha1.WorkspaceTypeReference
	for _, name := range names {
		refs = append(refs, tenancyv1alpha1.WorkspaceTypeReference{Name: name, Path: "root"})
	}
	return refs
}

// extending returns the spec of a type that builds on universal.
func extending(child string) tenancyv1alpha1.WorkspaceTypeSpec {
	return tenancyv1alpha1.WorkspaceTypeSpec{
		Extend:                    tenancyv1alpha1.WorkspaceTypeExtension{With: inRoot("universal")},
		DefaultChildWorkspaceType: &inRoot(child)[0],
	}
}

func TestFor(t *testing.T) {
	universal := tenancyv1alpha1.WorkspaceTypeSpec{
		Initializer:               true,
		DefaultChildWorkspaceType: &inRoot("universal")[0],
		DefaultAPIBindings: []tenancyv1alpha1.APIExportReference{
			{Path: "root", Export: "tenancy.kcp.io"},
			{Path: "root", Export: "topology.kcp.io"},
		},
	}
	orphan := func(child string) tenancyv1alpha1.WorkspaceTypeSpec {
		spec := extending(child)
		spec.LimitAllowedParents = &tenancyv1alpha1.WorkspaceTypeSelector{None: true}
		return spec
	}
	organization := extending("universal")
	organization.LimitAllowedChildren = &tenancyv1alpha1.WorkspaceTypeSelector{Types: inRoot("universal")}
	organization.LimitAllowedParents = &tenancyv1alpha1.WorkspaceTypeSelector{Types: inRoot("root")}
	team := extending("universal")
	team.LimitAllowedParents = &tenancyv1alpha1.WorkspaceTypeSelector{Types: inRoot("organization", "team")}

	inBucket := extending("universal")
	inBucket.LimitAllowedParents = &tenancyv1alpha1.WorkspaceTypeSelector{Types: inRoot("homebucket")}
	onlyTenancy := []tenancyv1alpha1.APIExportReference{{Path: "root", Export: "tenancy.kcp.io"}}
	homeroot := tenancyv1alpha1.WorkspaceTypeSpec{
		DefaultAPIBindings:        onlyTenancy,
		DefaultChildWorkspaceType: &inRoot("homebucket")[0],
		LimitAllowedChildren:      &tenancyv1alpha1.WorkspaceTypeSelector{Types: inRoot("homebucket")},
		LimitAllowedParents:       &tenancyv1alpha1.WorkspaceTypeSelector{Types: inRoot("root")},
	}
	homebucket := tenancyv1alpha1.WorkspaceTypeSpec{
		DefaultAPIBindings:        onlyTenancy,
		DefaultChildWorkspaceType: &inRoot("home")[0],
		LimitAllowedChildren:      &tenancyv1alpha1.WorkspaceTypeSelector{Types: inRoot("homebucket", "home")},
		LimitAllowedParents:       &tenancyv1alpha1.WorkspaceTypeSelector{Types: inRoot("homebucket", "homeroot")},
	}

	cases := map[string]struct {
		reason    string
		batteries []string
		buckets   bool
		want      map[string]tenancyv1alpha1.WorkspaceTypeSpec
	}{
		"None": {
			reason: "what always is there; root's children are universal",
			want: map[string]tenancyv1alpha1.WorkspaceTypeSpec{
				"home": orphan("universal"), "root": orphan("universal"), "universal": universal,
			},
		},
		"Default": {
			reason:    "with the battery, root's children are organizations",
			batteries: []string{"admin", Battery},
			want: map[string]tenancyv1alpha1.WorkspaceTypeSpec{
				"home": orphan("universal"), "root": orphan("organization"), "universal": universal,
				"organization": organization, "team": team,
			},
		},
		"BucketedHomes": {
			reason:  "homes in buckets have a parent, and buckets have types of their own",
			buckets: true,
			want: map[string]tenancyv1alpha1.WorkspaceTypeSpec{
				"home": inBucket, "homebucket": homebucket, "homeroot": homeroot, "root": orphan("universal"), "universal": universal,
			},
		},
		"DirectoryIsNoBattery": {
			reason:    "the names of directories are not batteries",
			batteries: []string{always, homeBuckets},
			want: map[string]tenancyv1alpha1.WorkspaceTypeSpec{
				"home": orphan("universal"), "root": orphan("universal"), "universal": universal,
			},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			types, err := For(Choice{Batteries: sets.New(tc.batteries...), BucketedHomes: tc.buckets})
			if err != nil {
				t.Fatal(err)
			}
			got := map[string]tenancyv1alpha1.WorkspaceTypeSpec{}
			for _, workspaceType := range types {
				got[workspaceType.Name] = workspaceType.Spec
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

func TestMetadata(t *testing.T) {
	types, err := For(Choice{Batteries: sets.New(Battery)})
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]map[string]string{}
	for _, workspaceType := range types {
		got[workspaceType.Name] = workspaceType.Annotations
		if gvk := workspaceType.GroupVersionKind(); gvk != tenancyv1alpha1.GroupVersion.WithKind("WorkspaceType") {
			t.Errorf("%s is a %s", workspaceType.Name, gvk)
		}
	}
	const path, root = logicalcluster.PathAnnotationKey, "root"
	want := map[string]map[string]string{
		"home":         {path: root},
		"universal":    {path: root},
		"root":         {path: root, corev1alpha1.CreateOnlyAnnotationKey: "true"},
		"organization": {path: root, corev1alpha1.BatteryAnnotationKey: Battery},
		"team":         {path: root, corev1alpha1.BatteryAnnotationKey: Battery},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("annotations (-want +got):\n%s", diff)
	}
}
