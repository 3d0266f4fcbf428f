package unmarked_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/scheme"

	"github.com/forkless/kcp/internal/unmarked"
)

func marked(others ...string) map[string]string {
	annotations := map[string]string{"kcp.io/cluster": "system:admin"}
	for _, key := range others {
		annotations[key] = "kept"
	}
	return annotations
}

func configMap(annotations map[string]string) *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "a", Annotations: annotations}, Data: map[string]string{"k": "v"}}
}

func dynamic(annotations map[string]any) *unstructured.Unstructured {
	metadata := map[string]any{"name": "a"}
	if annotations != nil {
		metadata["annotations"] = annotations
	}
	return &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "A", "metadata": metadata}}
}

func TestObject(t *testing.T) {
	for name, tc := range map[string]struct {
		reason    string
		obj, want runtime.Object
	}{
		"Object":     {"an object that had no annotations has none again", configMap(marked()), configMap(nil)},
		"Others":     {"annotations of others stay", configMap(marked("other")), configMap(map[string]string{"other": "kept"})},
		"Unmarked":   {"an object without it is as it was", configMap(map[string]string{"other": "kept"}), configMap(map[string]string{"other": "kept"})},
		"Dynamic":    {"custom resources are no Go types", dynamic(map[string]any{"kcp.io/cluster": "a"}), dynamic(nil)},
		"Unreadable": {"what has no metadata passes", &metav1.Status{Message: "no"}, &metav1.Status{Message: "no"}},
		"List": {
			"a list is of objects",
			&corev1.ConfigMapList{Items: []corev1.ConfigMap{*configMap(marked()), *configMap(nil)}},
			&corev1.ConfigMapList{Items: []corev1.ConfigMap{*configMap(nil), *configMap(nil)}},
		},
		"DynamicList": {
			"a list of custom resources is, too",
			&unstructured.UnstructuredList{Items: []unstructured.Unstructured{*dynamic(map[string]any{"kcp.io/cluster": "a", "o": "kept"})}},
			&unstructured.UnstructuredList{Items: []unstructured.Unstructured{*dynamic(map[string]any{"o": "kept"})}},
		},
		"Table": {
			"and so are the rows of a table",
			&metav1.Table{Rows: []metav1.TableRow{{Object: runtime.RawExtension{Object: configMap(marked())}}}},
			&metav1.Table{Rows: []metav1.TableRow{{Object: runtime.RawExtension{Object: configMap(nil)}}}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			before := tc.obj.DeepCopyObject()
			if diff := cmp.Diff(tc.want, unmarked.Object(tc.obj)); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
			if diff := cmp.Diff(before, tc.obj); diff != "" {
				t.Errorf("others have the object that was encoded, and it was changed (-before +after):\n%s", diff)
			}
		})
	}
}

func TestSerializer(t *testing.T) {
	codecs := unmarked.Serializer(scheme.Codecs.WithoutConversion())
	info, _ := runtime.SerializerInfoForMediaType(codecs.SupportedMediaTypes(), runtime.ContentTypeJSON)
	var written bytes.Buffer
	if err := codecs.EncoderForVersion(info.Serializer, corev1.SchemeGroupVersion).Encode(configMap(marked("other")), &written); err != nil {
		t.Fatal(err)
	}
	if text := written.String(); strings.Contains(text, "kcp.io") || !strings.Contains(text, `"other":"kept"`) {
		t.Errorf("clients read %s", text)
	}
}
