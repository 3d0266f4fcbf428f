package typeref

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	corev1alpha1 "github.com/forkless/kcp/pkg/apis/core/v1alpha1"
	tenancyv1alpha1 "github.com/forkless/kcp/pkg/apis/tenancy/v1alpha1"
	"github.com/forkless/kcp/pkg/cli/client"
	"github.com/forkless/kcp/pkg/cli/near"
	"github.com/forkless/kcp/pkg/cli/run"
	"github.com/forkless/kcp/pkg/logicalcluster"
	"github.com/forkless/kcp/pkg/tenancy"
)

// Source reads the workspace types of a server, those of a workspace with one request
// and no more than once. It is for one command, and for one goroutine.
type Source struct {
	client *client.Client
	// shelves by how they were asked for, which is a path or the name of a cluster.
	shelves map[logicalcluster.Path]*shelf
}

// shelf is the types of a workspace.
type shelf struct {
	place tenancy.Place
	types []tenancyv1alpha1.WorkspaceType
}

// NewSource returns a Source that has read nothing yet.
func NewSource(c *client.Client) *Source {
	return &Source{client: c, shelves: map[logicalcluster.Path]*shelf{}}
}

// Resolver returns the rules about types, which read here.
func (s *Source) Resolver() *tenancy.Resolver {
	return tenancy.NewResolver(types{s}, clusters{s}, paths{s})
}

// Types returns the types in the workspace p.
func (s *Source) Types(ctx context.Context, p logicalcluster.Path) ([]tenancy.Type, error) {
	shelf, err := s.shelf(ctx, p)
	if err != nil {
		return nil, err
	}
	all := make([]tenancy.Type, 0, len(shelf.types))
	for i := range shelf.types {
		all = append(all, tenancy.Type{Place: shelf.place, Object: &shelf.types[i]})
	}
	return all, nil
}

// Place returns both names of the workspace p. One without types that does not show its
// LogicalCluster has the path that it was asked for by, and no cluster. One whose types
// the caller may not read is an error: a name might mean one of these.
func (s *Source) Place(ctx context.Context, p logicalcluster.Path) (tenancy.Place, error) {
	lc, err := s.client.LogicalCluster(ctx, p)
	switch {
	case err == nil:
		return tenancy.PlaceOf(logicalcluster.FromAnnotations(lc.Annotations), lc), nil
	case apierrors.IsNotFound(err):
		return tenancy.Place{}, s.client.Missing(ctx, p)
	case !apierrors.IsForbidden(err):
		return tenancy.Place{}, err
	}
	shelf, err := s.shelf(ctx, p)
	if err != nil {
		return tenancy.Place{}, err
	}
	return shelf.place, nil
}

// shelf returns the types of the workspace p. Where there is no workspace, or none with
// types, the shelf is empty.
func (s *Source) shelf(ctx context.Context, p logicalcluster.Path) (*shelf, error) {
	if known, ok := s.shelves[p]; ok {
		return known, nil
	}
	items, err := s.client.WorkspaceTypes(ctx, p)
	if err != nil && !apierrors.IsNotFound(err) {
		return nil, fmt.Errorf("the workspace types in %s cannot be read: %w", p, s.client.Explain(ctx, p, err))
	}
	read := &shelf{place: tenancy.Place{Path: p}, types: items}
	if len(items) > 0 {
		read.place = placeOf(items[0].Annotations, p)
	}
	s.shelves[p] = read
	if cluster := read.place.Cluster; !cluster.Empty() {
		s.shelves[cluster.Path()] = read
	}
	return read, nil
}

// placeOf returns where an object is that was found at p: each says so itself.
func placeOf(annotations map[string]string, p logicalcluster.Path) tenancy.Place {
	place := tenancy.Place{Cluster: logicalcluster.FromAnnotations(annotations), Path: p}
	if canonical, err := logicalcluster.ParsePath(annotations[logicalcluster.PathAnnotationKey]); err == nil {
		place.Path = canonical
	}
	return place
}

