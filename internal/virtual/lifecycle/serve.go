package lifecycle

import (
	"context"
	"net/http"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apiserver/pkg/endpoints/request"

	"github.com/forkless/kcp/internal/catalog"
	"github.com/forkless/kcp/internal/route"
	"github.com/forkless/kcp/internal/schema"
	"github.com/forkless/kcp/internal/virtual"
	corev1alpha1 "github.com/forkless/kcp/pkg/apis/core/v1alpha1"
	"github.com/forkless/kcp/pkg/logicalcluster"
	"github.com/forkless/kcp/pkg/tenancy"
)

// Handler implements virtual.Workspace.
func (w *Workspace) Handler(http.Handler) http.Handler {
	nothing := http.HandlerFunc(w.notFound)
	all := w.Discovery.SelectionHandler(w.OpenAPI.SelectionHandler(nothing, w.selection), w.selection)
	one := w.Content
	if one == nil {
		one = nothing
	}
	if w.kind == tenancy.Terminating {
		// What ends has nothing new to offer: only what can be done about its end is shown.
		one = w.Discovery.SelectionHandler(one, w.selection)
	}
	return http.HandlerFunc(func(writer http.ResponseWriter, req *http.Request) {
		hook, ok := w.hookOf(req.Context())
		cluster, hasCluster := logicalcluster.FromContext(req.Context())
		info, hasInfo := request.RequestInfoFrom(req.Context())
		switch {
		case !ok || !hasCluster || !hasInfo:
			w.notFound(writer, req)
		case info.IsResourceRequest && info.APIGroup == resource.Group && info.Resource == resource.Resource:
			w.serveClusters(writer, req, info, hook, cluster)
		case cluster.IsWildcard():
			all.ServeHTTP(writer, req)
		default:
			one.ServeHTTP(writer, req)
		}
	})
}

// selection is what the documents show.
func (w *Workspace) selection(*http.Request) (schema.Selection, error) {
	served, _ := w.Catalog.Lookup(logicalcluster.Wildcard, resource)
	return schema.Selection{
		Definitions: []schema.Served{served},
		Shown:       []schema.Shown{{Resource: resource, Verbs: []string{"get", "list", "watch"}, Subresources: []string{"status"}}},
	}, nil
}

// serveClusters serves requests for LogicalClusters.
func (w *Workspace) serveClusters(writer http.ResponseWriter, req *http.Request, info *request.RequestInfo, hook tenancy.Hook, cluster logicalcluster.Name) {
	_, named := route.Identity(req.Context())
	switch {
	case named || info.APIVersion != corev1alpha1.GroupVersion.Version:
		// They are nobody's export.
		w.notFound(writer, req)
		return
	case cluster.IsWildcard() && info.Verb != "list" && info.Verb != "watch":
		err := apierrors.NewMethodNotSupported(resource, info.Verb)
		err.ErrStatus.Message += " in the `*` logical cluster"
		virtual.Fail(writer, req, w.Serializer, err)
		return
	}
	registries, err := w.registries(hook)
	if err != nil {
		virtual.Fail(writer, req, w.Serializer, err)
		return
	}
	w.Catalog.ServeFrom(writer, req, registries)
}

// registries serve what waits for a hook.
func (w *Workspace) registries(hook tenancy.Hook) (catalog.Registries, error) {
	all, err := w.Catalog.Registries(resource, corev1alpha1.GroupVersion.Version)
	if err != nil {
		return catalog.Registries{}, err
	}
	waiting := &waiting{Reader: all.Resource, hook: hook}
	return catalog.Registries{
		Resource: waiting,
		Status:   &status{Patcher: all.Status, waiting: waiting, workspace: w},
	}, nil
}

func (w *Workspace) notFound(writer http.ResponseWriter, req *http.Request) {
	virtual.NotFound(writer, req, w.Serializer)
}

// userName returns the name of who makes a request.
func userName(ctx context.Context) string {
	if u, ok := request.UserFrom(ctx); ok {
		return u.GetName()
	}
	return ""
}
