package storage

import (
	"fmt"
	"strings"
	"testing"
	"unsafe"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/storage"
)

// decoded returns a ConfigMap as decoding makes it: no string is that of another.
func decoded(cluster string) *corev1.ConfigMap {
	own := strings.Clone
	return &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: own("default"), Name: own("shared"), UID: "1",
			Labels:        map[string]string{own("app"): own("one")},
			Annotations:   map[string]string{own("kcp.io/cluster"): own(cluster), own("long"): strings.Repeat("x", longestValue+1)},
			Finalizers:    []string{own("example.dev/hold")},
			ManagedFields: []metav1.ManagedFieldsEntry{{Manager: own("kubectl"), APIVersion: own("v1")}},
		},
		Data: map[string]string{own("ca.crt"): strings.Repeat("certificate", 100)},
	}
}

func shareData(obj runtime.Object, share func(string) string) {
	configMap, _ := obj.(*corev1.ConfigMap)
	for key, value := range configMap.Data {
		configMap.Data[share(key)] = share(value)
	}
}

// places returns where the strings of a map are in memory, by their content.
func places(m map[string]string) map[string]*byte {
	all := map[string]*byte{}
	for key, value := range m {
		all[key], all[value] = unsafe.StringData(key), unsafe.StringData(value)
	}
	return all
}

func TestSharing(t *testing.T) {
	var table sharing
	first, second := decoded("one"), decoded("two")
	table.object(first, shareData)
	table.object(second, shareData)
	if diff := cmp.Diff(decoded("two"), second); diff != "" {
		t.Errorf("what is shared is what it was (-want +got):\n%s", diff)
	}
	for what, pair := range map[string][2]string{
		"name":      {first.Name, second.Name},
		"namespace": {first.Namespace, second.Namespace},
		"finalizer": {first.Finalizers[0], second.Finalizers[0]},
		"manager":   {first.ManagedFields[0].Manager, second.ManagedFields[0].Manager},
	} {
		if unsafe.StringData(pair[0]) != unsafe.StringData(pair[1]) {
			t.Errorf("the %s is in memory twice", what)
		}
	}
	for what, pair := range map[string][2]map[string]*byte{
		"labels":      {places(first.Labels), places(second.Labels)},
		"annotations": {places(first.Annotations), places(second.Annotations)},
		"data":        {places(first.Data), places(second.Data)},
	} {
		for content, place := range pair[0] {
			if other, ok := pair[1][content]; ok && other != place && len(content) <= longestValue {
				t.Errorf("%q of the %s is in memory twice", content, what)
			}
		}
	}
	if certificate := strings.Repeat("certificate", 100); places(first.Data)[certificate] != places(second.Data)[certificate] {
		t.Error("the certificates are in memory twice")
	}
}

// TestSharingIsBounded: strings that nobody has twice do not stay for ever.
func TestSharingIsBounded(t *testing.T) {
	var table sharing
	for i := range 4 * sharedBytes / 1000 {
		table.share(fmt.Sprintf("%01000d", i))
		if table.bytes > sharedBytes || len(table.strings) > sharedBytes/1000 {
			t.Fatalf("%d strings of %d bytes are remembered", len(table.strings), table.bytes)
		}
	}
	for i := range 3 * sharedSets {
		table.set(fields.Set{"metadata.name": fmt.Sprint(i)})
		if len(table.sets) > sharedSets {
			t.Fatalf("%d sets are remembered", len(table.sets))
		}
	}
	if long := strings.Repeat("x", longestShared+1); table.share(long) != long || table.strings[long] != "" {
		t.Error("a string longer than everything else together is remembered")
	}
}

func TestSharedSets(t *testing.T) {
	var table sharing
	attrs := table.attrs(storage.DefaultNamespaceScopedAttr)
	set := func(obj runtime.Object) fields.Set {
		_, fieldSet, err := attrs(obj)
		if err != nil {
			t.Fatal(err)
		}
		return fieldSet
	}
	first, second := set(decoded("one")), set(decoded("two"))
	if fmt.Sprintf("%p", first) != fmt.Sprintf("%p", second) {
		t.Error("objects of one name in two clusters have a set of fields each")
	}
	other := decoded("one")
	other.Name = "other"
	if diff := cmp.Diff(fields.Set{"metadata.namespace": "default", "metadata.name": "other"}, set(other)); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// TestSharingLeavesUnstructured: their metadata is made on demand, so there is nothing to
// share.
func TestSharingLeavesUnstructured(t *testing.T) {
	var table sharing
	obj := &unstructured.Unstructured{Object: map[string]any{"metadata": map[string]any{"name": "a", "labels": map[string]any{"b": "c"}}}}
	before := obj.DeepCopy()
	table.object(obj, nil)
	if diff := cmp.Diff(before, obj); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestSelectCluster(t *testing.T) {
	inner := fields.OneTermEqualSelector("metadata.name", "a")
	selected := selectCluster(storage.SelectionPredicate{Field: inner, IndexFields: []string{"x"}}, one)
	if value, ok := selected.Field.RequiresExactMatch(clusterField); !ok || value != one.String() {
		t.Errorf("the index is asked for %q, %t", value, ok)
	}
	if value, ok := selected.Field.RequiresExactMatch("metadata.name"); !ok || value != "a" {
		t.Errorf("the name is forgotten: %q, %t", value, ok)
	}
	if !selected.Field.Matches(fields.Set{"metadata.name": "a"}) || selected.Field.Matches(fields.Set{"metadata.name": "b"}) {
		t.Error("what was selected before is not selected now")
	}
	transformed, err := selected.Field.DeepCopySelector().Transform(func(field, value string) (string, string, error) { return field, value + "!", nil })
	if err != nil {
		t.Fatal(err)
	}
	if value, ok := transformed.RequiresExactMatch(clusterField); !ok || value != one.String() {
		t.Errorf("a copy asks for %q, %t", value, ok)
	}
	if !transformed.Matches(fields.Set{"metadata.name": "a!"}) {
		t.Error("the transformation is lost")
	}
	if value, ok := selectCluster(storage.Everything, two).Field.RequiresExactMatch(clusterField); !ok || value != two.String() {
		t.Errorf("of everything, the index is asked for %q, %t", value, ok)
	}
}
