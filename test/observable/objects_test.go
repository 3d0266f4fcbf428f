package observable

import (
	"fmt"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/yaml"
)

// resources are those of the kinds that tests name.
var resources = map[string]schema.GroupVersionResource{
	"ConfigMap":                {Version: "v1", Resource: "configmaps"},
	"Namespace":                {Version: "v1", Resource: "namespaces"},
	"Role":                     {Group: "rbac.authorization.k8s.io", Version: "v1", Resource: "roles"},
	"RoleBinding":              {Group: "rbac.authorization.k8s.io", Version: "v1", Resource: "rolebindings"},
	"ClusterRole":              {Group: "rbac.authorization.k8s.io", Version: "v1", Resource: "clusterroles"},
	"ClusterRoleBinding":       {Group: "rbac.authorization.k8s.io", Version: "v1", Resource: "clusterrolebindings"},
	"CustomResourceDefinition": {Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"},
	"Workspace":                {Group: "tenancy.kcp.io", Version: "v1alpha1", Resource: "workspaces"},
	"WorkspaceType":            {Group: "tenancy.kcp.io", Version: "v1alpha1", Resource: "workspacetypes"},
	"LogicalCluster":           {Group: "core.kcp.io", Version: "v1alpha1", Resource: "logicalclusters"},
	"Cluster":                  {Group: "example.dev", Version: "v1", Resource: "clusters"},
	"Widget":                   {Group: "example.dev", Version: "v1", Resource: "widgets"},
}

// objects reads and writes objects of a workspace by kind. Namespaced ones are in the
// namespace default.
type objects struct{ client dynamic.Interface }

// result is what a request came to.
type result struct {
	*unstructured.Unstructured
	err error
}

func newObjects(t *testing.T, config *rest.Config) objects {
	t.Helper()
	client, err := dynamic.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	return objects{client}
}

func (o objects) of(t *testing.T, kind string) dynamic.ResourceInterface {
	t.Helper()
	resource, ok := resources[kind]
	if !ok {
		t.Fatalf("the resource of kind %s is not known to the tests", kind)
	}
	switch kind {
	case "ConfigMap", "Role", "RoleBinding", "Widget":
		return o.client.Resource(resource).Namespace("default")
	default:
		return o.client.Resource(resource)
	}
}

func (o objects) create(t *testing.T, manifest string) result {
	t.Helper()
	obj := &unstructured.Unstructured{}
	if err := yaml.Unmarshal([]byte(manifest), &obj.Object); err != nil {
		t.Fatalf("a manifest of the tests: %v\n%s", err, manifest)
	}
	resource, ok := resources[obj.GetKind()]
	if !ok {
		t.Fatalf("the resource of kind %s is not known to the tests", obj.GetKind())
	}
	obj.SetAPIVersion(resource.GroupVersion().String())
	created, err := o.of(t, obj.GetKind()).Create(t.Context(), obj, metav1.CreateOptions{})
	return result{created, err}
}

func (o objects) get(t *testing.T, kind, name string) result {
	t.Helper()
	obj, err := o.of(t, kind).Get(t.Context(), name, metav1.GetOptions{})
	return result{obj, err}
}

// patch merges a patch in YAML.
func (o objects) patch(t *testing.T, kind, name, patch string, subresources ...string) result {
	t.Helper()
	data, err := yaml.YAMLToJSON([]byte(patch))
	if err != nil {
		t.Fatalf("a patch of the tests: %v\n%s", err, patch)
	}
	obj, err := o.of(t, kind).Patch(t.Context(), name, types.MergePatchType, data, metav1.PatchOptions{}, subresources...)
	return result{obj, err}
}

func (o objects) delete(t *testing.T, kind, name string) result {
	t.Helper()
	return result{err: o.of(t, kind).Delete(t.Context(), name, metav1.DeleteOptions{})}
}

func (o objects) list(t *testing.T, kind string) result {
	t.Helper()
	list, err := o.of(t, kind).List(t.Context(), metav1.ListOptions{})
	if err != nil {
		return result{err: err}
	}
	return result{&unstructured.Unstructured{Object: map[string]any{"names": namesOf(list)}}, nil}
}

func namesOf(list *unstructured.UnstructuredList) string {
	var names []string
	for _, item := range list.Items {
		names = append(names, item.GetName())
	}
	return strings.Join(names, " ")
}

// must ends the test if the request was refused.
func (objects) must(t *testing.T, r result) *unstructured.Unstructured {
	t.Helper()
	if r.err != nil {
		t.Fatal(r.err)
	}
	return r.Unstructured
}

// refused checks that the request was answered with a reason and a message.
func (objects) refused(t *testing.T, why string, r result, reason metav1.StatusReason, message string) {
	t.Helper()
	if got := apierrors.ReasonForError(r.err); r.err == nil || got != reason || !strings.Contains(r.err.Error(), message) {
		t.Errorf("%s: want %s with %q, got %q: %v", why, reason, message, got, r.err)
	}
}

// text returns a field of an object, empty if it has none.
func text(obj *unstructured.Unstructured, fields ...string) string {
	if obj == nil {
		return ""
	}
	value, found, err := unstructured.NestedFieldNoCopy(obj.Object, fields...)
	if err != nil || !found {
		return ""
	}
	return fmt.Sprint(value)
}

// condition returns status, reason and message of a condition.
func condition(obj *unstructured.Unstructured, conditionType string) (status, reason, message string) {
	if obj == nil {
		return "", "", ""
	}
	items, _, _ := unstructured.NestedSlice(obj.Object, "status", "conditions")
	for _, item := range items {
		if c, ok := item.(map[string]any); ok && c["type"] == conditionType {
			of := &unstructured.Unstructured{Object: c}
			return text(of, "status"), text(of, "reason"), text(of, "message")
		}
	}
	return "", "", ""
}

func binding(name, role, subjectKind, subject string) string {
	return fmt.Sprintf(`
kind: ClusterRoleBinding
metadata: {name: %q}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: %q}
subjects: [{apiGroup: rbac.authorization.k8s.io, kind: %s, name: %q}]`, name, role, subjectKind, subject)
}

func workspace(name, spec string) string {
	return fmt.Sprintf("{kind: Workspace, metadata: {name: %s}, spec: %s}", name, spec)
}

func workspaceType(name, spec string) string {
	return fmt.Sprintf("{kind: WorkspaceType, metadata: {name: %s}, spec: %s}", name, spec)
}

// lastOf returns the part of a name behind the last colon.
func lastOf(name string) string { return name[strings.LastIndex(name, ":")+1:] }

// equal compares two values.
func equal(t *testing.T, what string, want, got any) {
	t.Helper()
	if want != got {
		t.Errorf("%s: want %v, got %v", what, want, got)
	}
}
