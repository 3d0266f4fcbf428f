package conversion

import (
	"fmt"

	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apiserver/pkg/cel/environment"

	apisv1alpha1 "github.com/forkless/kcp/pkg/apis/apis/v1alpha1"
)

// rule is a compiled rule.
type rule struct {
	field, destination Path
	// expression is nil where the value is taken as it is.
	expression *expression
}

// pair is a compiled conversion from one version to another.
type pair struct {
	rules    []rule
	preserve []preserved
}

// versions names a pair.
type versions struct{ from, to string }

// Compile compiles the rules for an API of the given versions, which were accepted once. If
// they do not fit the error is a Status, for those who want to use the API.
func Compile(spec *apisv1alpha1.APIConversionSpec, all []Version) (*Converter, error) {
	converter, errs := compile(spec, all, environment.StoredExpressions, field.NewPath("spec"))
	if len(errs) > 0 {
		return nil, apierrors.NewInternalError(fmt.Errorf("compiling conversion rules: %w", errs.ToAggregate()))
	}
	return converter, nil
}

func compile(spec *apisv1alpha1.APIConversionSpec, all []Version, mode environment.Type, at *field.Path) (*Converter, field.ErrorList) {
	compiler := compiler{
		mode:    mode,
		schemas: map[string]*structuralschema.Structural{},
		made:    map[*structuralschema.Structural]environments{},
	}
	converter := &Converter{pairs: map[versions]*pair{}, preserved: map[string][]preserved{}}
	for i := range all {
		schema, err := all[i].structural()
		if err != nil {
			return nil, field.ErrorList{field.InternalError(at, err)}
		}
		compiler.schemas[all[i].Name] = schema
		if all[i].Storage {
			converter.storage = all[i].Name
		}
	}
	for i := range spec.Conversions {
		conversion := &spec.Conversions[i]
		compiled := compiler.pair(conversion, at.Child("conversions").Index(i))
		key := versions{conversion.From, conversion.To}
		if converter.pairs[key] != nil {
			compiler.fail(field.Duplicate(at.Child("conversions").Index(i), fmt.Sprintf("from %s to %s", key.from, key.to)))
		}
		converter.pairs[key] = compiled
		converter.preserved[key.from] = append(converter.preserved[key.from], compiled.preserve...)
	}
	return converter, compiler.errs
}

// compiler collects what is wrong.
type compiler struct {
	mode environment.Type
	// schemas are those of the versions there are.
	schemas map[string]*structuralschema.Structural
	// made are the environments for the fields of each schema.
	made map[*structuralschema.Structural]environments
	errs field.ErrorList
}

func (c *compiler) environments(of *structuralschema.Structural) environments {
	if c.made[of] == nil {
		c.made[of] = environments{}
	}
	return c.made[of]
}

func (c *compiler) fail(err *field.Error) { c.errs = append(c.errs, err) }

func (c *compiler) pair(conversion *apisv1alpha1.APIVersionConversion, at *field.Path) *pair {
	from, fromKnown := c.schemas[conversion.From]
	if !fromKnown {
		c.fail(field.Invalid(at.Child("from"), conversion.From, "the schema has no such version"))
	}
	to, toKnown := c.schemas[conversion.To]
	if !toKnown {
		c.fail(field.Invalid(at.Child("to"), conversion.To, "the schema has no such version"))
	}
	if conversion.From == conversion.To {
		c.fail(field.Invalid(at.Child("to"), conversion.To, "must be another version than that in from"))
	}
	compiled := &pair{}
	for i := range conversion.Rules {
		if r, ok := c.rule(&conversion.Rules[i], from, to, at.Child("rules").Index(i)); ok {
			compiled.rules = append(compiled.rules, r)
		}
	}
	for i, path := range conversion.Preserve {
		if parsed, found, ok := c.path(path, from, at.Child("preserve").Index(i)); ok {
			compiled.preserve = append(compiled.preserve, newPreserved(parsed, found))
		}
	}
	c.overlaps(compiled.rules, at.Child("rules"))
	return compiled
}

func (c *compiler) rule(spec *apisv1alpha1.APIConversionRule, from, to *structuralschema.Structural, at *field.Path) (rule, bool) {
	source, sourceSchema, sourceOK := c.path(spec.Field, from, at.Child("field"))
	destination, destinationSchema, destinationOK := c.path(spec.Destination, to, at.Child("destination"))
	if !sourceOK || !destinationOK {
		return rule{}, false
	}
	compiled := rule{field: source, destination: destination}
	if spec.Transformation == "" {
		if !sameType(sourceSchema, destinationSchema) {
			c.fail(field.Invalid(at, spec.Field, fmt.Sprintf("is of type %s, and %s of type %s: a transformation is needed",
				sourceSchema.Type, destination, destinationSchema.Type)))
		}
		return compiled, true
	}
	var err error
	if compiled.expression, err = c.environments(from).compile(spec.Transformation, source, sourceSchema, destinationSchema, c.mode); err != nil {
		c.fail(field.Invalid(at.Child("transformation"), spec.Transformation, err.Error()))
		return rule{}, false
	}
	return compiled, true
}

// path returns a path and the schema of what it leads to.
func (c *compiler) path(path string, schema *structuralschema.Structural, at *field.Path) (Path, *structuralschema.Structural, bool) {
	parsed, err := ParsePath(path)
	if err != nil {
		c.fail(field.Invalid(at, path, err.Error()))
		return nil, nil, false
	}
	switch parsed[0] {
	case "apiVersion", "kind", "metadata":
		c.fail(field.Invalid(at, path, "is the same in all versions"))
		return nil, nil, false
	}
	found, err := fieldOf(schema, parsed)
	if err != nil {
		c.fail(field.Invalid(at, path, err.Error()))
		return nil, nil, false
	}
	return parsed, found, true
}

// overlaps finds destinations that are inside one another: which value is there would be
// a matter of order.
func (c *compiler) overlaps(rules []rule, at *field.Path) {
	for i := range rules {
		for j := range rules {
			if i != j && rules[i].destination.within(rules[j].destination) && (i > j || len(rules[i].destination) > len(rules[j].destination)) {
				c.fail(field.Invalid(at.Index(i).Child("destination"), rules[i].destination.String(),
					fmt.Sprintf("is inside %s, to which another rule writes", rules[j].destination)))
			}
		}
	}
}

// sameType says whether a value of one field can be taken for the other as it is.
func sameType(from, to *structuralschema.Structural) bool {
	switch {
	case from == nil || to == nil || from.Type == to.Type:
		return true
	case to.XIntOrString:
		return from.Type == "integer" || from.Type == "string"
	case from.Type == "" || to.Type == "":
		return !from.XIntOrString
	}
	return from.Type == "integer" && to.Type == "number"
}
