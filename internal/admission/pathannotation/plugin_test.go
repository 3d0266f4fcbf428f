package pathannotation_test

import (
	"testing"

	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/authentication/user"

	"github.com/forkless/kcp/internal/admission/admissiontest"
	"github.com/forkless/kcp/internal/admission/pathannotation"
	"github.com/forkless/kcp/internal/tenancy/tenancytest"
	corev1alpha1 "github.com/forkless/kcp/pkg/apis/core/v1alpha1"
	tenancyv1alpha1 "github.com/forkless/kcp/pkg/apis/tenancy/v1alpha1"
	"github.com/forkless/kcp/pkg/logicalcluster"
)

const key = "kcp.io/path"

func TestPlugin(t *testing.T) {
	types := tenancyv1alpha1.GroupVersion.WithResource("workspacetypes")
	clusters := corev1alpha1.GroupVersion.WithResource("logicalclusters")
	maps := corev1.SchemeGroupVersion.WithResource("configmaps")
	cases := map[string]struct {
		reason   string
		cluster  string
		resource schema.GroupVersionResource
		user     user.Info
		// old is the stored path; an update has one.
		old  *string
		sent string
		want string
	}{
		"Always":    {reason: "types always have it", cluster: "root:org", resource: types, want: "root:org"},
		"Corrected": {reason: "what is sent is corrected", cluster: "root:org", resource: types, sent: "root", want: "root:org"},
		"CorrectedForAll": {
			reason: "for the privileged too", cluster: "root:org", resource: types, user: admissiontest.Masters(), sent: "root", want: "root:org",
		},
		"Root":           {reason: "root is its own path", cluster: "root", resource: types, want: "root"},
		"System":         {reason: "a cluster without a path is known by its name", cluster: "system:admin", resource: types, want: "system:admin"},
		"OrdinaryUnset":  {reason: "other objects need none", cluster: "root:org", resource: maps},
		"OrdinarySet":    {reason: "but have the right one if any", cluster: "root:org", resource: maps, sent: "root", want: "root:org"},
		"Cluster":        {reason: "an admin cannot give a workspace another path", cluster: "root:org", resource: clusters, old: new("root:org"), sent: "root", want: "root:org"},
		"ClusterRemoved": {reason: "nor take it away", cluster: "root:org", resource: clusters, old: new("root:org"), want: "root:org"},
		"ClusterAdded":   {reason: "nor give one to root", cluster: "root", resource: clusters, old: new(""), sent: "root:org"},
		"ClusterMoved":   {reason: "the system may", cluster: "root:org", resource: clusters, user: admissiontest.Masters(), old: new("root:org"), sent: "root:new", want: "root:new"},
		"ClusterMade":    {reason: "and does so first", cluster: "root:new", resource: clusters, user: admissiontest.Masters(), sent: "root:new", want: "root:new"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			tree := tenancytest.New(t)
			tree.AddCluster("root:org", "root:organization")
			r := admissiontest.Request{Resource: c.resource, Operation: admission.Create, Object: withPath(c.sent), User: c.user}
			if c.old != nil {
				r.Operation, r.Old = admission.Update, withPath(*c.old)
			}
			ctx := admissiontest.In(t, tenancytest.ClusterAt(c.cluster))
			plugin := pathannotation.New(tree.Clusters(), tree.Paths())

			before := plugin.Validate(ctx, r.Attributes(), nil)
			if (before == nil) != (c.sent == c.want) {
				t.Errorf("%s: validating %q as it was sent: %v", c.reason, c.sent, before)
			}
			if err := plugin.Admit(ctx, r.Attributes(), nil); err != nil {
				t.Fatal(err)
			}
			if got := r.Object.(*metav1.PartialObjectMetadata).Annotations[key]; got != c.want {
				t.Errorf("%s: got %q, want %q", c.reason, got, c.want)
			}
			admissiontest.Check(t, "what it sets it also accepts", plugin.Validate(ctx, r.Attributes(), nil), "")
		})
	}
}

func TestNothingToLookAt(t *testing.T) {
	objects := map[string]runtime.Object{"None": nil, "Review": &authorizationv1.SelfSubjectAccessReview{}, "NoMetadata": &metav1.DeleteOptions{}}
	for name, object := range objects {
		t.Run(name, func(t *testing.T) {
			r := admissiontest.Request{Operation: admission.Create, Object: object}
			// No cluster in the context: it must not be asked for.
			admissiontest.Check(t, "it has no annotation", pathannotation.New(nil, nil).Admit(t.Context(), r.Attributes(), nil), "")
			admissiontest.Check(t, "it has no annotation", pathannotation.New(nil, nil).Validate(t.Context(), r.Attributes(), nil), "")
		})
	}
}

func withPath(path string) *metav1.PartialObjectMetadata {
	object := &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Name: "o"}}
	if path != "" {
		object.Annotations = map[string]string{logicalcluster.PathAnnotationKey: path}
	}
	return object
}
