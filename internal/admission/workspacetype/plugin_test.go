package workspacetype_test

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/authentication/user"

	"github.com/forkless/kcp/internal/admission/admissiontest"
	"github.com/forkless/kcp/internal/admission/workspacetype"
	"github.com/forkless/kcp/internal/tenancy/tenancytest"
	tenancyv1alpha1 "github.com/forkless/kcp/pkg/apis/tenancy/v1alpha1"
)

type (
	spec   = tenancyv1alpha1.WorkspaceTypeSpec
	ref    = tenancyv1alpha1.WorkspaceTypeReference
	export = tenancyv1alpha1.APIExportReference
)

func TestValidate(t *testing.T) {
	org := tenancytest.ClusterAt("root:org").String()
	binds := func(exports ...export) *spec { return &spec{DefaultAPIBindings: exports} }
	limit := func(references ...ref) *tenancyv1alpha1.WorkspaceTypeSelector {
		return &tenancyv1alpha1.WorkspaceTypeSelector{Types: references}
	}
	cases := map[string]struct {
		reason  string
		cluster string
		name    string
		user    user.Info
		grants  admissiontest.Grants
		old     *spec
		spec    *spec
		denied  string
	}{
		"Empty":      {reason: "a type needs nothing", spec: &spec{}},
		"RootInRoot": {reason: "root is where root may be", cluster: "root", name: "root", spec: &spec{}},
		"RootElsewhere": {
			reason: "and nowhere else, not even for the privileged", name: "root", user: admissiontest.Masters(), spec: &spec{},
			denied: `"root" can only exist in the root workspace`,
		},
		"DefaultChild": {
			reason: "the default needs a path", spec: &spec{DefaultChildWorkspaceType: &ref{Name: "a"}},
			denied: "spec.defaultChildWorkspaceType.path must be set",
		},
		"Children": {
			reason: "so do limits on children", spec: &spec{LimitAllowedChildren: limit(ref{Name: "a", Path: "root"}, ref{Name: "b"})},
			denied: "spec.limitAllowedChildren.types[1].path must be set",
		},
		"Parents": {
			reason: "and on parents", spec: &spec{LimitAllowedParents: limit(ref{Name: "b"})},
			denied: "spec.limitAllowedParents.types[0].path must be set",
		},
		"MissingBase": {
			reason: "bases are looked for when the type is used",
			spec:   &spec{Extend: tenancyv1alpha1.WorkspaceTypeExtension{With: []ref{{Name: "t"}, {Name: "gone"}}}},
		},
		"Bind": {
			reason: "exports that will be bound need bind", spec: binds(export{Path: "root", Export: "x"}),
			denied: "no permission to bind to export root:x",
		},
		"BindAllowed": {
			reason: "where they are", spec: binds(export{Path: "root", Export: "x"}),
			grants: admissiontest.Grants{"root bind apiexports/x"},
		},
		"BindOwn": {
			reason: "without a path they are beside the type, and shown with its path", spec: binds(export{Export: "x"}),
			denied: "no permission to bind to export root:org:x",
		},
		"BindOwnAllowed": {
			reason: "and asked for there", spec: binds(export{Export: "x"}),
			grants: admissiontest.Grants{org + " bind apiexports/x"},
		},
		"BindUnknown": {
			reason: "a path that leads nowhere reads as one that is forbidden", spec: binds(export{Path: "root:nowhere", Export: "x"}),
			denied: "no permission to bind to export root:nowhere:x",
		},
		"BindWildcard": {
			reason: "the wildcard is no path", spec: binds(export{Path: "*", Export: "x"}), denied: "no permission to bind to export *:x",
		},
		"BindPrivileged": {reason: "the privileged bind anything", user: admissiontest.Masters(), spec: binds(export{Path: "root", Export: "x"})},
		"BindKnown": {
			reason: "what was listed before is not asked for again",
			old:    binds(export{Path: "root", Export: "x"}), spec: binds(export{Path: "root", Export: "x"}),
		},
		"BindAdded": {
			reason: "what is added is",
			old:    binds(export{Path: "root", Export: "x"}), spec: binds(export{Path: "root", Export: "x"}, export{Path: "root", Export: "y"}),
			denied: "no permission to bind to export root:y",
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			tree := tenancytest.New(t)
			tree.AddCluster("root:org", "root:organization")
			object := func(s *spec) *tenancyv1alpha1.WorkspaceType {
				w := &tenancyv1alpha1.WorkspaceType{ObjectMeta: metav1.ObjectMeta{Name: "t"}, Spec: *s}
				if c.name != "" {
					w.Name = c.name
				}
				return w
			}
			r := admissiontest.Request{
				Resource:  tenancyv1alpha1.GroupVersion.WithResource("workspacetypes"),
				Kind:      "WorkspaceType",
				Operation: admission.Create,
				Object:    admissiontest.Unstructured(t, object(c.spec)),
				User:      c.user,
			}
			if c.old != nil {
				r.Operation, r.Old = admission.Update, admissiontest.Unstructured(t, object(c.old))
			}
			cluster := "root:org"
			if c.cluster != "" {
				cluster = c.cluster
			}
			plugin := workspacetype.New(tree.Clusters(), tree.Paths(), c.grants)
			err := plugin.Validate(admissiontest.In(t, tenancytest.ClusterAt(cluster)), r.Attributes(), nil)
			admissiontest.Check(t, c.reason, err, c.denied)
		})
	}
}
