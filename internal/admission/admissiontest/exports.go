package admissiontest

import (
	"context"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	apisv1alpha2 "github.com/forkless/kcp/pkg/apis/apis/v1alpha2"
	"github.com/forkless/kcp/pkg/logicalcluster"
)

// Exports are the APIExports that there are, as "<cluster>/<name>".
type Exports []string

// Export returns an export that is listed.
func (e Exports) Export(_ context.Context, cluster logicalcluster.Name, name string) (*apisv1alpha2.APIExport, error) {
	if !slices.Contains(e, cluster.String()+"/"+name) {
		return nil, apierrors.NewNotFound(apisv1alpha2.Resource("apiexports"), name)
	}
	return &apisv1alpha2.APIExport{ObjectMeta: metav1.ObjectMeta{
		Name: name, Annotations: map[string]string{logicalcluster.AnnotationKey: cluster.String()},
	}}, nil
}
