package structural

import (
	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
)

// shape is a schema reduced to what decides whether pruning and defaulting change a
// value. Walking it allocates nothing, while walking a structural schema copies it
// property by property.
type shape struct {
	properties map[string]*shape
	// defaulted lists the properties that have a default.
	defaulted  []string
	additional *shape
	items      *shape
	// anyField says that fields without a shape stay.
	anyField bool
	// open says that fields without a property have the shape additional, which may
	// be nil.
	open bool
	// nullable says that null stays.
	nullable bool
	// embedded says that the value is an object with metadata of its own.
	embedded bool
}

func newShape(s *structuralschema.Structural, preserveUnknownFields bool) *shape {
	if s == nil {
		if preserveUnknownFields {
			return &shape{anyField: true, nullable: true}
		}
		return nil
	}
	result := &shape{
		anyField: s.XPreserveUnknownFields || preserveUnknownFields,
		nullable: s.Nullable,
		embedded: s.XEmbeddedResource,
		items:    newShape(s.Items, preserveUnknownFields),
	}
	if len(s.Properties) > 0 {
		result.properties = make(map[string]*shape, len(s.Properties))
	}
	for name, property := range s.Properties {
		result.properties[name] = newShape(&property, preserveUnknownFields)
		if property.Default.Object != nil {
			result.defaulted = append(result.defaulted, name)
		}
	}
	if s.AdditionalProperties != nil {
		result.open = true
		result.additional = newShape(s.AdditionalProperties.Structural, preserveUnknownFields)
	}
	return result
}

// walk says which transformations a value is held against.
type walk struct {
	// defaulting is set if missing defaults count.
	defaulting bool
}

// fitsRoot says whether content, a whole object, is left as it is.
func (w walk) fitsRoot(s *shape, content map[string]any) bool {
	if !metadataFits(content["metadata"]) {
		return false
	}
	if s == nil {
		// Without a schema, all but the type and the metadata goes.
		for key := range content {
			if !isTypeOrMeta(key) {
				return false
			}
		}
		return true
	}
	return w.fitsObject(s, content, true)
}

func (w walk) fits(s *shape, value any) bool {
	switch value := value.(type) {
	case map[string]any:
		if s == nil {
			return len(value) == 0
		}
		// The metadata inside would have to be checked like that of the object.
		return !s.embedded && w.fitsObject(s, value, false)
	case []any:
		var items *shape
		if s != nil {
			items = s.items
		}
		for _, item := range value {
			if !w.allows(items, item) {
				return false
			}
		}
		return true
	default:
		return true
	}
}

func (w walk) fitsObject(s *shape, content map[string]any, isRoot bool) bool {
	if w.defaulting {
		for _, name := range s.defaulted {
			if value, ok := content[name]; !ok || value == nil {
				return false
			}
		}
	}
	for key, value := range content {
		if isRoot && isTypeOrMeta(key) {
			continue
		}
		property, known := s.properties[key]
		switch {
		case known:
			if !w.allows(property, value) {
				return false
			}
		case s.open:
			if !w.allows(s.additional, value) {
				return false
			}
		case !s.anyField:
			return false
		}
	}
	return true
}

// allows says whether value, in a place of this shape, stays as it is. Nulls that are
// not nullable go or are replaced by a default.
func (w walk) allows(s *shape, value any) bool {
	if value == nil {
		return s == nil || s.nullable
	}
	return w.fits(s, value)
}

func isTypeOrMeta(key string) bool {
	return key == "apiVersion" || key == "kind" || key == "metadata"
}
