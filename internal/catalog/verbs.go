package catalog

import (
	"net/http"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/endpoints/handlers"
	"k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/apiserver/pkg/features"
	"k8s.io/apiserver/pkg/registry/rest"
	utilfeature "k8s.io/apiserver/pkg/util/feature"

	"github.com/forkless/kcp/internal/catalog/compiled"
	"github.com/forkless/kcp/internal/schema"
)

// patchTypes returns the patches that all custom resources accept.
func patchTypes() []string {
	patches := []string{
		string(types.JSONPatchType),
		string(types.MergePatchType),
		string(types.ApplyYAMLPatchType),
	}
	if utilfeature.DefaultFeatureGate.Enabled(features.CBORServingAndStorage) {
		patches = append(patches, string(types.ApplyCBORPatchType))
	}
	return patches
}

// handlerFor returns what handles a request for version, or the error to answer with.
func (c *Catalog) handlerFor(info *request.RequestInfo, served schema.Served, version *compiled.Version) (http.HandlerFunc, error) {
	var handler http.HandlerFunc
	switch {
	case info.Subresource == "":
		handler = c.resource(info.Verb, version, c.admissionFor(served))
	case info.Subresource == "status" && version.Status != nil:
		handler = subresource(info.Verb, version.Status, version.StatusScope, c.config.Admission)
	case info.Subresource == "scale" && version.Scale != nil:
		handler = subresource(info.Verb, version.Scale, version.ScaleScope, c.config.Admission)
	default:
		return nil, apierrors.NewNotFound(served.Definition.GroupResource(), info.Name)
	}
	if handler == nil {
		return nil, apierrors.NewMethodNotSupported(served.Definition.GroupResource(), info.Verb)
	}
	return handler, nil
}

// resource returns the handler of verb for the resource itself, or nil.
func (c *Catalog) resource(verb string, version *compiled.Version, admit admission.Interface) http.HandlerFunc {
	storage, scope := version.Resource, version.Scope
	switch verb {
	case "get":
		return handlers.GetResource(storage, scope)
	case "list", "watch":
		return handlers.ListResource(storage, storage, scope, verb == "watch", c.config.MinRequestTimeout)
	case "create":
		return handlers.CreateResource(storage, scope, admit)
	case "update":
		return handlers.UpdateResource(storage, scope, admit)
	case "patch":
		return patch(storage, scope, admit)
	case "delete":
		const allowsOptions = true
		return handlers.DeleteResource(storage, allowsOptions, scope, admit)
	case "deletecollection":
		const checkBody = true
		return handlers.DeleteCollection(storage, checkBody, scope, admit)
	default:
		return nil
	}
}

// subresource returns the handler of verb for a subresource, or nil.
func subresource(verb string, storage rest.Patcher, scope *handlers.RequestScope, admit admission.Interface) http.HandlerFunc {
	switch verb {
	case "get":
		return handlers.GetResource(storage, scope)
	case "update":
		return handlers.UpdateResource(storage, scope, admit)
	case "patch":
		return patch(storage, scope, admit)
	default:
		return nil
	}
}
