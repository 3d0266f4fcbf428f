package crdspec

import (
	"crypto/sha256"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Storage returns codecs for stored definitions that share specs. serializer knows
// CustomResourceDefinitions; all other types are left as they are.
func Storage(serializer runtime.StorageSerializer) runtime.StorageSerializer {
	return storageSerializer{StorageSerializer: serializer, specs: newTable()}
}

type storageSerializer struct {
	runtime.StorageSerializer
	specs *table
}

// DecoderToVersion implements runtime.StorageSerializer.
func (s storageSerializer) DecoderToVersion(d runtime.Decoder, gv runtime.GroupVersioner) runtime.Decoder {
	return decoder{Decoder: s.StorageSerializer.DecoderToVersion(d, gv), specs: s.specs}
}

type decoder struct {
	runtime.Decoder
	specs *table
}

// Decode implements runtime.Decoder.
func (d decoder) Decode(data []byte, defaults *schema.GroupVersionKind, into runtime.Object) (runtime.Object, *schema.GroupVersionKind, error) {
	parts, ok := split(data)
	if !ok {
		return d.Decoder.Decode(data, defaults, into)
	}
	id := sum(parts)
	if spec, known := d.specs.get(id); known {
		obj, gvk, err := d.Decoder.Decode(parts.rest, defaults, into)
		// Without a stored version upstream takes it from the spec while it decodes.
		if crd, ok := obj.(*apiextensions.CustomResourceDefinition); err == nil && ok && len(crd.Status.StoredVersions) > 0 {
			crd.Spec = spec
			return obj, gvk, nil
		}
	}
	obj, gvk, err := d.Decoder.Decode(data, defaults, into)
	if crd, ok := obj.(*apiextensions.CustomResourceDefinition); err == nil && ok {
		crd.Spec = d.specs.add(id, crd.Spec)
	}
	return obj, gvk, err
}

func sum(p parts) id { return sha256.Sum256(p.spec) }
