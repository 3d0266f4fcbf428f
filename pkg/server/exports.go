package server

import (
	"context"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/forkless/kcp/internal/admission/configurations"
	"github.com/forkless/kcp/internal/authz"
	"github.com/forkless/kcp/pkg/logicalcluster"
)

// boundExports tells authorization and admission where bound resources come from. The
// catalog is there by the time requests come.
type boundExports struct{ server *Server }

var (
	_ authz.Exports        = boundExports{}
	_ configurations.Bound = boundExports{}
)

// BoundFrom implements authz.Exports and configurations.Bound.
func (b boundExports) BoundFrom(in logicalcluster.Name, resource schema.GroupResource) (cluster logicalcluster.Name, name string, ok bool) {
	served, ok := b.server.catalog.Lookup(in, resource)
	if !ok || !served.IsBound() {
		return logicalcluster.Name{}, "", false
	}
	return served.Export.Cluster, served.Export.Name, true
}

// HasPolicy implements authz.Exports.
func (b boundExports) HasPolicy(ctx context.Context, cluster logicalcluster.Name, name string) (bool, error) {
	export, err := b.server.sharing.Export(ctx, cluster, name)
	if apierrors.IsNotFound(err) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	policy := export.Spec.MaximalPermissionPolicy
	return policy != nil && policy.Local != nil, nil
}
