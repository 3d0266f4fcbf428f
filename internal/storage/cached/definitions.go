package cached

import (
	"context"
	"errors"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/forkless/kcp/internal/storage"
	corev1alpha1 "github.com/forkless/kcp/pkg/apis/core/v1alpha1"
	"github.com/forkless/kcp/pkg/logicalcluster"
)

// CustomResourceDefinitions is the resource of definitions.
var CustomResourceDefinitions = storage.Resource{
	GroupResource: schema.GroupResource{Group: apiextensions.GroupName, Resource: "customresourcedefinitions"},
}

// DefinitionReader reads CustomResourceDefinitions. What it returns is converted and
// shares memory with the watch cache all the same: it must not be changed, but for the
// top level of the object.
type DefinitionReader struct {
	layer  *storage.Layer
	reader *storage.Reader[apiextensions.CustomResourceDefinition, *apiextensions.CustomResourceDefinition, *apiextensions.CustomResourceDefinitionList]
}

// NewDefinitionReader returns a reader over layer.
func NewDefinitionReader(layer *storage.Layer) DefinitionReader {
	return DefinitionReader{layer: layer, reader: storage.NewReader[apiextensions.CustomResourceDefinition](layer, CustomResourceDefinitions,
		func() *apiextensions.CustomResourceDefinitionList {
			return &apiextensions.CustomResourceDefinitionList{}
		},
		func(l *apiextensions.CustomResourceDefinitionList) []apiextensions.CustomResourceDefinition {
			return l.Items
		})}
}

// Get returns a definition of a cluster, or a NotFound Status error.
func (r DefinitionReader) Get(ctx context.Context, cluster logicalcluster.Name, name string) (*apiextensionsv1.CustomResourceDefinition, error) {
	crd, err := r.reader.Get(ctx, cluster, "", name)
	if err != nil {
		return nil, err
	}
	return convertDefinition(crd)
}

// GetCurrent is Get from etcd instead of the watch cache.
func (r DefinitionReader) GetCurrent(ctx context.Context, cluster logicalcluster.Name, name string) (*apiextensionsv1.CustomResourceDefinition, error) {
	crd, err := r.reader.GetCurrent(ctx, cluster, "", name)
	if err != nil {
		return nil, err
	}
	return convertDefinition(crd)
}

// List returns the definitions of a cluster, none older than the last write.
func (r DefinitionReader) List(ctx context.Context, cluster logicalcluster.Name) ([]*apiextensionsv1.CustomResourceDefinition, error) {
	crds, err := r.reader.ListCurrent(ctx, cluster, "")
	if err != nil {
		return nil, err
	}
	converted := make([]*apiextensionsv1.CustomResourceDefinition, 0, len(crds))
	for i := range crds {
		crd, err := convertDefinition(&crds[i])
		if err != nil {
			return nil, err
		}
		converted = append(converted, crd)
	}
	return converted, nil
}

// Add adds to batch the creation of a definition, or its change if it has a resource
// version.
func (r DefinitionReader) Add(batch *storage.Batch, cluster logicalcluster.Name, crd *apiextensionsv1.CustomResourceDefinition) error {
	wanted, err := internalDefinition(crd)
	switch {
	case err != nil:
		return err
	case crd.ResourceVersion == "":
		batch.Create(CustomResourceDefinitions, cluster, wanted)
	default:
		batch.Update(CustomResourceDefinitions, cluster, wanted)
	}
	return nil
}

// Delete removes crd, whatever its finalizers, unless it has changed.
func (r DefinitionReader) Delete(ctx context.Context, cluster logicalcluster.Name, crd *apiextensionsv1.CustomResourceDefinition) error {
	wanted, err := internalDefinition(crd)
	if err != nil {
		return err
	}
	batch := r.layer.NewBatch()
	batch.Delete(CustomResourceDefinitions, cluster, wanted)
	return batch.Commit(ctx)
}

// UpdateStatus writes the status and the finalizers of crd, which must be as it is
// stored otherwise, and returns what has been stored. A definition that is being
// deleted goes with its last finalizer. lc is the LogicalCluster of the cluster, which is
// written in the same transaction; nil if it is not to be.
func (r DefinitionReader) UpdateStatus(ctx context.Context, cluster logicalcluster.Name, crd *apiextensionsv1.CustomResourceDefinition,
	lc *corev1alpha1.LogicalCluster,
) (*apiextensionsv1.CustomResourceDefinition, error) {
	wanted, err := internalDefinition(crd)
	if err != nil {
		return nil, err
	}
	batch := r.layer.NewBatch()
	if lc != nil {
		batch.Update(LogicalClusters, cluster, lc)
	}
	if crd.DeletionTimestamp != nil && len(crd.Finalizers) == 0 {
		batch.Delete(CustomResourceDefinitions, cluster, wanted)
	} else {
		batch.Update(CustomResourceDefinitions, cluster, wanted)
	}
	if err := batch.Commit(ctx); err != nil {
		if errors.Is(err, storage.ErrBatchConflict) {
			return nil, apierrors.NewConflict(CustomResourceDefinitions.GroupResource, crd.Name, err)
		}
		return nil, err
	}
	return crd, nil
}

func internalDefinition(crd *apiextensionsv1.CustomResourceDefinition) (*apiextensions.CustomResourceDefinition, error) {
	out := &apiextensions.CustomResourceDefinition{}
	return out, apiextensionsv1.Convert_v1_CustomResourceDefinition_To_apiextensions_CustomResourceDefinition(crd.DeepCopy(), out, nil)
}

func convertDefinition(in *apiextensions.CustomResourceDefinition) (*apiextensionsv1.CustomResourceDefinition, error) {
	out := &apiextensionsv1.CustomResourceDefinition{}
	// The conversion only reads: upstream encodes what is in watch caches by it.
	return out, apiextensionsv1.Convert_apiextensions_CustomResourceDefinition_To_v1_CustomResourceDefinition(in, out, nil)
}

// Has says whether a cluster has a definition of that name. It costs a look-up, whatever
// the size of the definition.
func (r DefinitionReader) Has(ctx context.Context, cluster logicalcluster.Name, name string) (bool, error) {
	_, err := r.reader.Get(ctx, cluster, "", name)
	if apierrors.IsNotFound(err) {
		return false, nil
	}
	return err == nil, err
}
