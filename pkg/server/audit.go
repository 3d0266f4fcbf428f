package server

import (
	"net/http"

	"k8s.io/apiserver/pkg/audit"

	"github.com/forkless/kcp/pkg/logicalcluster"
)

// tenantAnnotation is the older name of the cluster in audit events.
const tenantAnnotation = "tenancy.kcp.io/workspace"

// withAuditedCluster says in audit events which cluster they are about, and which path
// leads to it; their URIs do not have it any more.
func (s *Server) withAuditedCluster(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if cluster, ok := logicalcluster.FromContext(r.Context()); ok {
			audit.AddAuditAnnotations(r.Context(),
				logicalcluster.AnnotationKey, cluster.String(),
				tenantAnnotation, cluster.String(),
				logicalcluster.PathAnnotationKey, s.canonicalPath(r, cluster))
		}
		next.ServeHTTP(w, r)
	})
}

// canonicalPath returns the path that leads to a cluster from its root, or nothing for
// one that has none.
func (s *Server) canonicalPath(r *http.Request, cluster logicalcluster.Name) string {
	if cluster.IsWildcard() || cluster.IsSystem() {
		return ""
	}
	logicalCluster, err := s.logicalClusters.Get(r.Context(), cluster)
	if err != nil {
		return ""
	}
	return logicalCluster.Annotations[logicalcluster.PathAnnotationKey]
}
