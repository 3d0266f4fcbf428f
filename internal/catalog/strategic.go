package catalog

import (
	"mime"
	"net/http"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/endpoints/handlers"
	"k8s.io/apiserver/pkg/registry/rest"
	kubernetes "k8s.io/client-go/kubernetes/scheme"
)

// patch returns the handler of patches. Strategic merge patches need the Go type of what
// they change, which says how lists are merged. Types of Kubernetes have one, and their
// clients send such patches without asking whether it is custom resources that they
// change.
func patch(storage rest.Patcher, scope *handlers.RequestScope, admit admission.Interface) http.HandlerFunc {
	plain := handlers.PatchResource(storage, scope, admit, patchTypes())
	if scope.Subresource == "scale" || !kubernetes.Scheme.Recognizes(scope.Kind) {
		return plain
	}
	return func(w http.ResponseWriter, req *http.Request) {
		mediaType, _, err := mime.ParseMediaType(req.Header.Get("Content-Type"))
		if err != nil || mediaType != string(types.StrategicMergePatchType) {
			plain(w, req)
			return
		}
		merging := *scope
		merging.UnsafeConvertor = typeConvertor{scope.UnsafeConvertor}
		handlers.PatchResource(typedPatcher{storage, scope}, &merging, admit, []string{mediaType})(w, req)
	}
}

// typedPatcher says that the objects of a registry have the Go type of Kubernetes.
type typedPatcher struct {
	rest.Patcher
	scope *handlers.RequestScope
}

// New implements rest.Patcher.
func (p typedPatcher) New() runtime.Object {
	typed, err := kubernetes.Scheme.New(p.scope.Kind)
	if err != nil {
		return p.Patcher.New()
	}
	return typed
}

// typeConvertor leaves objects of Go types as they are: they are asked for their type.
type typeConvertor struct{ runtime.ObjectConvertor }

// ConvertToVersion implements runtime.ObjectConvertor.
func (c typeConvertor) ConvertToVersion(in runtime.Object, gv runtime.GroupVersioner) (runtime.Object, error) {
	if _, ok := in.(runtime.Unstructured); !ok {
		return in, nil
	}
	return c.ObjectConvertor.ConvertToVersion(in, gv)
}
