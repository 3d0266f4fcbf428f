package conversion

import (
	"encoding/json"
	"fmt"

	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	utiljson "k8s.io/apimachinery/pkg/util/json"

	apisv1alpha1 "github.com/forkless/kcp/pkg/apis/apis/v1alpha1"
)

// preserved is a field whose values are preserved.
type preserved struct {
	path Path
	// key is the path as it stands in annotations.
	key string
	// schema is that of the field, and validator made of it; nil if it may have any value.
	schema    *structuralschema.Structural
	validator validation.SchemaValidator
}

func newPreserved(path Path, schema *structuralschema.Structural) preserved {
	p := preserved{path: path, key: path.String(), schema: schema}
	if schema != nil {
		p.validator = validation.NewSchemaValidatorFromOpenAPI(typesOf(schema).ToKubeOpenAPI())
	}
	return p
}

// typesOf returns a schema that knows the types of another, and formats, which are types
// in some languages, and nothing else of what values may be: an object may have come by
// its values before its schema forbade them.
func typesOf(schema *structuralschema.Structural) *structuralschema.Structural {
	schema = schema.DeepCopy()
	(&structuralschema.Visitor{Structural: func(s *structuralschema.Structural) bool {
		if s.ValueValidation != nil {
			s.ValueValidation = &structuralschema.ValueValidation{Format: s.ValueValidation.Format}
		}
		return true
	}}).Visit(schema)
	return schema
}

// allows says whether the field may have a value.
func (p *preserved) allows(value any) bool {
	return p.schema == nil || fitsType(value, p.schema) == nil && p.validator.Validate(value).IsValid()
}

// saved returns the values that are preserved, by their paths.
func (p *pair) saved(object map[string]any) map[string]any {
	saved := map[string]any{}
	for _, preserved := range p.preserve {
		if value, found := preserved.path.get(object); found {
			saved[preserved.key] = value
		}
	}
	return saved
}

// save writes what is preserved of a version into the annotations of u. What an
// annotation of that name says otherwise is of no use: u had the fields themselves.
func save(u *unstructured.Unstructured, version string, saved map[string]any) error {
	key := apisv1alpha1.PreservedAnnotationPrefix + version
	annotations := u.GetAnnotations()
	_, had := annotations[key]
	if len(saved) == 0 {
		if had {
			delete(annotations, key)
			u.SetAnnotations(annotations)
		}
		return nil
	}
	raw, err := json.Marshal(saved)
	if err != nil {
		return fmt.Errorf("preserving fields of %s: %w", version, err)
	}
	if annotations == nil {
		annotations = map[string]string{}
	}
	annotations[key] = string(raw)
	u.SetAnnotations(annotations)
	return nil
}

// restore puts what has been preserved of a version back in its place, and removes the
// annotation.
//
// Everybody who may write the object may write that annotation. What it cannot be read
// as, or has no business to bring, is left out: it must not be possible to make an object
// that nobody can convert, or decode, and that would be in the way of all others in a
// list.
func (c *Converter) restore(u *unstructured.Unstructured, version string) {
	key := apisv1alpha1.PreservedAnnotationPrefix + version
	annotations := u.GetAnnotations()
	raw, ok := annotations[key]
	if !ok {
		return
	}
	delete(annotations, key)
	u.SetAnnotations(annotations)
	saved := map[string]any{}
	if err := utiljson.Unmarshal([]byte(raw), &saved); err != nil {
		return
	}
	for _, preserved := range c.preserved[version] {
		value, found := saved[preserved.key]
		if !found || !preserved.allows(value) {
			continue
		}
		// One that is in the way of another is left out as well.
		_ = preserved.path.set(u.Object, value)
	}
}
