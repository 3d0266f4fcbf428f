package clusterannotation

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/admission"

	"github.com/forkless/kcp/internal/admission/admissiontest"
	"github.com/forkless/kcp/pkg/logicalcluster"
)

var here = logicalcluster.MustParseName("here")

func fields(json string) metav1.ManagedFieldsEntry {
	return metav1.ManagedFieldsEntry{
		Manager: "kubectl", Operation: metav1.ManagedFieldsOperationApply, APIVersion: "v1",
		FieldsType: "FieldsV1", FieldsV1: &metav1.FieldsV1{Raw: []byte(json)},
	}
}

func configMap(annotations map[string]string, managed ...metav1.ManagedFieldsEntry) *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "a", Annotations: annotations, ManagedFields: managed}}
}

// TestAdmit runs every case with a Go type, as built-in kinds have, and unstructured, as
// custom resources are.
func TestAdmit(t *testing.T) {
	data := fields(`{"f:data":{"f:a":{}}}`)
	cases := map[string]struct {
		reason       string
		object, want *corev1.ConfigMap
	}{
		"Missing": {
			"dry runs show it too, and nothing else stores it for them",
			configMap(nil), configMap(map[string]string{annotation: "here"}),
		},
		"Forged": {
			"an object is where it is, whatever it says",
			configMap(map[string]string{annotation: "there", "a": "b"}), configMap(map[string]string{annotation: "here", "a": "b"}),
		},
		"Owned": {
			"nobody owns it, least of all for having sent it",
			configMap(nil, data, fields(`{"f:metadata":{"f:annotations":{"f:a":{},"f:kcp.io/cluster":{}}}}`)),
			configMap(map[string]string{annotation: "here"}, data, fields(`{"f:metadata":{"f:annotations":{"f:a":{}}}}`)),
		},
		"OwnedAlone": {
			"who owned nothing else is no manager any more; others stay, in whatever state",
			configMap(nil, data, fields(`{"f:metadata":{"f:annotations":{"f:kcp.io/cluster":{}}}}`), metav1.ManagedFieldsEntry{Manager: "odd"}),
			configMap(map[string]string{annotation: "here"}, data, metav1.ManagedFieldsEntry{Manager: "odd"}),
		},
		"OwnedByOthers": {
			"what else is owned is left as it is",
			configMap(map[string]string{annotation: "here"}, data), configMap(map[string]string{annotation: "here"}, data),
		},
	}
	for name, tc := range cases {
		for form, object := range map[string]runtime.Object{
			"Typed": tc.object.DeepCopy(), "Unstructured": admissiontest.Unstructured(t, tc.object),
		} {
			t.Run(name+form, func(t *testing.T) {
				admit(t, admissiontest.Request{
					Resource: corev1.SchemeGroupVersion.WithResource("configmaps"), Kind: "ConfigMap",
					Operation: admission.Create, Object: object,
				})
				got := object
				if form == "Unstructured" {
					got = fromUnstructured(t, object)
				}
				if diff := cmp.Diff(tc.want, got); diff != "" {
					t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
				}
			})
		}
	}
}

// TestSharedMapsStay: the maps of a new object may be those of the stored one.
func TestSharedMapsStay(t *testing.T) {
	shared := map[string]string{annotation: "there"}
	admit(t, admissiontest.Request{
		Resource: corev1.SchemeGroupVersion.WithResource("configmaps"), Kind: "ConfigMap",
		Operation: admission.Update, Object: configMap(shared),
	})
	if shared[annotation] != "there" {
		t.Error("a map that is somebody else's has been changed")
	}
}

// TestNotStored: what is only answered has no place, and should not claim one.
func TestNotStored(t *testing.T) {
	cases := map[string]struct {
		resource    schema.GroupVersionResource
		subresource string
	}{
		"Review": {authorizationv1.SchemeGroupVersion.WithResource("selfsubjectaccessreviews"), ""},
		"Token":  {corev1.SchemeGroupVersion.WithResource("serviceaccounts"), "token"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			object := configMap(nil)
			admit(t, admissiontest.Request{
				Resource: tc.resource, Subresource: tc.subresource, Operation: admission.Create, Object: object,
			})
			if len(object.Annotations) > 0 {
				t.Errorf("got annotations %v", object.Annotations)
			}
		})
	}
}

func admit(t *testing.T, request admissiontest.Request) {
	t.Helper()
	if err := New().Admit(admissiontest.In(t, here), request.Attributes(), nil); err != nil {
		t.Fatal(err)
	}
}

func fromUnstructured(t *testing.T, object runtime.Object) runtime.Object {
	t.Helper()
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(object)
	if err != nil {
		t.Fatal(err)
	}
	got := &corev1.ConfigMap{}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(content, got); err != nil {
		t.Fatal(err)
	}
	return got
}
