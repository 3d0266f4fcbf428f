package typeref

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"

	tenancyv1alpha1 "github.com/forkless/kcp/pkg/apis/tenancy/v1alpha1"
	"github.com/forkless/kcp/pkg/cli/client"
	"github.com/forkless/kcp/pkg/logicalcluster"
	"github.com/forkless/kcp/pkg/tenancy"
)

// sourceOf returns a Source on a server that has types in root, and whose other workspaces
// may not be read.
func sourceOf(t *testing.T, types map[string]tenancyv1alpha1.WorkspaceTypeSpec) *Source {
	t.Helper()
	list := tenancyv1alpha1.WorkspaceTypeList{}
	for name, spec := range types {
		list.Items = append(list.Items, tenancyv1alpha1.WorkspaceType{
			ObjectMeta: metav1.ObjectMeta{Name: name, Annotations: map[string]string{
				logicalcluster.AnnotationKey: "root", logicalcluster.PathAnnotationKey: "root",
			}},
			Spec: spec,
		})
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		if r.URL.Path != "/clusters/root/apis/tenancy.kcp.io/v1alpha1/workspacetypes" {
			w.WriteHeader(http.StatusForbidden)
			_, _ = w.Write([]byte(`{"kind": "Status", "apiVersion": "v1", "status": "Failure", "reason": "Forbidden", "code": 403}`))
			return
		}
		_ = json.NewEncoder(w).Encode(list)
	}))
	t.Cleanup(server.Close)
	c, err := client.New(&rest.Config{}, server.URL, t.Output())
	if err != nil {
		t.Fatal(err)
	}
	return NewSource(c)
}

func TestUsable(t *testing.T) {
	ref := func(name string) tenancyv1alpha1.WorkspaceTypeReference {
		return tenancyv1alpha1.WorkspaceTypeReference{Path: "root", Name: name}
	}
	only := func(name string) *tenancyv1alpha1.WorkspaceTypeSelector {
		return &tenancyv1alpha1.WorkspaceTypeSelector{Types: []tenancyv1alpha1.WorkspaceTypeReference{ref(name)}}
	}
	extends := func(ref tenancyv1alpha1.WorkspaceTypeReference) tenancyv1alpha1.WorkspaceTypeExtension {
		return tenancyv1alpha1.WorkspaceTypeExtension{With: []tenancyv1alpha1.WorkspaceTypeReference{ref}}
	}
	none := &tenancyv1alpha1.WorkspaceTypeSelector{None: true}
	source := sourceOf(t, map[string]tenancyv1alpha1.WorkspaceTypeSpec{
		"plain":  {},
		"top":    {LimitAllowedParents: none},
		"team":   {LimitAllowedParents: only("org")},
		"org":    {LimitAllowedChildren: only("team")},
		"squad":  {Extend: extends(ref("team"))},
		"leaf":   {LimitAllowedChildren: none},
		"hidden": {Extend: extends(tenancyv1alpha1.WorkspaceTypeReference{Path: "root:secret", Name: "base"})},
	})
	for name, tc := range map[string]struct {
		reason, above string
		want          map[string]bool
	}{
		"Plain": {
			"who wants another parent is left out, also by inheritance; what cannot be seen is no reason", "plain",
			map[string]bool{"root:plain": true, "root:org": true, "root:leaf": true, "root:hidden": true},
		},
		"Limited": {"the parent takes what it names, and what extends that", "org", map[string]bool{"root:team": true, "root:squad": true}},
		"Leaf":    {"nothing may be below it", "leaf", map[string]bool{}},
		"Unknown": {
			"only what no parent could change is left out", "",
			map[string]bool{"root:plain": true, "root:team": true, "root:org": true, "root:squad": true, "root:leaf": true, "root:hidden": true},
		},
	} {
		t.Run(name, func(t *testing.T) {
			var above *tenancy.Set
			if tc.above != "" {
				var err error
				if above, err = source.Resolver().Resolve(t.Context(), tenancy.Place{Cluster: logicalcluster.Root, Path: logicalcluster.Root.Path()}, ref(tc.above)); err != nil {
					t.Fatal(err)
				}
			}
			got := map[string]bool{}
			for _, u := range source.Usable(t.Context(), logicalcluster.MustParsePath("root:acme:app"), above) {
				got[u.String()] = true
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

func TestUpwards(t *testing.T) {
	for p, want := range map[string][]string{
		"root":       {"root"},
		"root:a:b":   {"root:a:b", "root:a", "root"},
		"user:x:dev": {"user:x:dev", "user:x", "root"},
	} {
		var got []string
		for _, at := range Upwards(logicalcluster.MustParsePath(p)) {
			got = append(got, at.String())
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", p, diff)
		}
	}
}
