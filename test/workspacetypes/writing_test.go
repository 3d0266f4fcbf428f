package workspacetypes

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	apitypes "k8s.io/apimachinery/pkg/types"

	"github.com/forkless/kcp/internal/servertest"
	tenancyv1alpha1 "github.com/forkless/kcp/pkg/apis/tenancy/v1alpha1"
)

var writing = map[string]behavior{
	"ReservedNames": {"row 26: names with a meaning cannot be taken, however the type is created", reservedNames},
	"Nonsense":      {"row 27: limits and defaults that mean nothing are refused, with the field that is wrong", nonsense},
	"Defaults":      {"row 28: a spec has a default for children, and no spec has none", defaults},
	"AnyOrder":      {"what types refer to need not exist: they may be created in any order", anyOrder},
	"Bind":          {"row 29: who lists an export must be allowed to bind it, and only what is new is asked for", bindCheck},
}

func reservedNames(t *testing.T, s *suite) {
	w := s.universal(t)
	for _, name := range []string{"any", "system"} {
		_, err := w.create(types, `{"metadata":{"name":"`+name+`"},"spec":{}}`)
		refused(t, err, 403, "name is reserved")
	}
	for _, who := range []workspace{w, w.as(s, "admin-token")} {
		_, err := who.create(types, `{"metadata":{"name":"root"},"spec":{}}`)
		refused(t, err, 403, `workspace type "root" can only exist in the root workspace`)
		_, err = who.client.Resource(types).Patch(t.Context(), "root", apitypes.ApplyYAMLPatchType,
			[]byte(`{"apiVersion":"tenancy.kcp.io/v1alpha1","kind":"WorkspaceType","metadata":{"name":"root"},"spec":{}}`),
			metav1.PatchOptions{FieldManager: "test"})
		refused(t, err, 403, `workspace type "root" can only exist in the root workspace`)
	}
}

func nonsense(t *testing.T, s *suite) {
	w := s.universal(t)
	for name, c := range map[string]struct {
		reason, spec string
		code         int
		words        []string
	}{
		"parents":  {"a limit without a place", `{"limitAllowedParents":{"types":[{"name":"universal","path":"root"},{"name":"universal"}]}}`, 403, []string{"spec.limitAllowedParents.types[1].path must be set"}},
		"children": {"a limit without a place", `{"limitAllowedChildren":{"types":[{"name":"universal"}]}}`, 403, []string{"spec.limitAllowedChildren.types[0].path must be set"}},
		"child":    {"a default without a place", `{"defaultChildWorkspaceType":{"name":"universal"}}`, 403, []string{"spec.defaultChildWorkspaceType.path must be set"}},
		"both":     {"none and some", `{"limitAllowedParents":{"none":true,"types":[{"name":"universal","path":"root"}]}}`, 422, []string{"limitAllowedParents"}},
		"neither":  {"a limit that is none", `{"limitAllowedChildren":{}}`, 422, []string{"limitAllowedChildren"}},
		"empty":    {"an empty list", `{"limitAllowedChildren":{"types":[]}}`, 422, []string{"limitAllowedChildren.types"}},
		"nameless": {"a base without a name", `{"extend":{"with":[{"path":"root"}]}}`, 422, []string{"extend.with[0].name"}},
		"crooked":  {"a path that is none", `{"extend":{"with":[{"name":"a","path":"root::x"}]}}`, 422, []string{"extend.with[0].path"}},
		"wild":     {"the wildcard is no path", `{"defaultAPIBindings":[{"path":"*","export":"x"}]}`, 422, []string{"defaultAPIBindings[0].path"}},
		"export":   {"a binding to nothing", `{"defaultAPIBindings":[{"path":"root"}]}`, 422, []string{"defaultAPIBindings[0].export"}},
		"always":   {"a life cycle that nobody knows", `{"defaultAPIBindingLifecycle":"Always"}`, 422, []string{"defaultAPIBindingLifecycle", "InitializeOnly", "Maintain"}},
	} {
		// The privileged skip what is asked of the caller, not what is asked of the type.
		for _, who := range []workspace{w, w.as(s, "admin-token")} {
			_, err := who.create(types, `{"metadata":{"name":"`+name+`"},"spec":`+c.spec+`}`)
			if err == nil {
				t.Errorf("%s: %s was accepted", c.reason, c.spec)
				continue
			}
			if name == "wild" && strings.Contains(err.Error(), "no permission to bind") {
				continue // admission, which comes first, says it for those whom it asks
			}
			refused(t, err, c.code, c.words...)
		}
	}
}

