package apiexport

import (
	"context"
	"net/http"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/labels"
	apischema "k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/endpoints/request"

	"github.com/forkless/kcp/internal/permissionclaims"
	"github.com/forkless/kcp/internal/route"
	"github.com/forkless/kcp/internal/virtual"
	apisv1alpha2 "github.com/forkless/kcp/pkg/apis/apis/v1alpha2"
	"github.com/forkless/kcp/pkg/logicalcluster"
)

// objects serves requests for objects that are allowed.
type objects struct {
	*Workspace
	builtin http.Handler
}

// ServeHTTP serves a request for objects. There is nothing else below an export.
func (o *objects) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	info, ok := request.RequestInfoFrom(req.Context())
	cluster, hasCluster := logicalcluster.FromContext(req.Context())
	e, found, err := o.exportOf(req.Context())
	switch {
	case err != nil:
		o.fail(w, req, err)
		return
	case !ok || !info.IsResourceRequest || !hasCluster || !found:
		o.notFound(w, req)
		return
	}
	r, ok, err := o.resource(req.Context(), e, apischema.GroupResource{Group: info.APIGroup, Resource: info.Resource})
	switch {
	case err != nil:
		o.fail(w, req, err)
	case !ok, !isNamed(req.Context(), r), info.Subresource != "" && !slices.Contains(r.subresources(), info.Subresource):
		o.notFound(w, req)
	case cluster.IsWildcard():
		o.serveAll(w, req, info, e, r)
	default:
		o.serveOne(w, req, info, cluster, e, r)
	}
}

// isNamed says whether a resource has the identity that a request names, if it does.
func isNamed(ctx context.Context, r *resource) bool {
	identityHash, ok := route.Identity(ctx)
	return !ok || r.ofIdentity() && r.served.Export.IdentityHash == identityHash
}

// serveAll serves the objects of all consumers, which can be listed and watched.
func (o *objects) serveAll(w http.ResponseWriter, req *http.Request, info *request.RequestInfo, e export, r *resource) {
	switch {
	case info.Verb != "list" && info.Verb != "watch":
		err := apierrors.NewMethodNotSupported(r.name, info.Verb)
		err.ErrStatus.Message += " in the `*` logical cluster"
		o.fail(w, req, err)
		return
	case info.Namespace != "":
		o.fail(w, req, apierrors.NewBadRequest("cross-cluster LIST and WATCH are required to be cross-namespace, not scoped to namespace "+info.Namespace))
		return
	}
	if r.claim != nil {
		guard, err := r.guard(e, apisv1alpha2.AcceptablePermissionClaim{})
		if err == nil {
			req, err = selecting(req, info.Verb, guard)
		}
		if err != nil {
			o.fail(w, req, err)
			return
		}
	}
	if info.Verb == "watch" {
		ctx, end := o.watches.begin(req.Context(), &watching{export: provider{cluster: e.cluster, name: e.Name}, resource: r})
		defer end()
		req = req.WithContext(ctx)
	}
	if r.isBuiltin() {
		o.builtin.ServeHTTP(w, req)
		return
	}
	o.Catalog.Serve(w, req, r.served)
}

// serveOne serves objects of one consumer, as it has them itself. The caller is allowed to
// do this, or is a master: for them what is not bound does not exist.
func (o *objects) serveOne(w http.ResponseWriter, req *http.Request, info *request.RequestInfo, cluster logicalcluster.Name, e export, r *resource) {
	b, err := o.bindingIn(req.Context(), cluster, e, func(b *apisv1alpha2.APIBinding) bool { return gives(b, r) })
	switch {
	case err != nil:
		o.fail(w, req, err)
		return
	case b == nil:
		o.notFound(w, req)
		return
	}
	if r.claim != nil {
		answer, _ := answerTo(b, r)
		guard, err := r.guard(e, answer)
		if err == nil {
			req, err = guarded(req, info, guard)
		}
		if err != nil {
			o.fail(w, req, err)
			return
		}
	}
	req = withWarrant(req, cluster)
	if r.isBuiltin() {
		// Not by way of the catalog: a definition that hides what is built in is
		// somebody else's.
		o.builtin.ServeHTTP(w, req)
		return
	}
	// The consumer may have another schema than the export has by now, and its objects
	// are written by that one.
	served, ok := o.Catalog.Lookup(cluster, r.name)
	if !ok || served.Identity != r.served.Identity || served.Export.IdentityHash != r.served.Export.IdentityHash {
		o.notFound(w, req)
		return
	}
	if r.claim == nil && (served.Export.Cluster != e.cluster || served.Export.Name != e.Name) {
		o.notFound(w, req)
		return
	}
	o.Catalog.Serve(w, req, served)
}

// guarded bounds a request into one consumer by what it gives of a claimed resource.
func guarded(req *http.Request, info *request.RequestInfo, guard *permissionclaims.Guard) (*http.Request, error) {
	req = req.WithContext(permissionclaims.WithGuard(req.Context(), guard))
	switch info.Verb {
	case "list", "watch", "deletecollection":
		return selecting(req, info.Verb, guard)
	default:
		return req, nil
	}
}

const labelSelector = "labelSelector"

// selecting adds to what a request for many objects selects that it be claimed.
func selecting(req *http.Request, verb string, guard *permissionclaims.Guard) (*http.Request, error) {
	requirements, err := guard.Requirements(verb)
	if err != nil {
		return req, err
	}
	query := req.URL.Query()
	// Parsed first: what is not well-formed might take the requirement into it.
	selector, err := labels.Parse(query.Get(labelSelector))
	if err != nil {
		return req, apierrors.NewBadRequest(err.Error())
	}
	query.Set(labelSelector, selector.Add(requirements...).String())
	inner := req.Clone(req.Context())
	inner.URL.RawQuery = query.Encode()
	inner.RequestURI = inner.URL.RequestURI()
	return inner, nil
}

func (w *Workspace) fail(writer http.ResponseWriter, req *http.Request, err error) {
	virtual.Fail(writer, req, w.Serializer, err)
}

func (w *Workspace) notFound(writer http.ResponseWriter, req *http.Request) {
	virtual.NotFound(writer, req, w.Serializer)
}
