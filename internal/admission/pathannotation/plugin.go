package pathannotation

import (
	"context"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apiserver/pkg/admission"

	"github.com/forkless/kcp/internal/admission/request"
	corev1alpha1 "github.com/forkless/kcp/pkg/apis/core/v1alpha1"
	tenancyv1alpha1 "github.com/forkless/kcp/pkg/apis/tenancy/v1alpha1"
	"github.com/forkless/kcp/pkg/logicalcluster"
	"github.com/forkless/kcp/pkg/tenancy"
)

// Name of the plugin.
const Name = "kcp.io/PathAnnotation"

const annotation = logicalcluster.PathAnnotationKey

var (
	// always are the resources whose objects always have the annotation.
	always = sets.New(
		schema.GroupResource{Group: "apis.kcp.io", Resource: "apiexports"},
		schema.GroupResource{Group: "apis.kcp.io", Resource: "apibindings"},
		schema.GroupResource{Group: "cache.kcp.io", Resource: "clustercachedresources"},
		tenancyv1alpha1.Resource("workspacetypes"),
	)

	logicalClusters = corev1alpha1.Resource("logicalclusters")
)

// Plugin is the plugin.
type Plugin struct {
	*admission.Handler
	clusters tenancy.Clusters
	paths    tenancy.Paths
}

var (
	_ admission.MutationInterface   = &Plugin{}
	_ admission.ValidationInterface = &Plugin{}
)

// New returns the plugin.
func New(clusters tenancy.Clusters, paths tenancy.Paths) *Plugin {
	return &Plugin{
		Handler:  admission.NewHandler(admission.Create, admission.Update),
		clusters: clusters,
		paths:    paths,
	}
}

// Admit sets the annotation.
func (p *Plugin) Admit(ctx context.Context, a admission.Attributes, _ admission.ObjectInterfaces) error {
	object, ok := concerned(a)
	if !ok {
		return nil
	}
	want, ok, err := p.want(ctx, a)
	if err != nil {
		return err
	}
	annotations := object.GetAnnotations()
	switch {
	case !ok:
		delete(annotations, annotation)
	case annotations == nil:
		annotations = map[string]string{annotation: want}
	default:
		annotations[annotation] = want
	}
	object.SetAnnotations(annotations)
	return nil
}

// Validate checks that nothing has changed the annotation since, and that the path of a
// logical cluster is not that of another one.
func (p *Plugin) Validate(ctx context.Context, a admission.Attributes, _ admission.ObjectInterfaces) error {
	if err := p.checkTop(ctx, a); err != nil {
		return err
	}
	object, ok := concerned(a)
	if !ok {
		return nil
	}
	want, wanted, err := p.want(ctx, a)
	if err != nil {
		return err
	}
	if got, set := object.GetAnnotations()[annotation]; got != want || set != wanted {
		return request.Denied(a, "annotation %s must be %q", annotation, want)
	}
	return nil
}

// concerned returns the object of the request if its annotation has to be looked at.
func concerned(a admission.Attributes) (object metav1.Object, ok bool) {
	if a.GetSubresource() != "" || a.GetObject() == nil {
		return nil, false
	}
	object, err := meta.Accessor(a.GetObject())
	if err != nil {
		// Reviews and the like have no metadata.
		return nil, false
	}
	resource := a.GetResource().GroupResource()
	if resource == logicalClusters {
		// Those who make them, or move them, know the path.
		return object, a.GetOperation() == admission.Update && !request.Privileged(a)
	}
	_, set := object.GetAnnotations()[annotation]
	return object, set || always.Has(resource)
}

// want returns the value the annotation has to have; ok is false if it must not be
// there.
func (p *Plugin) want(ctx context.Context, a admission.Attributes) (value string, ok bool, err error) {
	if a.GetResource().GroupResource() == logicalClusters {
		old, err := meta.Accessor(a.GetOldObject())
		if err != nil {
			return "", false, apierrors.NewInternalError(err)
		}
		value, ok = old.GetAnnotations()[annotation]
		return value, ok, nil
	}
	cluster, err := request.Cluster(ctx)
	if err != nil {
		return "", false, err
	}
	lc, err := p.clusters.Get(ctx, cluster)
	if err != nil && !apierrors.IsNotFound(err) {
		return "", false, request.Failed(a, err)
	}
	return tenancy.PlaceOf(cluster, lc).Path.String(), true, nil
}
