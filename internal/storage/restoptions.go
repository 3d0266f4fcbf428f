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

// Registries say how upstream's registries store their objects.
type Registries struct {
	// Serializers returns what knows the types of a group.
	Serializers func(group string) runtime.StorageSerializer
	// MediaType is the form in which objects are stored; protobuf if empty. What is
	// stored in another one can be read all the same.
	MediaType string
	// Version returns the version in which objects of a group are stored; v1 if nil.
	Version func(group string) string
	// DeleteCollectionWorkers is how many objects a deletecollection deletes at a time;
	// one if 0.
	DeleteCollectionWorkers int
	// Share is that of the Kind of all resources; may be nil.
	Share func(runtime.Object, func(string) string)
}

// RESTOptions makes upstream's registries store their objects in the layer.
func (l *Layer) RESTOptions(registries Registries) generic.RESTOptionsGetter {
	if registries.MediaType == "" {
		registries.MediaType = runtime.ContentTypeProtobuf
	}
	if registries.Version == nil {
		registries.Version = func(string) string { return "v1" }
	}
	registries.DeleteCollectionWorkers = max(registries.DeleteCollectionWorkers, 1)
	return restOptions{layer: l, registries: registries}
}

type restOptions struct {
	layer      *Layer
	registries Registries
}

// GetRESTOptions returns the options of one resource.
func (o restOptions) GetRESTOptions(resource schema.GroupResource, _ runtime.Object) (generic.RESTOptions, error) {
	config := storagebackend.NewDefaultConfig(o.layer.prefix, nil)
	codec, versioner, err := serverstorage.NewStorageCodec(serverstorage.StorageCodecConfig{
		StorageMediaType:  o.registries.MediaType,
		StorageSerializer: o.registries.Serializers(resource.Group),
		StorageVersion:    schema.GroupVersion{Group: resource.Group, Version: o.registries.Version(resource.Group)},
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
		DeleteCollectionWorkers: o.registries.DeleteCollectionWorkers,
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
	store, err := o.layer.Open(resource, Kind{New: newObject, NewList: newList, Codec: config.Codec, Attrs: attrs, Share: o.registries.Share})
	if err != nil {
		return nil, nil, err
	}
	return store, func() { o.layer.CloseResource(resource) }, nil
}
