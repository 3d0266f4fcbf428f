package request_test

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/admission"

	"github.com/forkless/kcp/internal/admission/request"
	"github.com/forkless/kcp/internal/tenancy/tenancytest"
	tenancyv1alpha1 "github.com/forkless/kcp/pkg/apis/tenancy/v1alpha1"
	"github.com/forkless/kcp/pkg/logicalcluster"
	"github.com/forkless/kcp/pkg/tenancy"
)

func attributes(obj runtime.Object) admission.Attributes {
	gvr := tenancyv1alpha1.GroupVersion.WithResource("workspaces")
	return admission.NewAttributesRecord(obj, nil, tenancyv1alpha1.GroupVersion.WithKind("Workspace"), "", "app", gvr, "", admission.Create, nil, false, nil)
}

func TestFailed(t *testing.T) {
	_, missing := tenancytest.New(t).Resolver().Find(t.Context(), tenancytest.PlaceAt("root"), tenancyv1alpha1.WorkspaceTypeReference{Name: "gone"})
	if !tenancy.IsUnresolved(missing) {
		t.Fatal(missing)
	}
	cases := map[string]struct {
		reason string
		err    error
		want   int32
	}{
		"Unresolved": {"the request is to blame", missing, http.StatusForbidden},
		"Wrapped":    {"however deep it is", fmt.Errorf("a: %w", missing), http.StatusForbidden},
		"Status":     {"a Status stays", apierrors.NewTooManyRequests("slow down", 1), http.StatusTooManyRequests},
		"WrappedStatus": {
			"a wrapped one too: the server looks at the error itself only",
			fmt.Errorf("a: %w", apierrors.NewTooManyRequests("slow down", 1)), http.StatusTooManyRequests,
		},
		"NotFound": {
			"a missing object of a reader is not the object of the request",
			apierrors.NewNotFound(corev1.Resource("x"), "y"), http.StatusServiceUnavailable,
		},
		"Other": {"what cannot be found out may be tried again", errors.New("broken"), http.StatusServiceUnavailable},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			// The server does not unwrap either.
			status, ok := request.Failed(attributes(nil), c.err).(apierrors.APIStatus)
			if !ok || status.Status().Code != c.want {
				t.Errorf("%s: got %v", c.reason, status)
			}
		})
	}
}

func TestAs(t *testing.T) {
	u := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{"cluster": "c", "unknown": "field"}}}
	ws, err := request.As[tenancyv1alpha1.Workspace](u)
	if err != nil || ws.Spec.Cluster != "c" {
		t.Errorf("an unstructured object is converted, got %v, %v", ws, err)
	}
	if same, err := request.As[tenancyv1alpha1.Workspace](ws); err != nil || same != ws {
		t.Errorf("a typed one is as it is, got %v, %v", same, err)
	}
	for name, obj := range map[string]runtime.Object{
		"None":      nil,
		"OtherKind": &corev1.ConfigMap{},
		"Nonsense":  &unstructured.Unstructured{Object: map[string]any{"spec": "nonsense"}},
	} {
		if _, err := request.As[tenancyv1alpha1.Workspace](obj); err == nil {
			t.Errorf("%s: cannot be read, but was", name)
		}
	}
}

func TestSetStrings(t *testing.T) {
	u := &unstructured.Unstructured{Object: map[string]any{"status": map[string]any{"initializers": []any{"a"}, "kept": "yes"}}}
	if err := request.SetStrings[string](u, nil, "status", "initializers"); err != nil {
		t.Fatal(err)
	}
	status := u.Object["status"].(map[string]any)
	if _, ok := status["initializers"]; ok || status["kept"] != "yes" {
		t.Errorf("no values remove the field and nothing else, got %v", status)
	}
	if err := request.SetStrings(&corev1.ConfigMap{}, []string{"a"}, "x"); err == nil {
		t.Error("only unstructured objects can be changed")
	}
}

func TestNoCaller(t *testing.T) {
	if request.Privileged(attributes(nil)) {
		t.Error("nobody is not privileged")
	}
	if _, err := request.Cluster(t.Context()); !apierrors.IsInternalError(err) {
		t.Errorf("a request without a cluster is a mistake in the server, got %v", err)
	}
	if got, err := request.Cluster(logicalcluster.NewContext(t.Context(), logicalcluster.Root)); err != nil || got != logicalcluster.Root {
		t.Errorf("got %v, %v", got, err)
	}
}

func TestAsNamesTheField(t *testing.T) {
	cases := map[string]struct {
		reason string
		spec   map[string]any
		want   string
	}{
		"Mount": {
			"an unquoted no is a boolean in YAML",
			map[string]any{"mount": map[string]any{"ref": map[string]any{"name": false}}},
			"spec.mount.ref.name",
		},
		"Type": {"a type is more than its name", map[string]any{"type": "universal"}, "spec.type"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			_, err := request.As[tenancyv1alpha1.Workspace](&unstructured.Unstructured{Object: map[string]any{"kind": "Workspace", "spec": c.spec}})
			if err == nil || !strings.HasPrefix(err.Error(), "reading Workspace: ") || !strings.Contains(err.Error(), c.want+" of type") {
				t.Errorf("%s: got %v, want it to name %s", c.reason, err, c.want)
			}
		})
	}
}
