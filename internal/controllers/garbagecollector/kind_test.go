package garbagecollector

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/forkless/kcp/internal/catalog"
	"github.com/forkless/kcp/internal/storage"
)

func kindOf(store storage.Resource) catalog.Kind { return catalog.Kind{Store: store} }

// TestFits: an owner that is gone is only the one a reference means if all it says is true.
func TestFits(t *testing.T) {
	widgets := storage.Resource{Identity: storage.CustomResources}
	widgets.Group, widgets.Resource = "example.com", "widgets"
	gone := item{location: location{resource: widgets, kind: "Widget", namespace: "default", name: "owner"}}
	ref := metav1.OwnerReference{APIVersion: "example.com/v1", Kind: "Widget", Name: "owner"}
	for name, tc := range map[string]struct {
		reason    string
		namespace string
		change    func(*metav1.OwnerReference)
		known     bool
		kind      catalog.Kind
		want      bool
	}{
		"Same":             {reason: "it is the one", namespace: "default", known: true, kind: kindOf(widgets), want: true},
		"OtherNamespace":   {reason: "an owner is in the namespace of its dependent", namespace: "other", known: true, kind: kindOf(widgets)},
		"NoNamespace":      {reason: "or the dependent has none", known: true, kind: kindOf(widgets)},
		"OtherName":        {reason: "names count", namespace: "default", known: true, kind: kindOf(widgets), change: func(r *metav1.OwnerReference) { r.Name = "x" }},
		"OtherResource":    {reason: "kinds count", namespace: "default", known: true, kind: kindOf(secrets)},
		"KindGone":         {reason: "its definition may have gone with it", namespace: "default", want: true},
		"OtherVersionGone": {reason: "all versions show the same objects", namespace: "default", change: func(r *metav1.OwnerReference) { r.APIVersion = "example.com/v2" }, want: true},
		"OtherKindGone":    {reason: "kinds count, also those that are gone", namespace: "default", change: func(r *metav1.OwnerReference) { r.Kind = "Gadget" }},
		"OtherGroupGone":   {reason: "groups count", namespace: "default", change: func(r *metav1.OwnerReference) { r.APIVersion = "v1" }},
		"NoVersion":        {reason: "nonsense is nobody", namespace: "default", change: func(r *metav1.OwnerReference) { r.APIVersion = "a/b/c" }},
	} {
		t.Run(name, func(t *testing.T) {
			ref := ref
			if tc.change != nil {
				tc.change(&ref)
			}
			if got := gone.fits(tc.namespace, ref, tc.kind, tc.known); got != tc.want {
				t.Errorf("%s: got %v", tc.reason, got)
			}
		})
	}
}
