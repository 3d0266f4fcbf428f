package unmarked

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
)

func configMap(annotations map[string]string) *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "a", Annotations: annotations}, Data: map[string]string{"k": "v"}}
}

func TestUnmark(t *testing.T) {
	for name, tc := range map[string]struct {
		reason            string
		annotations, want map[string]string
	}{
		"Only":     {"an object that had no annotations has none again", map[string]string{"kcp.io/cluster": "a"}, nil},
		"Others":   {"annotations of others stay", map[string]string{"kcp.io/cluster": "a", "o": "kept"}, map[string]string{"o": "kept"}},
		"Unmarked": {"an object without it is as it was", map[string]string{"o": "kept"}, map[string]string{"o": "kept"}},
	} {
		t.Run(name, func(t *testing.T) {
			shared := cmp.Diff(nil, tc.annotations)
			object, list := configMap(tc.annotations), &corev1.ConfigMapList{Items: []corev1.ConfigMap{*configMap(tc.annotations)}}
			unmark(object)
			unmarkItems(list)
			for _, got := range []map[string]string{object.Annotations, list.Items[0].Annotations} {
				if diff := cmp.Diff(tc.want, got); diff != "" {
					t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
				}
			}
			if diff := cmp.Diff(shared, cmp.Diff(nil, tc.annotations)); diff != "" {
				t.Errorf("others read the same annotations, and they were changed: %s", diff)
			}
		})
	}
	// What has no metadata passes.
	unmark(&metav1.Status{Message: "no"})
	unmarkItems(&metav1.Status{})
}

func TestCustom(t *testing.T) {
	object := func(annotations map[string]any) *unstructured.Unstructured {
		metadata := map[string]any{"name": "a"}
		if annotations != nil {
			metadata["annotations"] = annotations
		}
		return &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "A", "metadata": metadata}}
	}
	stored := object(map[string]any{"kcp.io/cluster": "a", "o": "kept"})
	before := stored.DeepCopy()
	if diff := cmp.Diff(object(map[string]any{"o": "kept"}), Custom(stored)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(before, stored); diff != "" {
		t.Errorf("what is in the watch cache was changed:\n%s", diff)
	}
	if diff := cmp.Diff(object(nil), Custom(object(map[string]any{"kcp.io/cluster": "a"}))); diff != "" {
		t.Errorf("without others (-want +got):\n%s", diff)
	}
	var _ runtime.Object = Custom(object(nil))
}
