package permissionclaims_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/admission"

	"github.com/forkless/kcp/internal/admission/admissiontest"
	plugin "github.com/forkless/kcp/internal/admission/permissionclaims"
	"github.com/forkless/kcp/internal/permissionclaims"
	apisv1alpha2 "github.com/forkless/kcp/pkg/apis/apis/v1alpha2"
	"github.com/forkless/kcp/pkg/logicalcluster"
)

const label = "claimed.internal.apis.kcp.io/export"

// red claims what has the label color=red.
type red struct{}

func (red) Labels(cluster logicalcluster.Name, resource schema.GroupResource, of map[string]string) map[string]string {
	if cluster != logicalcluster.Root || resource.Resource != "configmaps" || of["color"] != "red" {
		return nil
	}
	return map[string]string{label: "claim"}
}

type set = map[string]string

func guard(t *testing.T, verbs ...string) *permissionclaims.Guard {
	t.Helper()
	claim := apisv1alpha2.PermissionClaim{GroupResource: apisv1alpha2.GroupResource{Resource: "configmaps"}, Verbs: verbs}
	made, err := permissionclaims.NewGuard(logicalcluster.SystemAdmin, "export", claim, apisv1alpha2.AcceptablePermissionClaim{
		ScopedPermissionClaim: apisv1alpha2.ScopedPermissionClaim{PermissionClaim: claim, Selector: apisv1alpha2.PermissionClaimSelector{
			LabelSelector: metav1.LabelSelector{
				MatchLabels:      set{"color": "red"},
				MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "secret", Operator: metav1.LabelSelectorOpDoesNotExist}},
			},
		}},
		State: apisv1alpha2.ClaimAccepted,
	})
	if err != nil {
		t.Fatal(err)
	}
	return made
}

func TestPlugin(t *testing.T) {
	all := func(t *testing.T) *permissionclaims.Guard { return guard(t, "*") }
	cases := map[string]struct {
		reason      string
		resource    string
		subresource string
		update      bool
		guard       func(*testing.T) *permissionclaims.Guard
		labels      set
		want        set
		denied      string
	}{
		"Claimed":        {reason: "what is claimed is labeled", labels: set{"color": "red"}, want: set{"color": "red", label: "claim"}},
		"Updated":        {reason: "with every write", update: true, labels: set{"color": "red"}, want: set{"color": "red", label: "claim"}},
		"Unclaimed":      {reason: "what is not claimed is not", labels: set{"color": "blue"}, want: set{"color": "blue"}},
		"Forged":         {reason: "nobody makes his objects claimed", labels: set{label: "claim"}},
		"ForgedValue":    {reason: "nor changes by which claim", labels: set{"color": "red", label: "other"}, want: set{"color": "red", label: "claim"}},
		"ForgedOther":    {reason: "nor for whom", labels: set{"a": "b", label + "2": "claim"}, want: set{"a": "b"}},
		"OtherResource":  {reason: "also of resources without claims", resource: "secrets", labels: set{"color": "red", label: "claim"}, want: set{"color": "red"}},
		"Status":         {reason: "the status comes with the labels", update: true, subresource: "status", labels: set{"color": "red"}, want: set{"color": "red", label: "claim"}},
		"OtherKind":      {reason: "a scale is another object", update: true, subresource: "scale", labels: set{label: "claim"}, want: set{label: "claim"}},
		"Provider":       {reason: "what a provider creates is his to see", guard: all, want: set{"color": "red", label: "claim"}},
		"ProviderUpdate": {reason: "and stays so", update: true, guard: all, labels: set{"a": "b"}, want: set{"a": "b", "color": "red", label: "claim"}},
		"ProviderConflict": {
			reason: "a value is his own mistake", guard: all, labels: set{"color": "blue"}, denied: "protected label color must have value red",
		},
		"ProviderMismatch": {
			reason: "expressions are not filled in", guard: all, labels: set{"color": "red", "secret": ""},
			want: set{"color": "red", "secret": "", label: "claim"}, denied: "object does not match required labels",
		},
		"ProviderElsewhere": {reason: "another resource has another guard", resource: "secrets", guard: all, labels: set{"color": "blue"}, want: set{"color": "blue"}},
		"ProviderMayNotCreate": {
			reason: "whatever verb it is that creates", guard: func(t *testing.T) *permissionclaims.Guard { return guard(t, "patch") },
			want: set{"color": "red", label: "claim"}, denied: "does not allow to create",
		},
		"ProviderPatches": {
			reason: "what is there need not be created", update: true,
			guard: func(t *testing.T) *permissionclaims.Guard { return guard(t, "patch") },
			want:  set{"color": "red", label: "claim"},
		},
	}
	for name, tc := range cases {
		object := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "a", Labels: tc.labels}}
		for form, object := range map[string]runtime.Object{"Typed": object.DeepCopy(), "Unstructured": admissiontest.Unstructured(t, object)} {
			t.Run(name+form, func(t *testing.T) {
				resource := tc.resource
				if resource == "" {
					resource = "configmaps"
				}
				r := admissiontest.Request{
					Resource: corev1.SchemeGroupVersion.WithResource(resource), Kind: "ConfigMap", Name: "a",
					Subresource: tc.subresource, Operation: admission.Create, Object: object,
				}
				if tc.update {
					r.Operation, r.Old = admission.Update, object.DeepCopyObject()
				}
				ctx := admissiontest.In(t, logicalcluster.Root)
				if tc.guard != nil {
					ctx = permissionclaims.WithGuard(ctx, tc.guard(t))
				}
				p := plugin.New(red{})
				err := p.Admit(ctx, r.Attributes(), nil)
				if err == nil {
					accessor, accessErr := meta.Accessor(r.Object)
					if accessErr != nil {
						t.Fatal(accessErr)
					}
					if diff := cmp.Diff(tc.want, accessor.GetLabels()); diff != "" {
						t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
					}
					err = p.Validate(ctx, r.Attributes(), nil)
				}
				admissiontest.Check(t, tc.reason, err, tc.denied)
			})
		}
	}
}

// TestSharedMapsStay: the labels of a new object may be those of the stored one.
func TestSharedMapsStay(t *testing.T) {
	shared := set{"color": "red"}
	r := admissiontest.Request{
		Resource: corev1.SchemeGroupVersion.WithResource("configmaps"), Kind: "ConfigMap", Operation: admission.Update,
		Object: &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Labels: shared}},
	}
	if err := plugin.New(red{}).Admit(admissiontest.In(t, logicalcluster.Root), r.Attributes(), nil); err != nil {
		t.Fatal(err)
	}
	if len(shared) != 1 {
		t.Error("a map that is somebody else's has been changed")
	}
}
