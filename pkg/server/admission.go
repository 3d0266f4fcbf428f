package server

import (
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apiserver/pkg/admission"

	kcpadmission "github.com/forkless/kcp/internal/admission"
	"github.com/forkless/kcp/internal/admission/informers"
	"github.com/forkless/kcp/internal/storage/cached"
	"github.com/forkless/kcp/pkg/logicalcluster"
)

// admission makes the chain of admission plugins. What they ask the authorizer leaves
// no trace in the audit event of the request.
func (s *Server) admission() (admission.Interface, error) {
	namespaces := cached.NewNamespaceReader(s.layer)
	s.listeners = append(s.listeners, s.configurations.Listener())
	return kcpadmission.New(kcpadmission.Config{
		Types:          s.workspaceTypes,
		Clusters:       s.logicalClusters,
		Paths:          s.resolver,
		ObjectLimits:   s.objectLimits,
		ObjectCounts:   s.layer,
		Quotas:         s.quotas,
		Authorizer:     s.authorizer.Silent(),
		Namespaces:     namespaces,
		Configurations: informers.Sources{Index: s.configurations, Namespaces: namespaces},
		// The kinds are known when requests come, and not yet.
		Mapper: func(cluster logicalcluster.Name) meta.RESTMapper { return s.kinds.Mapper(cluster) },
	})
}
