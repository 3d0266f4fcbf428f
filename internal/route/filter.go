package route

import (
	"context"
	"errors"
	"net/http"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/audit"
	"k8s.io/apiserver/pkg/endpoints/handlers/responsewriters"
	"k8s.io/apiserver/pkg/endpoints/request"

	"github.com/forkless/kcp/internal/tenancy/phase"
	corev1alpha1 "github.com/forkless/kcp/pkg/apis/core/v1alpha1"
	"github.com/forkless/kcp/pkg/logicalcluster"
)

const metricsPath = "/metrics"

// WithCluster takes the cluster off the URL and puts it into the context. Requests
// without a cluster prefix go on without a cluster, but for /metrics, which the
// policy of root decides about. So do those to paths that lead nowhere and that expected
// says may lead somewhere once the caller is known: the path is in the context. Those to
// mounted workspaces go on with mounts, with the Mount in the context instead of a cluster;
// where mounts is nil nothing can be mounted. If otherwise is not zero, requests without a
// prefix go there.
func WithCluster(next, mounts http.Handler, resolver *Resolver, expected func(logicalcluster.Path) bool, otherwise logicalcluster.Name, errorCodec runtime.NegotiatedSerializer) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		path, rest, ok, err := Split(r.URL)
		switch {
		case !ok && !otherwise.Empty():
			next.ServeHTTP(w, r.WithContext(logicalcluster.NewContext(r.Context(), otherwise)))
			return
		case !ok && r.URL.Path == metricsPath:
			next.ServeHTTP(w, r.WithContext(logicalcluster.NewContext(r.Context(), logicalcluster.Root)))
			return
		case !ok:
			next.ServeHTTP(w, r)
			return
		case err != nil:
			writeError(w, r, errorCodec, apierrors.NewBadRequest(err.Error()))
			return
		case rest.Path == metricsPath || strings.HasPrefix(rest.Path, metricsPath+"/"):
			// The workspace does not matter, so it need not be there. The answer is
			// given behind authentication, where the audit log sees it.
			inner := r.WithContext(context.WithValue(r.Context(), processPathKey{}, true))
			inner.URL, inner.RequestURI = rest, rest.RequestURI()
			next.ServeHTTP(w, inner)
			return
		}
		target, err := resolver.Target(r.Context(), path)
		if err == nil && target.Mount != nil && mounts == nil {
			err = notFound(path)
		}
		switch {
		case errors.Is(err, ErrUnavailable):
			NotAvailable(w)
			return
		case apierrors.IsNotFound(err) && expected(path):
			inner := r.WithContext(context.WithValue(r.Context(), missingKey{}, path))
			inner.URL, inner.RequestURI = rest, rest.RequestURI()
			next.ServeHTTP(w, inner)
			return
		case err != nil:
			writeError(w, r, errorCodec, err)
			return
		}
		to, ctx := next, r.Context()
		if target.Mount != nil {
			to, ctx = mounts, NewMountContext(ctx, target.Mount)
		} else {
			ctx = logicalcluster.NewContext(ctx, target.Cluster)
		}
		inner := r.WithContext(ctx)
		inner.URL = rest
		inner.RequestURI = rest.RequestURI()
		to.ServeHTTP(w, inner)
	})
}

// NotAvailable answers a request to a workspace that cannot be used at present.
func NotAvailable(w http.ResponseWriter) {
	http.Error(w, "Not available.", http.StatusServiceUnavailable)
}

// missingKey is where WithCluster keeps the path of a request that leads nowhere yet.
type missingKey struct{}

// MissingFrom returns the path of a request that leads nowhere yet, and was expected.
func MissingFrom(ctx context.Context) (path logicalcluster.Path, ok bool) {
	path, ok = ctx.Value(missingKey{}).(logicalcluster.Path)
	return path, ok
}

// processPathKey marks requests for a path of the process below that of a workspace.
type processPathKey struct{}

// WithoutProcessPaths refuses what WithCluster has marked: what the process measures is
// no workspace's, and nobody is told it in the name of one.
func WithoutProcessPaths(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Context().Value(processPathKey{}) == nil {
			next.ServeHTTP(w, r)
			return
		}
		audit.AddAuditAnnotation(r.Context(), "shardpaths.kcp.io/rejected", r.URL.Path)
		http.Error(w, "shard-level endpoint not available at workspace scope", http.StatusNotImplemented)
	})
}

// Clusters reads the LogicalCluster of a cluster. A missing one is a NotFound Status
// error.
type Clusters interface {
	Get(ctx context.Context, name logicalcluster.Name) (*corev1alpha1.LogicalCluster, error)
}

// WithoutInactive refuses requests into clusters that have been taken offline, for
// everybody. The LogicalCluster stays in reach, so that it can be brought back.
func WithoutInactive(next http.Handler, clusters Clusters, errorCodec runtime.NegotiatedSerializer) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		cluster, ok := logicalcluster.FromContext(r.Context())
		if !ok || cluster.IsWildcard() || cluster.IsSystem() || isReachableInactive(r.URL.Path) {
			next.ServeHTTP(w, r)
			return
		}
		logicalCluster, err := clusters.Get(r.Context(), cluster)
		if err == nil && phase.Inactive(logicalCluster.Annotations) {
			writeError(w, r, errorCodec, apierrors.NewForbidden(corev1alpha1.Resource("logicalclusters"), cluster.String(),
				errors.New("logical cluster is marked inactive")))
			return
		}
		next.ServeHTTP(w, r)
	})
}

func isReachableInactive(path string) bool {
	return strings.HasPrefix(path, "/openapi") || strings.HasPrefix(path, "/apis/core.kcp.io/v1alpha1/logicalclusters")
}

// WithWildcardGuard lets only lists and watches through to the wildcard cluster, and
// no resource request without a cluster. There, namespaces of one name have nothing to do
// with each other, so none can be asked for. It comes behind authorization, which lets
// few callers get here.
func WithWildcardGuard(next http.Handler, errorCodec runtime.NegotiatedSerializer) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		info, ok := request.RequestInfoFrom(r.Context())
		if !ok || !info.IsResourceRequest {
			next.ServeHTTP(w, r)
			return
		}
		cluster, ok := logicalcluster.FromContext(r.Context())
		switch {
		case !ok:
			writeError(w, r, errorCodec, apierrors.NewBadRequest(
				"the request names no logical cluster: resources are found below /clusters/<workspace path>"))
		case cluster.IsWildcard() && info.Verb != "list" && info.Verb != "watch":
			writeError(w, r, errorCodec, wildcardNotAllowed(info))
		case cluster.IsWildcard() && info.Namespace != "":
			writeError(w, r, errorCodec, apierrors.NewBadRequest(
				"cross-cluster LIST and WATCH are required to be cross-namespace: not namespace "+info.Namespace))
		default:
			next.ServeHTTP(w, r)
		}
	})
}

func wildcardNotAllowed(info *request.RequestInfo) error {
	resource := schema.GroupResource{Group: info.APIGroup, Resource: info.Resource}
	status := apierrors.NewMethodNotSupported(resource, info.Verb)
	status.ErrStatus.Message += " in the `*` logical cluster"
	return status
}

func writeError(w http.ResponseWriter, r *http.Request, codec runtime.NegotiatedSerializer, err error) {
	version := schema.GroupVersion{Version: "v1"}
	if info, ok := request.RequestInfoFrom(r.Context()); ok {
		version = schema.GroupVersion{Group: info.APIGroup, Version: info.APIVersion}
	}
	responsewriters.ErrorNegotiated(err, codec, version, w, r)
}