// Of returns the type of the workspace p with all it extends. What a workspace says
// about itself counts, then what its parent says.
func (s *Source) Of(ctx context.Context, p logicalcluster.Path) (*tenancy.Set, error) {
	lc, err := s.client.LogicalCluster(ctx, p)
	if err == nil {
		return s.Resolver().ResolveCluster(ctx, logicalcluster.FromAnnotations(lc.Annotations), lc)
	}
	parent, hasParent := p.Parent()
	if !apierrors.IsForbidden(err) && !apierrors.IsNotFound(err) || !hasParent {
		return nil, fmt.Errorf("the type of %s cannot be read: %w", p, err)
	}
	ws, wsErr := s.client.Workspace(ctx, parent, p.Base())
	switch {
	case apierrors.IsNotFound(wsErr):
		return nil, s.client.Missing(ctx, p)
	case wsErr != nil:
		return nil, fmt.Errorf("the type of %s cannot be read: %w", p, errors.Join(err, wsErr))
	case ws.Spec.Type == nil:
		return nil, fmt.Errorf("workspace \"%s\" has no type", p)
	}
	return s.Resolver().Resolve(ctx, tenancy.Place{Path: p}, *ws.Spec.Type)
}

// Explain returns err with what may have been meant, if err says that the type ref was
// not found from the workspace p. Only what has been read is offered.
func (s *Source) Explain(err error, ref tenancyv1alpha1.WorkspaceTypeReference) error {
	if !tenancy.IsUnresolved(err) {
		return err
	}
	var names []string
	for _, shelf := range s.shelves {
		for i := range shelf.types {
			name := shelf.types[i].Name
			if ref.Path != "" {
				name = Format(tenancyv1alpha1.WorkspaceTypeReference{Path: shelf.place.Path.String(), Name: name})
			}
			if !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	slices.Sort(names)
	if meant := near.Names(Format(ref), names); len(meant) > 0 {
		return run.Hint(err, "did you mean "+strings.Join(meant, ", ")+"?")
	}
	return run.Hint(err, "kubectl kcp type tree shows the types that can be used here")
}

// types, clusters and paths are the three readers of the rules.
type (
	types    struct{ *Source }
	clusters struct{ *Source }
	paths    struct{ *Source }
)

// Get returns a type.
func (r types) Get(ctx context.Context, cluster logicalcluster.Name, name string) (*tenancyv1alpha1.WorkspaceType, error) {
	missing := apierrors.NewNotFound(tenancyv1alpha1.Resource("workspacetypes"), name)
	if cluster.Empty() {
		return nil, missing
	}
	shelf, err := r.shelf(ctx, cluster.Path())
	if err != nil {
		return nil, err
	}
	for i := range shelf.types {
		if shelf.types[i].Name == name {
			return &shelf.types[i], nil
		}
	}
	return nil, missing
}

// GetCurrent is Get: what is read through the API does not lag.
func (r types) GetCurrent(ctx context.Context, cluster logicalcluster.Name, name string) (*tenancyv1alpha1.WorkspaceType, error) {
	return r.Get(ctx, cluster, name)
}

// Get returns of a LogicalCluster what the rules look at when they have found a type
// there: its path, which the types say as well.
func (r clusters) Get(ctx context.Context, cluster logicalcluster.Name) (*corev1alpha1.LogicalCluster, error) {
	shelf, err := r.shelf(ctx, cluster.Path())
	if err != nil {
		return nil, err
	}
	return &corev1alpha1.LogicalCluster{ObjectMeta: metav1.ObjectMeta{
		Annotations: map[string]string{logicalcluster.PathAnnotationKey: shelf.place.Path.String()},
	}}, nil
}

// Resolve returns the cluster at a path. One without types is as good as none.
func (r paths) Resolve(ctx context.Context, path logicalcluster.Path) (logicalcluster.Name, error) {
	if name, ok := path.Name(); ok {
		return name, nil
	}
	shelf, err := r.shelf(ctx, path)
	if err != nil {
		return logicalcluster.Name{}, err
	}
	if shelf.place.Cluster.Empty() {
		return logicalcluster.Name{}, apierrors.NewNotFound(tenancyv1alpha1.Resource("workspaces"), path.String())
	}
	return shelf.place.Cluster, nil
}