func defaults(t *testing.T, s *suite) {
	w := s.universal(t)
	created := into[tenancyv1alpha1.WorkspaceType](t, w.mustCreate(types, `{"metadata":{"name":"empty"},"spec":{}}`))
	want := &tenancyv1alpha1.WorkspaceTypeReference{Name: "universal", Path: "root"}
	if diff := cmp.Diff(want, created.Spec.DefaultChildWorkspaceType); diff != "" {
		t.Errorf("default child (-want +got):\n%s", diff)
	}
	if created.Annotations["kcp.io/path"] != w.path {
		t.Errorf("the path is %q, want %q", created.Annotations["kcp.io/path"], w.path)
	}
	bare := into[tenancyv1alpha1.WorkspaceType](t, w.mustCreate(types, `{"metadata":{"name":"bare"}}`))
	if bare.Spec.DefaultChildWorkspaceType != nil {
		t.Errorf("without a spec there is nothing to be defaulted, got %v", bare.Spec.DefaultChildWorkspaceType)
	}
}

func anyOrder(t *testing.T, s *suite) {
	w := s.universal(t)
	w.newType("early", `{"extend":{"with":[{"name":"late"},{"name":"early"}]},
		"defaultChildWorkspaceType":{"name":"late","path":"root:nowhere"},
		"limitAllowedParents":{"types":[{"name":"late","path":"root:nowhere"}]},
		"authenticationConfigurations":[{"name":"late"}],
		"defaultAPIBindings":[{"export":"late"}]}`)
}

func bindCheck(t *testing.T, s *suite) {
	provider, home := s.universal(t), s.universal(t)
	home.admin(bob)
	mine := home.as(s, bobToken)
	try := func(name, spec string) error {
		_, err := mine.create(types, `{"metadata":{"name":"`+name+`"},"spec":`+spec+`}`)
		return err
	}
	allowed(t, "bob may create types", func() error { return try("t", `{}`) })
	for path, reason := range map[string]string{
		provider.path:    "he may not bind it",
		"root:nowhere":   "a path that leads nowhere reads the same",
		provider.cluster: "so does a cluster",
	} {
		spec := `{"defaultAPIBindings":[{"path":"` + path + `","export":"cowboys"}]}`
		err := try("refused", spec)
		t.Log(reason)
		refused(t, err, 403, "no permission to bind to export "+path+":cowboys")
	}
	// The own workspace is no exception, but there bob is admin.
	if err := try("own", `{"defaultAPIBindings":[{"export":"cowboys"}]}`); err != nil {
		t.Errorf("an export of the own workspace, which need not be there: %v", err)
	}
	// What an administrator has listed stays listed when bob changes something else.
	home.patch(types, "t", `{"spec":{"defaultAPIBindings":[{"path":"`+provider.path+`","export":"cowboys"}]}}`)
	mine.patch(types, "t", `{"spec":{"additionalWorkspaceLabels":{"changed":"yes"}}}`)
	more := `{"spec":{"defaultAPIBindings":[{"path":"` + provider.path + `","export":"cowboys"},{"path":"` + provider.path + `","export":"horses"}]}}`
	update := func() error {
		_, err := mine.client.Resource(types).Patch(t.Context(), "t", apitypes.MergePatchType, []byte(more), metav1.PatchOptions{})
		return err
	}
	refused(t, update(), 403, "no permission to bind to export "+provider.path+":horses")
	provider.allow(bob, bind("horses"))
	servertest.Eventually(t, "bind on the new one is enough", func() (bool, any) { err := update(); return err == nil, err })
}
