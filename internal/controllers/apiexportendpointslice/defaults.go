package apiexportendpointslice

import (
	"context"
	"errors"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apiserver/pkg/registry/rest"
	"k8s.io/utils/clock"

	"github.com/forkless/kcp/internal/controller"
	"github.com/forkless/kcp/internal/storage"
	"github.com/forkless/kcp/internal/storage/cached"
	apisv1alpha1 "github.com/forkless/kcp/pkg/apis/apis/v1alpha1"
	apisv1alpha2 "github.com/forkless/kcp/pkg/apis/apis/v1alpha2"
	"github.com/forkless/kcp/pkg/logicalcluster"
)

const workers = 2

// NewDefaults returns the controller that gives exports their slices. Its keys are those
// of the exports.
func NewDefaults(layer *storage.Layer, apis *cached.APIs, now clock.PassiveClock) (*controller.Controller, error) {
	sources, err := sourcesOf(layer, map[storage.Resource]controller.Source{
		cached.APIExports:              {Keys: controller.OwnKey},
		cached.APIExportEndpointSlices: {Keys: controller.OwnKey},
	})
	if err != nil {
		return nil, err
	}
	d := &defaults{layer: layer, apis: apis, clock: now}
	return controller.New(controller.Options{
		Name: "apiexport-default-endpointslice", Workers: workers, Sources: sources, Reconcile: d.reconcile,
	}), nil
}

type defaults struct {
	layer *storage.Layer
	apis  *cached.APIs
	clock clock.PassiveClock
}

func (d *defaults) reconcile(ctx context.Context, key controller.Key) error {
	export, err := d.apis.Export(ctx, key.Cluster, key.Name)
	if apierrors.IsNotFound(err) || err == nil && !wantsSlice(export) {
		return nil
	}
	if err != nil {
		return err
	}
	_, err = d.apis.EndpointSlice(ctx, key.Cluster, key.Name)
	if !apierrors.IsNotFound(err) {
		return err
	}
	slice := newSlice(export)
	rest.FillObjectMetaSystemFields(slice)
	slice.CreationTimestamp = metav1.NewTime(d.clock.Now()).Rfc3339Copy()
	batch := d.layer.NewBatch()
	// What is owned by something that is gone would be garbage from the beginning.
	batch.Require(cached.APIExports, key.Cluster, export)
	batch.Create(cached.APIExportEndpointSlices, key.Cluster, slice)
	return commit(ctx, batch, key.Name)
}

// wantsSlice says whether an export is to have a slice.
func wantsSlice(export *apisv1alpha2.APIExport) bool {
	_, annotated := export.Annotations[apisv1alpha1.APIExportEndpointSliceSkipKey]
	_, labeled := export.Labels[apisv1alpha1.APIExportEndpointSliceSkipKey]
	return export.DeletionTimestamp == nil && !annotated && !labeled
}

// newSlice returns the slice of an export.
func newSlice(export *apisv1alpha2.APIExport) *apisv1alpha1.APIExportEndpointSlice {
	return &apisv1alpha1.APIExportEndpointSlice{
		ObjectMeta: metav1.ObjectMeta{
			Name:       export.Name,
			Generation: 1,
			OwnerReferences: []metav1.OwnerReference{{
				APIVersion: apisv1alpha1.GroupVersion.String(), Kind: "APIExport", Name: export.Name, UID: export.UID,
			}},
		},
		Spec: apisv1alpha1.APIExportEndpointSliceSpec{
			APIExport: apisv1alpha1.ExportBindingReference{
				Path: export.Annotations[logicalcluster.PathAnnotationKey],
				Name: export.Name,
			},
		},
	}
}

// sourcesOf completes sources with the stores of their resources.
func sourcesOf(layer *storage.Layer, of map[storage.Resource]controller.Source) ([]controller.Source, error) {
	sources := make([]controller.Source, 0, len(of))
	for resource, source := range of {
		store, ok := layer.Store(resource)
		if !ok {
			return nil, errors.New("the store of " + resource.Resource + " is not open")
		}
		source.Store, source.Prefix = store, resource.Prefix()
		sources = append(sources, source)
	}
	return sources, nil
}

// commit writes a batch about the slice called name.
func commit(ctx context.Context, batch *storage.Batch, name string) error {
	err := batch.Commit(ctx)
	if errors.Is(err, storage.ErrBatchConflict) {
		return apierrors.NewConflict(cached.APIExportEndpointSlices.GroupResource, name, err)
	}
	return err
}
