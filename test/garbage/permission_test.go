package garbage

import (
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/forkless/kcp/internal/servertest"
)

// TestPermission: what a user may make of owner references with a role that says nothing
// of finalizers or deletion.
func TestPermission(t *testing.T) {
	server := servertest.Start(t, servertest.WithUsers(t))
	path := server.Workspace(t, "root", "").Spec.Cluster
	admin, user := in(t, server, path), as(t, server.As(t, "user-1-token", path))
	admin.define(widgets, "Namespaced")
	admin.grant("content", "configmaps,widgets.example.com", "get,list,create,update,patch")
	widget, owner := object{widgets, "default", "owner"}, object{secrets, "default", "owner"}
	blockable, other := admin.create(widget), admin.create(owner)

	servertest.Eventually(t, "the role is in force", func() (bool, any) {
		_, err := user.tryCreate(configMap("free"), ownedBy(other))
		return err == nil, err
	})
	_, err := user.tryCreate(configMap("a"), blocking(blockable))
	forbidden(t, err, "cannot set blockOwnerDeletion")
	admin.grant("finalizers", "widgets.example.com/finalizers", "update")
	servertest.Eventually(t, "finalizers of widgets may be set", func() (bool, any) {
		_, err = user.tryCreate(configMap("a"), blocking(blockable))
		return err == nil, err
	})
	_, err = user.tryCreate(configMap("b"), blocking(other))
	forbidden(t, err, "cannot set blockOwnerDeletion")

	// Owners are changed by who may delete.
	obj := user.get(configMap("a"))
	obj.SetOwnerReferences(nil)
	_, err = user.of(configMap("a")).Update(t.Context(), obj, metav1.UpdateOptions{})
	forbidden(t, err, "cannot set an ownerRef on a resource you can't delete")
	obj = user.get(configMap("a"))
	obj.SetLabels(map[string]string{"a": "b"})
	if _, err := user.of(configMap("a")).Update(t.Context(), obj, metav1.UpdateOptions{}); err != nil {
		t.Errorf("a change that leaves the owners alone is refused: %v", err)
	}
}

func forbidden(t *testing.T, err error, text string) {
	t.Helper()
	if !apierrors.IsForbidden(err) || !strings.Contains(err.Error(), text) {
		t.Errorf("got %v, want a refusal with %q", err, text)
	}
}

// grant lets the first user of servertest do something in the workspace.
func (w workspace) grant(name, resources, verbs string) {
	w.t.Helper()
	list := func(text string) []any {
		var all []any
		for part := range strings.SplitSeq(text, ",") {
			all = append(all, part)
		}
		return all
	}
	var rules []any
	for _, resource := range list(resources) {
		// As kubectl takes them: <resource>[.<group>][/<subresource>].
		resource, subresource, _ := strings.Cut(resource.(string), "/")
		plural, group, _ := strings.Cut(resource, ".")
		if subresource != "" {
			plural += "/" + subresource
		}
		rules = append(rules, map[string]any{"apiGroups": []any{group}, "resources": []any{plural}, "verbs": list(verbs)})
	}
	rules = append(rules, map[string]any{"nonResourceURLs": []any{"/"}, "verbs": []any{"access"}})
	w.create(object{roles, "", name}, func(obj *unstructured.Unstructured) { obj.Object["rules"] = rules })
	w.create(object{bindings, "", name}, func(obj *unstructured.Unstructured) {
		obj.Object["roleRef"] = map[string]any{"apiGroup": roles.Group, "kind": "ClusterRole", "name": name}
		obj.Object["subjects"] = []any{map[string]any{"apiGroup": roles.Group, "kind": "User", "name": "user-1"}}
	})
}
