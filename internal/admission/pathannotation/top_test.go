package pathannotation_test

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/admission"

	"github.com/forkless/kcp/internal/admission/admissiontest"
	"github.com/forkless/kcp/internal/admission/pathannotation"
	"github.com/forkless/kcp/internal/tenancy/tenancytest"
	corev1alpha1 "github.com/forkless/kcp/pkg/apis/core/v1alpha1"
	"github.com/forkless/kcp/pkg/logicalcluster"
)

func TestTopOfTree(t *testing.T) {
	tree := tenancytest.New(t)
	tree.AddCluster("tenants:acme", "root:universal")
	tree.AddCluster("root:org", "root:organization")
	for name, tc := range map[string]struct {
		reason, old, path string
		owned             bool
		denied            string
	}{
		"Free":    {reason: "nobody is there", path: "tenants:other"},
		"Taken":   {reason: "somebody is", path: "tenants:acme", denied: `path "tenants:acme" leads to another logical cluster`},
		"Moved":   {reason: "nor can it go there later", old: "tenants:other", path: "tenants:acme", denied: `path "tenants:acme" leads to another logical cluster`},
		"Stays":   {reason: "what it has had stays its own to write", old: "tenants:acme", path: "tenants:acme"},
		"InRoot":  {reason: "paths below root are given by Workspaces, and do not lead here", path: "root:org"},
		"Owned":   {reason: "so are those of what a Workspace owns", path: "tenants:acme", owned: true},
		"Single":  {reason: "a cluster is at its own name", path: "tenants"},
		"Nothing": {reason: "most have no path to claim"},
	} {
		t.Run(name, func(t *testing.T) {
			r := admissiontest.Request{
				Resource: corev1alpha1.GroupVersion.WithResource("logicalclusters"), Operation: admission.Create,
				Object: claiming(t, tc.path, tc.owned), User: admissiontest.Masters(),
			}
			if tc.old != "" {
				r.Operation, r.Old = admission.Update, claiming(t, tc.old, tc.owned)
			}
			plugin := pathannotation.New(tree.Clusters(), tree.Paths())
			err := plugin.Validate(admissiontest.In(t, tenancytest.ClusterAt("tenants:here")), r.Attributes(), nil)
			admissiontest.Check(t, tc.reason, err, tc.denied)
		})
	}
}

func claiming(t *testing.T, path string, owned bool) runtime.Object {
	t.Helper()
	lc := &corev1alpha1.LogicalCluster{ObjectMeta: metav1.ObjectMeta{Name: "cluster"}}
	if path != "" {
		lc.Annotations = map[string]string{logicalcluster.PathAnnotationKey: path}
	}
	if owned {
		lc.Spec.Owner = &corev1alpha1.LogicalClusterOwner{Name: "x"}
	}
	return admissiontest.Unstructured(t, lc)
}
