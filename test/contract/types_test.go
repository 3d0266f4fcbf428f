package contract

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	tenancyv1alpha1 "github.com/forkless/kcp/pkg/apis/tenancy/v1alpha1"
)

var types = map[string]behavior{
	"Plain":              {"row 12: a type that extends nothing makes a workspace without namespaces", plainType},
	"Unknown":            {"row 17: a type that is not there is refused, and accepted once it is there", unknownType},
	"OfAncestor":         {"row 18: types are searched upwards, and the place where one was found is kept", typeOfAncestor},
	"ByCluster":          {"row 19: the place of a type may be the name of a cluster, and is kept as given", typeByCluster},
	"Use":                {"row 20: a type takes the verb use in its workspace, and no access to that", useOfType},
	"UseOfExtended":      {"row 21: use is needed on every type that a type extends", useOfExtended},
	"BuiltInLimits":      {"row 22: organizations are in root only, teams never, homes are nowhere created", builtInLimits},
	"ExtendingUniversal": {"row 23: what extends a type counts as that type where parents limit children", extendingUniversal},
	"NoChildren":         {"row 24: a type may forbid all children", noChildren},
	"Circular":           {"row 25: types in a circle can be written, and not used", circularTypes},
	"ReservedNames":      {"row 26: names with a meaning cannot be taken", reservedNames},
	"BadLimits":          {"row 27: limits that mean nothing are refused", badLimits},
	"Defaults":           {"row 28: the default child type is that of the schema", typeDefaults},
	"AdditionalLabels":   {"row 64: labels of a type are put on workspaces that do not have them", additionalLabels},
}

func plainType(t *testing.T, s *suite) {
	path := s.universal(t, aliceName)
	parent := s.as(t, alice, path)
	_, err := parent.newType("plain", tenancyv1alpha1.WorkspaceTypeSpec{})
	ok(t, err)
	ws := parent.workspace(ofType(path, "plain"))
	_, err = s.as(t, alice, path+":"+ws.Name).kube().CoreV1().Namespaces().Get(t.Context(), "default", metav1.GetOptions{})
	refused(t, err, 404)
}

func unknownType(t *testing.T, s *suite) {
	path := s.universal(t, aliceName)
	parent := s.as(t, alice, path)
	_, err := parent.create(ofType("", "late"))
	refused(t, err, 403, "late")
	_, err = parent.create(ofType(path, "late"))
	refused(t, err, 403, "late")
	_, err = parent.newType("late", tenancyv1alpha1.WorkspaceTypeSpec{})
	ok(t, err)
	eventually(t, "the type can be used", func() error {
		_, err := parent.create(ofType("", "late"))
		return err
	})
	_, err = parent.create(ofType(path, "late"))
	ok(t, err)
}

func typeOfAncestor(t *testing.T, s *suite) {
	path := s.universal(t, aliceName)
	_, err := s.as(t, alice, path).newType("inherited", tenancyv1alpha1.WorkspaceTypeSpec{})
	ok(t, err)
	child := s.as(t, alice, path).workspace()
	eventually(t, "the type is found", func() error {
		ws, err := s.as(t, alice, path+":"+child.Name).create(ofType("", "inherited"))
		if err == nil && ws.Spec.Type.Path != path {
			t.Errorf("spec.type.path is %q, want %q", ws.Spec.Type.Path, path)
		}
		return err
	})
}

func typeByCluster(t *testing.T, s *suite) {
	path := s.universal(t, aliceName)
	parent := s.as(t, alice, path)
	_, err := parent.newType("here", tenancyv1alpha1.WorkspaceTypeSpec{})
	ok(t, err)
	cluster := parent.cluster().Annotations["kcp.io/cluster"]
	ws := parent.workspace(ofType(cluster, "here"))
	if ws.Spec.Type.Path != cluster {
		t.Errorf("spec.type.path is %q, want %q", ws.Spec.Type.Path, cluster)
	}
}

func useOfType(t *testing.T, s *suite) {
	place := s.universal(t)
	inPlace := s.as(t, s.admin, place)
	_, err := inPlace.newType("guarded", tenancyv1alpha1.WorkspaceTypeSpec{})
	ok(t, err)
	parent := s.as(t, alice, s.universal(t, aliceName))
	_, err = parent.create(ofType(place, "guarded"))
	refused(t, err, 403, "use", "guarded")
	inPlace.allow(user(aliceName), useRule("guarded"))
	eventually(t, "the type can be used", func() error {
		_, err := parent.create(ofType(place, "guarded"))
		return err
	})
	_, err = s.as(t, alice, place).types().Get(t.Context(), "guarded", metav1.GetOptions{})
	refused(t, err, 403, "access denied")
}

func useOfExtended(t *testing.T, s *suite) {
	place := s.universal(t)
	inPlace := s.as(t, s.admin, place)
	_, err := inPlace.newType("base", tenancyv1alpha1.WorkspaceTypeSpec{})
	ok(t, err)
	_, err = inPlace.newType("derived", tenancyv1alpha1.WorkspaceTypeSpec{
		Extend: extending(tenancyv1alpha1.WorkspaceTypeReference{Path: place, Name: "base"}),
	})
	ok(t, err)
	parent := s.as(t, alice, s.universal(t, aliceName))
	inPlace.allow(user(aliceName), useRule("derived"))
	eventually(t, "the use of the extended type is what is missing", func() error {
		_, err := parent.create(ofType(place, "derived"))
		if apierrors.IsForbidden(err) && strings.Contains(err.Error(), place+":base") {
			return nil
		}
		if err == nil {
			err = errors.New("it can be used already")
		}
		return err
	})
	inPlace.allow(user(aliceName), useRule("base"))
	eventually(t, "the type can be used", func() error {
		_, err := parent.create(ofType(place, "derived"))
		return err
	})
}

