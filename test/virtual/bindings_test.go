package virtual

import (
	"net/http"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// bindingBehavior is what a provider sees of the bindings to its export.
var bindingBehavior = map[string]behavior{
	"Own": {
		reason: "a provider reads the bindings to its export, no others, and does not write them",
		test: func(t *testing.T, s *suite) {
			consumer, other := s.newPlace(t), s.newPlace(t)
			s.provide(t, other, cowboySchema, bareExport)
			s.bind(t, consumer, s.provider, "wild.west")
			s.create(t, consumer, `
apiVersion: apis.kcp.io/v1alpha2
kind: APIBinding
metadata: {name: bare}
spec: {reference: {export: {path: "`+other.path+`", name: bare}}}
`)
			found, err := list(t.Context(), s.through(t, providing, everywhere), apibindings)
			must(t, err)
			for _, in := range []place{s.first, s.second, consumer} {
				if !clusters(found, "wild.west")[in.name] {
					t.Errorf("the binding in %s is missing", in.name)
				}
			}
			if len(clusters(found, "bare")) != 0 || clusters(found, "wild.west")[s.third.name] {
				t.Error("a binding to another export is shown")
			}
			client := s.through(t, providing, consumer).Resource(apibindings)
			found, err = client.List(t.Context(), metav1.ListOptions{})
			must(t, err)
			if len(found.Items) != 1 {
				t.Errorf("%d bindings in the consumer", len(found.Items))
			}
			_, err = client.Get(t.Context(), "wild.west", metav1.GetOptions{})
			must(t, err)
			_, err = client.Get(t.Context(), "bare", metav1.GetOptions{})
			wantCode(t, err, http.StatusNotFound)
			wantCode(t, client.Delete(t.Context(), "wild.west", metav1.DeleteOptions{}), http.StatusForbidden, "has no permission claim for apibindings.apis.kcp.io")
			_, err = client.Patch(t.Context(), "wild.west", types.MergePatchType, []byte(`{"metadata":{"labels":{"a":"b"}}}`), metav1.PatchOptions{})
			wantCode(t, err, http.StatusForbidden)
		},
	},
}
