package cached

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/kubernetes/pkg/apis/core"

	"github.com/forkless/kcp/internal/storage"
	"github.com/forkless/kcp/pkg/logicalcluster"
)

// NamespaceReader reads namespaces.
type NamespaceReader struct {
	reader *storage.Reader[core.Namespace, *core.Namespace, *core.NamespaceList]
}

// NewNamespaceReader returns a reader over layer.
func NewNamespaceReader(layer *storage.Layer) NamespaceReader {
	return NamespaceReader{storage.NewReader[core.Namespace](layer, Namespaces,
		func() *core.NamespaceList { return &core.NamespaceList{} },
		func(l *core.NamespaceList) []core.Namespace { return l.Items })}
}

// Get returns a namespace, or a NotFound Status error.
func (r NamespaceReader) Get(ctx context.Context, cluster logicalcluster.Name, name string) (*core.Namespace, error) {
	return r.reader.Get(ctx, cluster, "", name)
}

// GetCurrent is Get from etcd instead of the watch cache.
func (r NamespaceReader) GetCurrent(ctx context.Context, cluster logicalcluster.Name, name string) (*core.Namespace, error) {
	return r.reader.GetCurrent(ctx, cluster, "", name)
}

// List returns the namespaces of a cluster, or of all for the wildcard.
func (r NamespaceReader) List(ctx context.Context, cluster logicalcluster.Name) ([]core.Namespace, error) {
	return r.reader.List(ctx, cluster, "")
}

// Phase returns the phase of a namespace, or a NotFound Status error. One that is
// being deleted is terminating, whatever its status says.
func (r NamespaceReader) Phase(ctx context.Context, cluster logicalcluster.Name, name string) (corev1.NamespacePhase, error) {
	return phaseOf(r.reader.Get(ctx, cluster, "", name))
}

// LatestPhase is Phase from etcd instead of the watch cache.
func (r NamespaceReader) LatestPhase(ctx context.Context, cluster logicalcluster.Name, name string) (corev1.NamespacePhase, error) {
	return phaseOf(r.reader.GetCurrent(ctx, cluster, "", name))
}

func phaseOf(namespace *core.Namespace, err error) (corev1.NamespacePhase, error) {
	switch {
	case err != nil:
		return "", err
	case namespace.DeletionTimestamp != nil:
		return corev1.NamespaceTerminating, nil
	default:
		return corev1.NamespacePhase(namespace.Status.Phase), nil
	}
}