func builtInLimits(t *testing.T, s *suite) {
	organization := s.as(t, alice, s.organization(t, aliceName))
	_, err := organization.create(ofType("root", "organization"))
	refused(t, err, 403)
	root := s.as(t, s.admin, "root")
	_, err = root.create(ofType("root", "team"))
	refused(t, err, 403)
	for _, parent := range []caller{organization, root} {
		_, err = parent.create(ofType("root", "home"))
		refused(t, err, 403)
		_, err = parent.create(ofType("root", "root"))
		refused(t, err, 403)
	}
}

func extendingUniversal(t *testing.T, s *suite) {
	path := s.organization(t, aliceName)
	parent := s.as(t, alice, path)
	_, err := parent.newType("better", tenancyv1alpha1.WorkspaceTypeSpec{Extend: extending(typeUniversal)})
	ok(t, err)
	_, err = parent.newType("other", tenancyv1alpha1.WorkspaceTypeSpec{})
	ok(t, err)
	parent.workspace(ofType(path, "better"))
	_, err = parent.create(ofType(path, "other"))
	refused(t, err, 403)
}

func noChildren(t *testing.T, s *suite) {
	path := s.universal(t, aliceName)
	parent := s.as(t, alice, path)
	_, err := parent.newType("leaf", tenancyv1alpha1.WorkspaceTypeSpec{
		Extend:               extending(typeUniversal),
		LimitAllowedChildren: &tenancyv1alpha1.WorkspaceTypeSelector{None: true},
	})
	ok(t, err)
	leaf := s.as(t, alice, path+":"+parent.workspace(ofType(path, "leaf")).Name)
	for _, name := range []string{"universal", "team"} {
		_, err = leaf.create(ofType("root", name))
		refused(t, err, 403)
	}
}

func circularTypes(t *testing.T, s *suite) {
	path := s.universal(t, aliceName)
	parent := s.as(t, alice, path)
	for name, base := range map[string]string{"chicken": "egg", "egg": "chicken", "selfish": "selfish"} {
		_, err := parent.newType(name, tenancyv1alpha1.WorkspaceTypeSpec{
			Extend: extending(tenancyv1alpha1.WorkspaceTypeReference{Path: path, Name: base}),
		})
		ok(t, err)
	}
	for _, name := range []string{"chicken", "egg", "selfish"} {
		_, err := parent.create(ofType(path, name))
		refused(t, err, 403, path+":"+name)
	}
}

func reservedNames(t *testing.T, s *suite) {
	parent := s.as(t, alice, s.universal(t, aliceName))
	for _, name := range []string{"any", "system", "root"} {
		_, err := parent.newType(name, tenancyv1alpha1.WorkspaceTypeSpec{})
		refused(t, err, 403, name)
	}
}

func badLimits(t *testing.T, s *suite) {
	parent := s.as(t, alice, s.universal(t, aliceName))
	_, err := parent.newType("pathless", tenancyv1alpha1.WorkspaceTypeSpec{LimitAllowedParents: &tenancyv1alpha1.WorkspaceTypeSelector{
		Types: []tenancyv1alpha1.WorkspaceTypeReference{{Name: "universal"}},
	}})
	refused(t, err, 403, "limitAllowedParents", "path")
	_, err = parent.newType("both", tenancyv1alpha1.WorkspaceTypeSpec{LimitAllowedParents: &tenancyv1alpha1.WorkspaceTypeSelector{
		None: true, Types: []tenancyv1alpha1.WorkspaceTypeReference{typeUniversal},
	}})
	refused(t, err, 422)
	got(t, parent.do("POST", "/apis/tenancy.kcp.io/v1alpha1/workspacetypes",
		`{"apiVersion":"tenancy.kcp.io/v1alpha1","kind":"WorkspaceType","metadata":{"name":"neither"},"spec":{"limitAllowedParents":{}}}`), 422)
}

func typeDefaults(t *testing.T, s *suite) {
	parent := s.as(t, alice, s.universal(t, aliceName))
	created := read[tenancyv1alpha1.WorkspaceType](t, parent.do("POST", "/apis/tenancy.kcp.io/v1alpha1/workspacetypes",
		`{"apiVersion":"tenancy.kcp.io/v1alpha1","kind":"WorkspaceType","metadata":{"name":"empty"},"spec":{}}`))
	stored, err := parent.types().Get(t.Context(), "empty", metav1.GetOptions{})
	ok(t, err)
	for _, workspaceType := range []*tenancyv1alpha1.WorkspaceType{&created, stored} {
		if diff := cmp.Diff(&typeUniversal, workspaceType.Spec.DefaultChildWorkspaceType); diff != "" {
			t.Error(diff)
		}
	}
}

func additionalLabels(t *testing.T, s *suite) {
	path := s.universal(t, aliceName)
	parent := s.as(t, alice, path)
	_, err := parent.newType("labeled", tenancyv1alpha1.WorkspaceTypeSpec{
		AdditionalWorkspaceLabels: map[string]string{"color": "blue", "size": "large"},
	})
	ok(t, err)
	ws := parent.workspace(ofType(path, "labeled"), func(ws *tenancyv1alpha1.Workspace) {
		ws.Labels = map[string]string{"color": "red"}
	})
	if ws.Labels["color"] != "red" || ws.Labels["size"] != "large" {
		t.Errorf("labels are %v", ws.Labels)
	}
}
