package namespacelifecycle

import (
	"context"
	"errors"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/cache"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/utils/clock"

	"github.com/forkless/kcp/internal/admission/request"
	"github.com/forkless/kcp/pkg/logicalcluster"
	"github.com/forkless/kcp/pkg/tenancy"
)

// Name of the plugin.
const Name = "WorkspaceNamespaceLifecycle"

const (
	// distrustFor is how long after a deletion memory is not believed when it says
	// that a namespace is active.
	distrustFor = 30 * time.Second
	// distrustMost bounds how many deletions are remembered.
	distrustMost = 1000
)

var (
	// immortal are the namespaces that live as long as their workspace.
	immortal = sets.New(metav1.NamespaceDefault, metav1.NamespaceSystem, metav1.NamespacePublic)

	namespaceKind = corev1.SchemeGroupVersion.WithKind("Namespace").GroupKind()

	// localReviews are always answered: "not found" would tell which namespaces there
	// are.
	localReviews = schema.GroupResource{Group: "authorization.k8s.io", Resource: "localsubjectaccessreviews"}
)

// Namespaces reads in which phase namespaces are. A namespace that is not there is a
// NotFound Status that names it.
type Namespaces interface {
	// Phase answers from memory and may lag behind.
	Phase(ctx context.Context, cluster logicalcluster.Name, name string) (corev1.NamespacePhase, error)
	// LatestPhase answers from storage.
	LatestPhase(ctx context.Context, cluster logicalcluster.Name, name string) (corev1.NamespacePhase, error)
}

// Plugin is the plugin.
type Plugin struct {
	*admission.Handler
	namespaces Namespaces
	clusters   tenancy.Clusters
	// deleted holds the namespaces that were deleted a moment ago.
	deleted *cache.LRUExpireCache
}

var _ admission.MutationInterface = &Plugin{}

// New returns the plugin.
func New(namespaces Namespaces, clusters tenancy.Clusters) *Plugin {
	return newWithClock(namespaces, clusters, clock.RealClock{})
}

func newWithClock(namespaces Namespaces, clusters tenancy.Clusters, clock cache.Clock) *Plugin {
	return &Plugin{
		Handler:    admission.NewHandler(admission.Create, admission.Update, admission.Delete),
		namespaces: namespaces,
		clusters:   clusters,
		deleted:    cache.NewLRUExpireCacheWithClock(distrustMost, clock),
	}
}

// namespaceKey names a namespace in a cluster.
type namespaceKey struct {
	cluster logicalcluster.Name
	name    string
}

// Admit says whether the namespace of the request allows it.
func (p *Plugin) Admit(ctx context.Context, a admission.Attributes, _ admission.ObjectInterfaces) error {
	switch {
	case a.GetKind().GroupKind() == namespaceKind:
		return p.admitNamespace(ctx, a)
	case a.GetNamespace() == "", a.GetOperation() == admission.Delete, a.GetResource().GroupResource() == localReviews:
		return nil
	default:
		return p.admitContent(ctx, a)
	}
}

// admitNamespace refuses the deletion of immortal namespaces and remembers that of
// others.
func (p *Plugin) admitNamespace(ctx context.Context, a admission.Attributes) error {
	if a.GetOperation() != admission.Delete {
		return nil
	}
	cluster, err := request.Cluster(ctx)
	if err != nil {
		return err
	}
	if immortal.Has(a.GetName()) {
		dying, err := p.dying(ctx, cluster)
		if err != nil {
			return request.Failed(a, err)
		}
		if !dying {
			return request.Denied(a, "this namespace may not be deleted")
		}
	}
	p.deleted.Add(namespaceKey{cluster, a.GetName()}, nil, distrustFor)
	return nil
}

// dying says whether the logical cluster is being deleted.
func (p *Plugin) dying(ctx context.Context, cluster logicalcluster.Name) (bool, error) {
	lc, err := p.clusters.Get(ctx, cluster)
	switch {
	case apierrors.IsNotFound(err):
		return false, nil
	case err != nil:
		return false, fmt.Errorf("reading the logical cluster: %w", err)
	}
	return !lc.DeletionTimestamp.IsZero(), nil
}

// admitContent refuses what is not in a living namespace. Changes are fine while a
// namespace goes away: finalizers have to be removed.
func (p *Plugin) admitContent(ctx context.Context, a admission.Attributes) error {
	cluster, err := request.Cluster(ctx)
	if err != nil {
		return err
	}
	phase, err := p.phase(ctx, namespaceKey{cluster, a.GetNamespace()})
	switch {
	case apierrors.IsNotFound(err):
		return err
	case err != nil:
		return request.Failed(a, err)
	case a.GetOperation() == admission.Create && phase == corev1.NamespaceTerminating:
		return terminating(a)
	}
	return nil
}

// phase asks storage where memory may be behind: for a namespace that has just been
// created or deleted.
func (p *Plugin) phase(ctx context.Context, key namespaceKey) (corev1.NamespacePhase, error) {
	phase, err := p.namespaces.Phase(ctx, key.cluster, key.name)
	if err != nil && !apierrors.IsNotFound(err) {
		return "", err
	}
	_, distrusted := p.deleted.Get(key)
	if err != nil || (distrusted && phase == corev1.NamespaceActive) {
		return p.namespaces.LatestPhase(ctx, key.cluster, key.name)
	}
	return phase, nil
}

// terminating is upstream's answer, cause included: clients branch on it.
func terminating(a admission.Attributes) error {
	err := request.Denied(a, "unable to create new content in namespace %s because it is being terminated", a.GetNamespace())
	var status *apierrors.StatusError
	if errors.As(err, &status) && status.ErrStatus.Details != nil {
		status.ErrStatus.Details.Causes = append(status.ErrStatus.Details.Causes, metav1.StatusCause{
			Type:    corev1.NamespaceTerminatingCause,
			Message: fmt.Sprintf("namespace %s is being terminated", a.GetNamespace()),
			Field:   "metadata.namespace",
		})
	}
	return err
}
