package structural

import (
	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/objectmeta"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/pruning"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	apischema "k8s.io/apimachinery/pkg/runtime/schema"
)

// Options say how Coerce treats what does not fit.
type Options struct {
	// Repair drops malformed metadata and sets a missing generation, instead of
	// returning an error. It is for objects that have been stored already.
	Repair bool
	// ReportUnknown makes Coerce return the paths of the fields it removes.
	ReportUnknown bool
}

// Coerce removes from u what neither the schema of its version nor the metadata of
// objects know, and what is null without being nullable. It changes u in place and
// returns the paths of the removed fields if options ask for them.
func (s *Schemas) Coerce(u *unstructured.Unstructured, options Options) ([]string, error) {
	// kind and apiVersion may not be mentioned in the schema; they are put back below.
	kind, hasKind, err := unstructured.NestedString(u.Object, "kind")
	if err != nil {
		return nil, err
	}
	apiVersion, hasAPIVersion, err := unstructured.NestedString(u.Object, "apiVersion")
	if err != nil {
		return nil, err
	}
	groupVersion, err := apischema.ParseGroupVersion(apiVersion)
	if err != nil {
		return nil, err
	}
	meta, hasMeta, unknown, err := objectmeta.GetObjectMetaWithOptions(u.Object, objectmeta.ObjectMetaOptions{
		DropMalformedFields:     options.Repair,
		ReturnUnknownFieldPaths: options.ReportUnknown,
	})
	if err != nil {
		return nil, err
	}

	// Other objects come this way too, DeleteOptions for one.
	if groupVersion.WithKind(kind).GroupKind() == s.groupKind {
		removed, err := s.prune(u.Object, groupVersion.Version, options)
		if err != nil {
			return nil, err
		}
		unknown = append(unknown, removed...)
		if options.Repair && meta != nil && meta.Generation == 0 {
			meta.Generation = 1
		}
	}

	if hasKind {
		u.SetKind(kind)
	}
	if hasAPIVersion {
		u.SetAPIVersion(apiVersion)
	}
	if hasMeta {
		if err := objectmeta.SetObjectMeta(u.Object, meta); err != nil {
			return nil, err
		}
	}
	return unknown, nil
}

func (s *Schemas) prune(content map[string]any, version string, options Options) ([]string, error) {
	schema := s.structural(version)
	var unknown []string
	if !s.preserveUnknownFields {
		unknown = pruning.PruneWithOptions(content, schema, true,
			structuralschema.UnknownFieldPathOptions{TrackUnknownFieldPaths: options.ReportUnknown})
		defaulting.PruneNonNullableNullsWithoutDefaults(content, schema)
	}
	fieldErr, embedded := objectmeta.CoerceWithOptions(nil, content, schema, false, objectmeta.CoerceOptions{
		DropInvalidFields:       options.Repair,
		ReturnUnknownFieldPaths: options.ReportUnknown,
	})
	if fieldErr != nil {
		return nil, fieldErr
	}
	return append(unknown, embedded...), nil
}

// Default fills in what the schema of u's version gives defaults for, in place.
func (s *Schemas) Default(u *unstructured.Unstructured) {
	if gvk := u.GroupVersionKind(); gvk.GroupKind() == s.groupKind {
		defaulting.Default(u.Object, s.structural(gvk.Version))
	}
}

// Unchanged says whether an object of the given version is left as it is by Coerce
// with Repair and by Default. It may say false where it is, but never true where it
// is not. content is only read.
func (s *Schemas) Unchanged(version string, content map[string]any) bool {
	v := s.versions[version]
	return v != nil && walk{defaulting: true}.fitsRoot(v.shape, content)
}

// Coerced is Unchanged for Coerce alone.
func (s *Schemas) Coerced(version string, content map[string]any) bool {
	v := s.versions[version]
	return v != nil && walk{}.fitsRoot(v.shape, content)
}
