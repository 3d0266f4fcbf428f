package storage

import (
	"fmt"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/registry/generic"
	serverstorage "k8s.io/apiserver/pkg/server/storage"
	"k8s.io/apiserver/pkg/storage"
	"k8s.io/apiserver/pkg/storage/storagebackend"
	"k8s.io/apiserver/pkg/storage/storagebackend/factory"
	"k8s.io/client-go/tools/cache"
)

// deleteCollectionWorkers is how many objects a deletecollection deletes at a time.
const deleteCollectionWorkers = 1

// RESTOptions makes upstream's registries store their objects in the layer. serializers
// returns what knows the types of a group; objects are stored as protobuf of version
// v1, the only version of the built-in groups. share is that of their Kind.
func (l *Layer) RESTOptions(serializers func(group string) runtime.StorageSerializer, share func(runtime.Object, func(string) string)) generic.RESTOptionsGetter {
	return restOptions{layer: l, serializers: serializers, share: share}
}

type restOptions struct {
	layer       *Layer
	serializers func(group string) runtime.StorageSerializer
	share       func(runtime.Object, func(string) string)
}

// GetRESTOptions returns the options of one resource.
func (o restOptions) GetRESTOptions(resource schema.GroupResource, _ runtime.Object) (generic.RESTOptions, error) {
	config := storagebackend.NewDefaultConfig(o.layer.prefix, nil)
	codec, versioner, err := serverstorage.NewStorageCodec(serverstorage.StorageCodecConfig{
		StorageMediaType:  runtime.ContentTypeProtobuf,
		StorageSerializer: o.serializers(resource.Group),
		StorageVersion:    schema.GroupVersion{Group: resource.Group, Version: "v1"},
		MemoryVersion:     schema.GroupVersion{Group: resource.Group, Version: runtime.APIVersionInternal},
		Config:            *config,
	})
	if err != nil {
		return generic.RESTOptions{}, fmt.Errorf("making the storage codec of %s: %w", resource, err)
	}
	config.Codec, config.EncodeVersioner = codec, versioner
	return generic.RESTOptions{
		StorageConfig:           config.ForResource(resource),
		Decorator:               o.decorate,
		EnableGarbageCollection: true,
		DeleteCollectionWorkers: deleteCollectionWorkers,
		ResourcePrefix:          Resource{GroupResource: resource}.Prefix(),
	}, nil
}

// decorate opens the store of a registry. The key function and the indexes of the
// registry are not used: the seam has its own, which know clusters.
func (o restOptions) decorate(config *storagebackend.ConfigForResource, _ string,
	_ func(runtime.Object) (string, error), newObject, newList func() runtime.Object,
	attrs storage.AttrFunc, _ storage.IndexerFuncs, _ *cache.Indexers,
) (storage.Interface, factory.DestroyFunc, error) {
	resource := Resource{GroupResource: config.GroupResource}
	store, err := o.layer.Open(resource, Kind{New: newObject, NewList: newList, Codec: config.Codec, Attrs: attrs, Share: o.share})
	if err != nil {
		return nil, nil, err
	}
	return store, func() { o.layer.CloseResource(resource) }, nil
}
