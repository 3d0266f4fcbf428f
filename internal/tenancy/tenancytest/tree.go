// Package tenancytest is a tree of workspaces in memory, for tests of what reads one.
// It implements the readers of package tenancy completely: what it finds and what it
// does not find is what the readers over storage would.
//
// A Tree is filled first and read afterwards; it does no locking.
package tenancytest

import (
	"context"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/sets"

	"github.com/forkless/kcp/config/workspacetypes"
	corev1alpha1 "github.com/forkless/kcp/pkg/apis/core/v1alpha1"
	tenancyv1alpha1 "github.com/forkless/kcp/pkg/apis/tenancy/v1alpha1"
	"github.com/forkless/kcp/pkg/logicalcluster"
	"github.com/forkless/kcp/pkg/tenancy"
)

// Tree is a tree of workspaces.
type Tree struct {
	types    map[typeKey]*tenancyv1alpha1.WorkspaceType
	late     map[typeKey]*tenancyv1alpha1.WorkspaceType
	clusters map[logicalcluster.Name]*corev1alpha1.LogicalCluster
	paths    map[logicalcluster.Path]logicalcluster.Name
}

type typeKey struct {
	cluster logicalcluster.Name
	name    string
}

// New returns a tree that has root, with the types of an installation in it.
func New(t testing.TB) *Tree {
	t.Helper()
	tree := &Tree{
		types:    map[typeKey]*tenancyv1alpha1.WorkspaceType{},
		late:     map[typeKey]*tenancyv1alpha1.WorkspaceType{},
		clusters: map[logicalcluster.Name]*corev1alpha1.LogicalCluster{},
		paths:    map[logicalcluster.Path]logicalcluster.Name{},
	}
	root := tree.AddCluster("root", "root:root")
	// Root has no path but its name.
	delete(root.Annotations, logicalcluster.PathAnnotationKey)

	types, err := workspacetypes.For(workspacetypes.Choice{Batteries: sets.New(workspacetypes.Battery)})
	if err != nil {
		t.Fatalf("reading the types of root: %v", err)
	}
	for _, workspaceType := range types {
		tree.AddType("root", workspaceType)
	}
	return tree
}

// AddCluster adds the logical cluster of a workspace at path, of a type given as
// "<path>:<name>", and returns it to be changed. The cluster is called as ClusterAt
// says.
func (t *Tree) AddCluster(path, typeName string) *corev1alpha1.LogicalCluster {
	cluster := ClusterAt(path)
	lc := &corev1alpha1.LogicalCluster{
		ObjectMeta: metav1.ObjectMeta{
			Name: corev1alpha1.LogicalClusterName,
			Annotations: map[string]string{
				logicalcluster.AnnotationKey:      cluster.String(),
				logicalcluster.PathAnnotationKey:  path,
				tenancyv1alpha1.TypeAnnotationKey: typeName,
			},
		},
		Status: corev1alpha1.LogicalClusterStatus{Phase: corev1alpha1.PhaseReady},
	}
	t.clusters[cluster] = lc
	t.paths[logicalcluster.MustParsePath(path)] = cluster
	return lc
}

// ClusterAt returns the name of the cluster that AddCluster makes for a path.
func ClusterAt(path string) logicalcluster.Name {
	parsed := logicalcluster.MustParsePath(path)
	if name, ok := parsed.Name(); ok {
		return name
	}
	return logicalcluster.MustParseName(logicalcluster.HashBase36([]byte(path))[:16])
}

// PlaceAt returns the place of the workspace that AddCluster has made at a path.
func PlaceAt(path string) tenancy.Place {
	return tenancy.Place{Cluster: ClusterAt(path), Path: logicalcluster.MustParsePath(path)}
}

// AddType adds a type to the workspace at path.
func (t *Tree) AddType(path string, workspaceType *tenancyv1alpha1.WorkspaceType) {
	t.types[typeKey{ClusterAt(path), workspaceType.Name}] = workspaceType
}

// AddTypeSpec adds a type of that name and spec to the workspace at path.
func (t *Tree) AddTypeSpec(path, name string, spec tenancyv1alpha1.WorkspaceTypeSpec) {
	t.AddType(path, &tenancyv1alpha1.WorkspaceType{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: spec})
}

// AddLateType adds a type to the workspace at path that has just been created: readers
// have not heard of it unless they look at what is stored.
func (t *Tree) AddLateType(path, name string) {
	t.late[typeKey{ClusterAt(path), name}] = &tenancyv1alpha1.WorkspaceType{ObjectMeta: metav1.ObjectMeta{Name: name}}
}

// Resolver returns a resolver that reads the tree.
func (t *Tree) Resolver() *tenancy.Resolver {
	return tenancy.NewResolver(t.Types(), t.Clusters(), t.Paths())
}

// Types reads the types of the tree.
func (t *Tree) Types() tenancy.Types { return typeReader{t} }

// Clusters reads the logical clusters of the tree.
func (t *Tree) Clusters() tenancy.Clusters { return clusterReader{t} }

// Paths reads the paths of the tree.
func (t *Tree) Paths() tenancy.Paths { return pathReader{t} }

type typeReader struct{ *Tree }

func (r typeReader) Get(_ context.Context, cluster logicalcluster.Name, name string) (*tenancyv1alpha1.WorkspaceType, error) {
	if workspaceType, ok := r.types[typeKey{cluster, name}]; ok {
		return workspaceType, nil
	}
	return nil, apierrors.NewNotFound(tenancyv1alpha1.Resource("workspacetypes"), name)
}

// GetCurrent finds what Get has not heard of yet, too.
func (r typeReader) GetCurrent(ctx context.Context, cluster logicalcluster.Name, name string) (*tenancyv1alpha1.WorkspaceType, error) {
	if late, ok := r.late[typeKey{cluster, name}]; ok {
		return late, nil
	}
	return r.Get(ctx, cluster, name)
}

type clusterReader struct{ *Tree }

func (r clusterReader) Get(_ context.Context, cluster logicalcluster.Name) (*corev1alpha1.LogicalCluster, error) {
	if lc, ok := r.clusters[cluster]; ok {
		return lc, nil
	}
	return nil, apierrors.NewNotFound(corev1alpha1.Resource("logicalclusters"), corev1alpha1.LogicalClusterName)
}

type pathReader struct{ *Tree }

func (r pathReader) Resolve(_ context.Context, path logicalcluster.Path) (logicalcluster.Name, error) {
	if name, ok := path.Name(); ok {
		return name, nil
	}
	if cluster, ok := r.paths[path]; ok {
		return cluster, nil
	}
	return logicalcluster.Name{}, apierrors.NewNotFound(tenancyv1alpha1.Resource("workspaces"), path.String())
}
