package structural

import (
	"fmt"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting"
	apischema "k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/forkless/kcp/internal/schema"
)

// Schemas are the compiled schemas of all versions of one definition. They are
// immutable and may be used concurrently.
type Schemas struct {
	groupKind             apischema.GroupKind
	preserveUnknownFields bool
	versions              map[string]*Version
}

// Version is the schema of one version. A version without a schema has a nil
// Structural and a nil Validation.
type Version struct {
	// Structural is the schema by which objects are pruned and defaulted.
	Structural *structuralschema.Structural
	// Validation is the whole schema in upstream's internal form.
	Validation *apiextensions.CustomResourceValidation

	shape *shape
}

// Compile returns the schemas of definition. An error means that the definition
// should never have been accepted.
func Compile(definition *schema.Definition) (*Schemas, error) {
	spec := &definition.CRD.Spec
	schemas := &Schemas{
		groupKind:             definition.GroupKind(),
		preserveUnknownFields: spec.PreserveUnknownFields,
		versions:              make(map[string]*Version, len(spec.Versions)),
	}
	for i := range spec.Versions {
		version, err := compileVersion(spec.Versions[i].Schema, spec.PreserveUnknownFields)
		if err != nil {
			return nil, fmt.Errorf("schema of %s, version %s: %w", definition.CRD.Name, spec.Versions[i].Name, err)
		}
		schemas.versions[spec.Versions[i].Name] = version
	}
	return schemas, nil
}

func compileVersion(validation *apiextensionsv1.CustomResourceValidation, preserveUnknownFields bool) (*Version, error) {
	version := &Version{}
	if validation != nil {
		internal := &apiextensions.CustomResourceValidation{}
		if err := apiextensionsv1.Convert_v1_CustomResourceValidation_To_apiextensions_CustomResourceValidation(validation, internal, nil); err != nil {
			return nil, fmt.Errorf("converting: %w", err)
		}
		version.Validation = internal
		compiled, err := structuralschema.NewStructural(internal.OpenAPIV3Schema)
		switch {
		case err == nil:
			version.Structural = compiled
		case !preserveUnknownFields:
			return nil, fmt.Errorf("structural form: %w", err)
		}
	}
	if version.Structural != nil && !preserveUnknownFields {
		// The structural form shares the defaults with what it was made of, and
		// pruning changes them in place.
		version.Structural = version.Structural.DeepCopy()
		if err := defaulting.PruneDefaults(version.Structural); err != nil {
			return nil, fmt.Errorf("pruning defaults: %w", err)
		}
	}
	version.shape = newShape(version.Structural, preserveUnknownFields)
	return version, nil
}

// Version returns the schema of the version called name, or nil.
func (s *Schemas) Version(name string) *Version { return s.versions[name] }

// GroupKind returns the group and kind the schemas are for.
func (s *Schemas) GroupKind() apischema.GroupKind { return s.groupKind }

func (s *Schemas) structural(version string) *structuralschema.Structural {
	if v := s.versions[version]; v != nil {
		return v.Structural
	}
	return nil
}
