package tenancy

import (
	"context"
	"fmt"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/util/validation"

	corev1alpha1 "github.com/forkless/kcp/pkg/apis/core/v1alpha1"
	tenancyv1alpha1 "github.com/forkless/kcp/pkg/apis/tenancy/v1alpha1"
	"github.com/forkless/kcp/pkg/logicalcluster"
)

// Resolver finds workspace types and what they extend. It keeps no state and may be
// used concurrently.
type Resolver struct {
	types    Types
	clusters Clusters
	paths    Paths
}

// NewResolver returns a Resolver that reads through the given readers.
func NewResolver(types Types, clusters Clusters, paths Paths) *Resolver {
	return &Resolver{types: types, clusters: clusters, paths: paths}
}

// Find returns the type that reference, made in a workspace at from, points at. With a
// path, which may also be a cluster name, it is looked for there and nowhere else.
// Without one the nearest counts: from itself, what is above it, and at last root.
func (r *Resolver) Find(ctx context.Context, from Place, reference tenancyv1alpha1.WorkspaceTypeReference) (Type, error) {
	// References are looked at before their schema is, and what is no name must not
	// be looked up.
	if len(validation.IsDNS1123Label(reference.Name)) > 0 {
		return Type{}, unresolved("workspace type %q not found: this is not the name of a type", reference.Name)
	}
	found, err := r.find(ctx, from, reference, r.types.Get)
	if IsUnresolved(err) {
		// Who has just created a type may use it.
		return r.find(ctx, from, reference, r.types.GetCurrent)
	}
	return found, err
}

// get reads a WorkspaceType.
type get = func(ctx context.Context, cluster logicalcluster.Name, name string) (*tenancyv1alpha1.WorkspaceType, error)

func (r *Resolver) find(ctx context.Context, from Place, reference tenancyv1alpha1.WorkspaceTypeReference, get get) (Type, error) {
	if reference.Path != "" {
		return r.findAt(ctx, reference, get)
	}
	return r.findUpwards(ctx, from, reference.Name, get)
}

// Resolve is Find and Extend in one.
func (r *Resolver) Resolve(ctx context.Context, from Place, reference tenancyv1alpha1.WorkspaceTypeReference) (*Set, error) {
	t, err := r.Find(ctx, from, reference)
	if err != nil {
		return nil, err
	}
	return r.Extend(ctx, t)
}

func (r *Resolver) findAt(ctx context.Context, reference tenancyv1alpha1.WorkspaceTypeReference, get get) (Type, error) {
	path, err := logicalcluster.ParsePath(reference.Path)
	if err == nil && path != logicalcluster.Wildcard.Path() {
		found, ok, err := r.atPath(ctx, path, reference.Name, get)
		if ok || err != nil {
			return found, err
		}
	}
	return Type{}, unresolved("workspace type %q not found in workspace %q", reference.Name, reference.Path)
}

func (r *Resolver) findUpwards(ctx context.Context, from Place, name string, get get) (Type, error) {
	// The cluster of the first step is known; its path may not be resolvable yet.
	found, ok, err := r.in(ctx, from.Cluster, name, get)
	if ok || err != nil {
		return found, err
	}
	visitedRoot := from.Cluster == logicalcluster.Root
	for path, more := from.Path.Parent(); more; path, more = path.Parent() {
		found, ok, err = r.atPath(ctx, path, name, get)
		if ok || err != nil {
			return found, err
		}
		visitedRoot = visitedRoot || path == logicalcluster.Root.Path()
	}
	if !visitedRoot {
		found, ok, err = r.in(ctx, logicalcluster.Root, name, get)
		if ok || err != nil {
			return found, err
		}
	}
	return Type{}, unresolved("workspace type %q not found in workspace %q, above it or in root", name, from.Path)
}

func (r *Resolver) atPath(ctx context.Context, path logicalcluster.Path, name string, get get) (found Type, ok bool, err error) {
	cluster, err := r.paths.Resolve(ctx, path)
	switch {
	case apierrors.IsNotFound(err):
		return Type{}, false, nil
	case err != nil:
		return Type{}, false, fmt.Errorf("resolving workspace %q: %w", path, err)
	}
	return r.in(ctx, cluster, name, get)
}

func (r *Resolver) in(ctx context.Context, cluster logicalcluster.Name, name string, get get) (found Type, ok bool, err error) {
	object, err := get(ctx, cluster, name)
	switch {
	case apierrors.IsNotFound(err):
		return Type{}, false, nil
	case err != nil:
		return Type{}, false, fmt.Errorf("reading workspace type %q: %w", name, err)
	}
	lc, err := r.clusters.Get(ctx, cluster)
	switch {
	case apierrors.IsNotFound(err):
		// The cluster is at its very end, and its types with it.
		return Type{}, false, nil
	case err != nil:
		return Type{}, false, fmt.Errorf("reading the logical cluster of workspace type %q: %w", name, err)
	}
	return Type{Place: PlaceOf(cluster, lc), Object: object}, true, nil
}

// OfCluster returns the type of the workspace whose logical cluster lc, in cluster,
// describes.
func (r *Resolver) OfCluster(ctx context.Context, cluster logicalcluster.Name, lc *corev1alpha1.LogicalCluster) (Type, error) {
	value, ok := lc.Annotations[tenancyv1alpha1.TypeAnnotationKey]
	if !ok {
		return Type{}, unresolved("the type of the workspace is not known: its logical cluster has no annotation %s", tenancyv1alpha1.TypeAnnotationKey)
	}
	i := strings.LastIndex(value, separator)
	if i <= 0 {
		return Type{}, unresolved("the type of the workspace is not known: annotation %s of its logical cluster is %q, not <path>:<name>", tenancyv1alpha1.TypeAnnotationKey, value)
	}
	reference := tenancyv1alpha1.WorkspaceTypeReference{Path: value[:i], Name: value[i+1:]}
	return r.Find(ctx, PlaceOf(cluster, lc), reference)
}

// ResolveCluster is OfCluster and Extend in one.
func (r *Resolver) ResolveCluster(ctx context.Context, cluster logicalcluster.Name, lc *corev1alpha1.LogicalCluster) (*Set, error) {
	t, err := r.OfCluster(ctx, cluster, lc)
	if err != nil {
		return nil, err
	}
	return r.Extend(ctx, t)
}

// Default returns the type of children that are created without saying theirs, in the
// workspace whose logical cluster lc, in cluster, describes.
func (r *Resolver) Default(ctx context.Context, cluster logicalcluster.Name, lc *corev1alpha1.LogicalCluster) (Type, error) {
	parent, err := r.OfCluster(ctx, cluster, lc)
	if err != nil {
		return Type{}, fmt.Errorf("choosing the default type: %w", err)
	}
	reference := parent.Object.Spec.DefaultChildWorkspaceType
	if reference == nil || reference.Name == "" {
		return Type{}, unresolved("spec.type must be set: workspace type %s has no default for children", parent)
	}
	// A default without a path is admission's to refuse. If there is one it means what
	// it would mean in the other references of a type.
	child, err := r.Find(ctx, parent.Place, *reference)
	if err != nil {
		return Type{}, fmt.Errorf("choosing the default type of children of %s: %w", parent, err)
	}
	return child, nil
}
