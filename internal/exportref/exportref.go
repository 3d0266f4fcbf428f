package exportref

import (
	"context"
	"errors"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	apisv1alpha2 "github.com/forkless/kcp/pkg/apis/apis/v1alpha2"
	"github.com/forkless/kcp/pkg/logicalcluster"
	"github.com/forkless/kcp/pkg/tenancy"
)

// Exports reads APIExports.
type Exports interface {
	// Export returns an export of a cluster, or a NotFound Status. The result is shared
	// and must not be changed.
	Export(ctx context.Context, cluster logicalcluster.Name, name string) (*apisv1alpha2.APIExport, error)
}

// Resolver finds exports. It keeps no state and may be used concurrently.
type Resolver struct {
	paths   tenancy.Paths
	exports Exports
}

// NewResolver returns a Resolver that reads through the given readers.
func NewResolver(paths tenancy.Paths, exports Exports) *Resolver {
	return &Resolver{paths: paths, exports: exports}
}

// Cluster is the function of that name over the Resolver's reader.
func (r *Resolver) Cluster(ctx context.Context, from logicalcluster.Name, path string) (logicalcluster.Name, error) {
	return Cluster(ctx, r.paths, from, path)
}

// Cluster returns the logical cluster that path, in an object in from, leads to, or an
// error that IsNotFound knows. A path of one segment is a cluster name and is not looked
// up: there need not be such a cluster.
func Cluster(ctx context.Context, paths tenancy.Paths, from logicalcluster.Name, path string) (logicalcluster.Name, error) {
	if path == "" {
		return from, nil
	}
	parsed, err := logicalcluster.ParsePath(path)
	if err != nil || parsed == logicalcluster.Wildcard.Path() {
		return logicalcluster.Name{}, &notFoundError{path: path}
	}
	cluster, err := paths.Resolve(ctx, parsed)
	switch {
	case apierrors.IsNotFound(err):
		return logicalcluster.Name{}, &notFoundError{path: path}
	case err != nil:
		return logicalcluster.Name{}, fmt.Errorf("resolving workspace %q: %w", path, err)
	}
	return cluster, nil
}

// Export returns the export that a reference, in an object in from, means, and the
// cluster it is in. If there is none the error is one that IsNotFound knows, and the
// cluster is where one would be, if the path leads anywhere. The export is shared and
// must not be changed.
func (r *Resolver) Export(ctx context.Context, from logicalcluster.Name, path, name string) (logicalcluster.Name, *apisv1alpha2.APIExport, error) {
	cluster, err := r.Cluster(ctx, from, path)
	if err != nil {
		if IsNotFound(err) {
			err = &notFoundError{path: path, name: name}
		}
		return logicalcluster.Name{}, nil, err
	}
	export, err := r.exports.Export(ctx, cluster, name)
	switch {
	case apierrors.IsNotFound(err):
		return cluster, nil, &notFoundError{path: path, name: name}
	case err != nil:
		return cluster, nil, fmt.Errorf("reading export %q: %w", name, err)
	}
	return cluster, export, nil
}

// Reference is the path and name in reference, in the words of error messages: without a
// path there is no colon.
func Reference(path, name string) string {
	if path == "" {
		return name
	}
	return path + ":" + name
}

// notFoundError says nothing that its cause did not say itself.
type notFoundError struct{ path, name string }

func (e *notFoundError) Error() string {
	if e.name == "" {
		return fmt.Sprintf("workspace %q not found", e.path)
	}
	return fmt.Sprintf("APIExport %s|%s not found", e.path, e.name)
}

// IsNotFound says whether err means that a reference leads nowhere.
func IsNotFound(err error) bool {
	var target *notFoundError
	return errors.As(err, &target)
}
