package bootstrap

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/registry/rest"
	apistorage "k8s.io/apiserver/pkg/storage"

	"github.com/forkless/kcp/internal/storage"
	corev1alpha1 "github.com/forkless/kcp/pkg/apis/core/v1alpha1"
	"github.com/forkless/kcp/pkg/logicalcluster"
)

// attempts is how often a batch is composed anew after a conflict with another writer.
const attempts = 5

// Object is one object that should be there.
type Object struct {
	Resource storage.Resource
	Cluster  logicalcluster.Name
	// Object is complete but for the system fields of its metadata. It is of a
	// version that the codec of the store encodes.
	Object runtime.Object
}

// Converter turns a stored object into the version that wanted ones have. Objects
// that are stored in their one version need none.
type Converter func(stored runtime.Object) (runtime.Object, error)

// Ensure writes what is missing of wanted or differs from it. The watch caches of the
// resources must be ready.
func Ensure(ctx context.Context, layer *storage.Layer, wanted []Object, convert Converter) error {
	for start := 0; start < len(wanted); start += storage.MaxBatch {
		part := wanted[start:min(start+storage.MaxBatch, len(wanted))]
		if err := ensure(ctx, layer, part, convert); err != nil {
			return fmt.Errorf("bootstrapping: %w", err)
		}
	}
	return nil
}

func ensure(ctx context.Context, layer *storage.Layer, wanted []Object, convert Converter) error {
	var err error
	for range attempts {
		batch := layer.NewBatch()
		for _, w := range wanted {
			if err := add(ctx, layer, batch, w, convert); err != nil {
				return err
			}
		}
		if err = batch.Commit(ctx); !errors.Is(err, storage.ErrBatchConflict) {
			return err
		}
	}
	return err
}

// add adds to batch what has to be written for one object.
func add(ctx context.Context, layer *storage.Layer, batch *storage.Batch, w Object, convert Converter) error {
	accessor, err := meta.Accessor(w.Object)
	if err != nil {
		return err
	}
	stored, err := read(ctx, layer, w, accessor)
	if err != nil {
		return fmt.Errorf("reading %s %s in %s: %w", w.Resource.GroupResource, accessor.GetName(), w.Cluster, err)
	}
	if stored == nil {
		created := w.Object.DeepCopyObject()
		createdAccessor, err := meta.Accessor(created)
		if err != nil {
			return err
		}
		rest.FillObjectMetaSystemFields(createdAccessor)
		createdAccessor.SetCreationTimestamp(metav1.NewTime(time.Now().UTC().Truncate(time.Second)))
		createdAccessor.SetGeneration(1)
		batch.Create(w.Resource, w.Cluster, created)
		return nil
	}
	if convert != nil {
		if stored, err = convert(stored); err != nil {
			return fmt.Errorf("converting %s %s in %s: %w", w.Resource.GroupResource, accessor.GetName(), w.Cluster, err)
		}
	}
	updated, changed, err := overlay(stored, w.Object)
	if err != nil || !changed {
		return err
	}
	batch.Update(w.Resource, w.Cluster, updated)
	return nil
}

// read returns the object as the watch cache has it, or nil.
func read(ctx context.Context, layer *storage.Layer, w Object, accessor metav1.Object) (runtime.Object, error) {
	store, ok := layer.Store(w.Resource)
	if !ok {
		return nil, fmt.Errorf("the store of %s is not open", w.Resource.Prefix())
	}
	key := w.Resource.Prefix() + "/"
	if namespace := accessor.GetNamespace(); namespace != "" {
		key += namespace + "/"
	}
	stored, err := layer.NewObject(w.Resource)
	if err != nil {
		return nil, err
	}
	err = store.Get(logicalcluster.NewContext(ctx, w.Cluster), key+accessor.GetName(), apistorage.GetOptions{ResourceVersion: "0"}, stored)
	if apistorage.IsNotFound(err) {
		return nil, nil
	}
	return stored, err
}

// overlay returns wanted with the metadata of stored, and whether that differs from
// stored.
func overlay(stored, wanted runtime.Object) (updated runtime.Object, changed bool, err error) {
	storedMeta, err := meta.Accessor(stored)
	if err != nil {
		return nil, false, err
	}
	if storedMeta.GetAnnotations()[corev1alpha1.CreateOnlyAnnotationKey] == "true" {
		return nil, false, nil
	}
	updated = wanted.DeepCopyObject()
	updatedMeta, err := meta.Accessor(updated)
	if err != nil {
		return nil, false, err
	}
	labels := merged(storedMeta.GetLabels(), updatedMeta.GetLabels())
	annotations := merged(storedMeta.GetAnnotations(), updatedMeta.GetAnnotations())
	copyObjectMeta(stored, updated)
	updatedMeta.SetLabels(labels)
	updatedMeta.SetAnnotations(annotations)
	keepStatus(stored, updated)
	updated.GetObjectKind().SetGroupVersionKind(stored.GetObjectKind().GroupVersionKind())
	return updated, !equality.Semantic.DeepEqual(stored, updated), nil
}

func merged(stored, wanted map[string]string) map[string]string {
	if len(stored) == 0 && len(wanted) == 0 {
		return stored
	}
	all := maps.Clone(stored)
	if all == nil {
		all = map[string]string{}
	}
	maps.Copy(all, wanted)
	return all
}

// copyObjectMeta gives to the metadata of from. Both are pointers to structs of one type.
func copyObjectMeta(from, to runtime.Object) {
	field(to, "ObjectMeta").Set(field(from.DeepCopyObject(), "ObjectMeta"))
}

// keepStatus gives to the status of from, which is the controllers' business.
func keepStatus(from, to runtime.Object) {
	if status := field(to, "Status"); status.IsValid() {
		status.Set(field(from.DeepCopyObject(), "Status"))
	}
}

func field(obj runtime.Object, name string) reflect.Value {
	return reflect.ValueOf(obj).Elem().FieldByName(name)
}
