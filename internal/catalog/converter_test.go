package catalog_test

import (
	"net/http"
	"slices"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	apischema "k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/forkless/kcp/internal/catalog"
	"github.com/forkless/kcp/internal/catalog/compiled"
	"github.com/forkless/kcp/internal/schema"
)

// reversing writes colors backwards when it converts them, and refuses those that are
// called refused.
type reversing struct{}

func (reversing) Convert(objects []*unstructured.Unstructured, to apischema.GroupVersion) ([]*unstructured.Unstructured, error) {
	for _, u := range objects {
		u.SetAPIVersion(to.String())
		color, found, _ := unstructured.NestedString(u.Object, "spec", "color")
		if color == "refused" {
			return nil, apierrors.NewBadRequest("no such color")
		}
		if found {
			letters := []rune(color)
			slices.Reverse(letters)
			_ = unstructured.SetNestedField(u.Object, string(letters), "spec", "color")
		}
	}
	return objects, nil
}

// TestConverter: what is converted in this process is converted for whatever a client
// does.
func TestConverter(t *testing.T) {
	s := newServer(t, func(config *catalog.Config) {
		config.Converter = func(served schema.Served) (compiled.Converter, error) { return reversing{}, nil }
	})
	s.define(one, "widgets", func(crd *apiextensionsv1.CustomResourceDefinition) {
		crd.Spec.Versions[1].SelectableFields = crd.Spec.Versions[0].SelectableFields
	})
	s.must(http.StatusCreated, "POST", widgetsURL, widget("a", "color: red"))
	expect := func(want string, r response) {
		t.Helper()
		if got := r.field("spec", "color"); got != want {
			t.Errorf("got color %s, want %s: %s", got, want, r)
		}
	}

	t.Run("Read", func(t *testing.T) {
		expect("red", s.must(http.StatusOK, "GET", widgetsURL+"/a", ""))
		expect("der", s.must(http.StatusOK, "GET", betaURL+"/a", ""))
	})
	t.Run("Write", func(t *testing.T) {
		expect("neerg", s.must(http.StatusCreated, "POST", betaURL, "{apiVersion: example.com/v1beta1, kind: Widget, metadata: {name: b}, spec: {color: neerg}}"))
		expect("green", s.must(http.StatusOK, "GET", widgetsURL+"/b", ""))
	})
	t.Run("List", func(t *testing.T) {
		list := s.must(http.StatusOK, "GET", betaURL, "")
		items, _ := list.object.ToList()
		if len(items.Items) != 2 || items.Items[1].Object["spec"].(map[string]any)["color"] != "neerg" {
			t.Errorf("got %s", list)
		}
	})
	t.Run("Select", func(t *testing.T) {
		list := s.must(http.StatusOK, "GET", betaURL+"?fieldSelector=spec.color%3Dder", "")
		if items, _ := list.object.ToList(); len(items.Items) != 1 || items.Items[0].GetName() != "a" {
			t.Errorf("got %s", list)
		}
	})
	t.Run("Watch", func(t *testing.T) {
		if next := s.next(s.watch(betaURL + "?watch=true&resourceVersion=0")); next != "ADDED a" {
			t.Errorf("got %s", next)
		}
	})
	t.Run("Patch", func(t *testing.T) {
		expect("eulb", s.must(http.StatusOK, "PATCH", betaURL+"/a", `{"spec": {"color": "eulb"}}`, header{"Content-Type", "application/merge-patch+json"}))
		expect("blue", s.must(http.StatusOK, "GET", widgetsURL+"/a", ""))
	})
	t.Run("Apply", func(t *testing.T) {
		apply := header{"Content-Type", "application/apply-patch+yaml"}
		expect("kcalb", s.must(http.StatusCreated, "PATCH", betaURL+"/c?fieldManager=x", "{apiVersion: example.com/v1beta1, kind: Widget, metadata: {name: c}, spec: {color: kcalb}}", apply))
		expect("black", s.must(http.StatusOK, "GET", widgetsURL+"/c", ""))
		// The same value, in the other version, is no conflict; another one is.
		s.must(http.StatusOK, "PATCH", widgetsURL+"/c?fieldManager=y", "{apiVersion: example.com/v1, kind: Widget, metadata: {name: c}, spec: {color: black}}", apply)
		s.must(http.StatusConflict, "PATCH", widgetsURL+"/c?fieldManager=y", "{apiVersion: example.com/v1, kind: Widget, metadata: {name: c}, spec: {color: white}}", apply)
	})
	t.Run("Refuse", func(t *testing.T) {
		s.must(http.StatusBadRequest, "POST", betaURL, "{apiVersion: example.com/v1beta1, kind: Widget, metadata: {name: d}, spec: {color: refused}}")
	})
}
