package policies

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
)

// apiOperations: policies and bindings of both kinds are made, read, listed, watched,
// changed and deleted as all objects are.
func apiOperations(t *testing.T, w *workspace) {
	for resource, object := range map[string]runtime.Object{
		"validatingadmissionpolicies":       validating("", admissionregistrationv1.Validation{Expression: "true"}),
		"validatingadmissionpolicybindings": binding("policy"),
		"mutatingadmissionpolicies":         applying("", `Object{data: {"a": "b"}}`),
		"mutatingadmissionpolicybindings":   mutatingBinding("policy"),
	} {
		t.Run(resource, func(t *testing.T) { apiOperationsOf(t, w, resource, object) })
	}
}

func apiOperationsOf(t *testing.T, w *workspace, resource string, object runtime.Object) {
	client := w.dynamic.Resource(schema.GroupVersionResource{Group: admissionregistrationv1.GroupName, Version: "v1", Resource: resource})
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(object)
	if err != nil {
		t.Fatal(err)
	}
	template := &unstructured.Unstructured{Object: content}
	template.SetGenerateName("e2e-")
	template.SetLabels(map[string]string{"suite": "e2e"})
	kind, err := kindOf(object)
	if err != nil {
		t.Fatal(err)
	}
	template.SetGroupVersionKind(kind)
	template.SetName("")
	delete(content, "status")

	selected := metav1.ListOptions{LabelSelector: "suite=e2e"}
	watcher, err := client.Watch(t.Context(), selected)
	if err != nil {
		t.Fatal(err)
	}
	defer watcher.Stop()
	var names []string
	for range 3 {
		created, err := client.Create(t.Context(), template, metav1.CreateOptions{})
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, created.GetName())
	}
	if _, err := client.Patch(t.Context(), names[2], types.MergePatchType, []byte(`{"metadata":{"annotations":{"patched":"true"}}}`), metav1.PatchOptions{}); err != nil {
		t.Fatal(err)
	}
	latest, err := client.Get(t.Context(), names[2], metav1.GetOptions{})
	if err != nil || latest.GetAnnotations()["patched"] != "true" {
		t.Fatalf("after the patch it is %v, %v", latest, err)
	}
	if err := client.Delete(t.Context(), names[2], metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	if _, err := client.Get(t.Context(), names[2], metav1.GetOptions{}); !apierrors.IsNotFound(err) {
		t.Errorf("after the deletion: %v", err)
	}
	if list, err := client.List(t.Context(), selected); err != nil || len(list.Items) != 2 {
		t.Errorf("two are left, the list has %v, %v", list, err)
	}
	if err := client.DeleteCollection(t.Context(), metav1.DeleteOptions{}, selected); err != nil {
		t.Fatal(err)
	}
	if list, err := client.List(t.Context(), selected); err != nil || len(list.Items) != 0 {
		t.Errorf("none is left, the list has %v, %v", list, err)
	}
	counts := map[watch.EventType]int{}
	for counts[watch.Deleted] < 3 {
		event, ok := <-watcher.ResultChan()
		if !ok {
			t.Fatalf("the watch has ended after %v", counts)
		}
		counts[event.Type]++
	}
	// The type check changes policies as well.
	if counts[watch.Modified] < 1 {
		t.Error("the watch has not seen the patch")
	}
	delete(counts, watch.Modified)
	if diff := cmp.Diff(map[watch.EventType]int{watch.Added: 3, watch.Deleted: 3}, counts); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
}

func kindOf(object runtime.Object) (schema.GroupVersionKind, error) {
	known := runtime.NewScheme()
	if err := admissionregistrationv1.AddToScheme(known); err != nil {
		return schema.GroupVersionKind{}, err
	}
	kinds, _, err := known.ObjectKinds(object)
	if err != nil {
		return schema.GroupVersionKind{}, err
	}
	return kinds[0], nil
}
