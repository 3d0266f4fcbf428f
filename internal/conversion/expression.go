package conversion

import (
	"errors"
	"fmt"
	"sync"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	schemacel "k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel/model"
	"k8s.io/apimachinery/pkg/util/version"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
	apiservercel "k8s.io/apiserver/pkg/cel"
	"k8s.io/apiserver/pkg/cel/environment"
	"k8s.io/apiserver/pkg/cel/library"
)

// selfName is what expressions call the value of their field.
const selfName = "self"

// objectBudget is what the expressions for one object may cost together: a tenth of a
// second, roughly. Upstream gives as much to each single expression of a validation; but
// objects are converted whenever they are read, and many at a time.
const objectBudget = celconfig.PerCallLimit

// expression is a compiled transformation. It may be evaluated concurrently.
type expression struct {
	source  string
	program cel.Program
	// schema is that of self; nil where there is none to go by.
	schema *structuralschema.Structural
	// result is the schema of the destination, likewise.
	result *structuralschema.Structural
}

// environments are those that expressions have been compiled in, by the type of self: each
// takes tens of kilobytes.
type environments map[string]*environment.EnvSet

// simple are the environments of self of types that all APIs have in common. There are
// not more of them than types below.
var simple = struct {
	sync.Mutex
	environments
}{environments: environments{}}

// isSimple says whether a type is the same in all APIs.
func isSimple(self *cel.Type) bool {
	switch self.Kind() {
	case types.DynKind, types.BoolKind, types.IntKind, types.DoubleKind, types.StringKind, types.BytesKind, types.TimestampKind, types.DurationKind:
		return true
	}
	return false
}

// in returns the environment in which self is a value of the schema of a field, and that
// schema, or nil if self can be anything there.
func (e environments) in(schema *structuralschema.Structural, field Path) (*environment.EnvSet, *structuralschema.Structural, error) {
	self := apiservercel.DynType
	if schema != nil && !schema.XPreserveUnknownFields {
		if declared := model.SchemaDeclType(schema, schema.XEmbeddedResource); declared != nil {
			self = declared.MaybeAssignTypeName(selfName + "Type")
		}
	}
	if self == apiservercel.DynType {
		schema = nil
	}
	if isSimple(self.CelType()) {
		simple.Lock()
		defer simple.Unlock()
		env, err := simple.get(self.CelType().String(), self)
		return env, schema, err
	}
	env, err := e.get(field.String(), self)
	return env, schema, err
}

func (e environments) get(key string, self *apiservercel.DeclType) (*environment.EnvSet, error) {
	if known := e[key]; known != nil {
		return known, nil
	}
	options := environment.VersionedOptions{
		IntroducedVersion: version.MajorMinor(1, 0),
		EnvOptions:        []cel.EnvOption{cel.Variable(selfName, self.CelType())},
	}
	if !isSimple(self.CelType()) {
		options.DeclTypes = []*apiservercel.DeclType{self}
	}
	made, err := environment.MustBaseEnvSet(environment.DefaultCompatibilityVersion()).Extend(options)
	if err != nil {
		return nil, fmt.Errorf("making the environment: %w", err)
	}
	e[key] = made
	return made, nil
}

// compile compiles source, which turns values of a field of schema from into values of
// schema to; either may be nil. mode says whether the expression is new or has been
// accepted once.
func (e environments) compile(source string, field Path, from, to *structuralschema.Structural, mode environment.Type) (*expression, error) {
	envs, self, err := e.in(from, field)
	if err != nil {
		return nil, err
	}
	env, err := envs.Env(mode)
	if err != nil {
		return nil, err
	}
	ast, issues := env.Compile(source)
	if issues != nil && issues.Err() != nil {
		return nil, issues.Err()
	}
	if err := returns(ast.OutputType(), to); err != nil {
		return nil, err
	}
	program, err := env.Program(ast,
		cel.CostLimit(celconfig.PerCallLimit),
		cel.CostTracking(&library.CostEstimator{}),
	)
	if err != nil {
		return nil, err
	}
	return &expression{source: source, program: program, schema: self, result: to}, nil
}

// returns says why values of a type cannot be those of a field of the schema.
func returns(output *cel.Type, schema *structuralschema.Structural) error {
	if schema == nil || schema.XIntOrString || schema.Type == "" {
		return nil
	}
	if output.Kind() == types.OpaqueKind && output.TypeName() == "optional_type" && len(output.Parameters()) == 1 {
		output = output.Parameters()[0]
	}
	var fits bool
	switch output.Kind() {
	case types.DynKind, types.AnyKind, types.NullTypeKind, types.TypeParamKind:
		fits = true
	case types.BoolKind:
		fits = schema.Type == "boolean"
	case types.IntKind, types.UintKind:
		fits = schema.Type == "integer" || schema.Type == "number"
	case types.DoubleKind:
		fits = schema.Type == "number"
	case types.StringKind, types.BytesKind, types.TimestampKind, types.DurationKind:
		fits = schema.Type == "string"
	case types.ListKind:
		fits = schema.Type == "array"
	case types.MapKind, types.StructKind:
		fits = schema.Type == "object"
	}
	if !fits {
		return fmt.Errorf("the expression returns %s, and the field is of type %s", output, schema.Type)
	}
	return nil
}

// errNothing says that an expression returned optional.none().
var errNothing = errors.New("no value")

// eval returns what becomes of value, and what that has cost.
func (e *expression) eval(value any) (result any, cost uint64, err error) {
	var self ref.Val
	if e.schema != nil {
		self = schemacel.UnstructuredToVal(value, e.schema)
		if types.IsUnknownOrError(self) {
			return nil, 0, fmt.Errorf("%v", self)
		}
	} else {
		self = types.DefaultTypeAdapter.NativeToValue(value)
	}
	returned, details, err := e.program.Eval(map[string]any{selfName: self})
	if details != nil && details.ActualCost() != nil {
		cost = *details.ActualCost()
	}
	if err != nil {
		return nil, cost, err
	}
	if optional, ok := returned.(*types.Optional); ok {
		if !optional.HasValue() {
			return nil, cost, errNothing
		}
		returned = optional.GetValue()
	}
	if result, err = jsonOf(returned, formatOf(e.result)); err != nil {
		return nil, cost, err
	}
	return result, cost, fitsType(result, e.result)
}

func formatOf(schema *structuralschema.Structural) string {
	if schema == nil || schema.ValueValidation == nil {
		return ""
	}
	return schema.ValueValidation.Format
}

// fitsType says why value cannot be that of a field. It looks at the outermost type: what
// an expression returns may only be known when it is evaluated, and the wrong type could
// be stored otherwise.
func fitsType(value any, schema *structuralschema.Structural) error {
	if schema == nil || value == nil {
		return nil
	}
	var fits bool
	switch value.(type) {
	case string:
		fits = schema.Type == "string" || schema.XIntOrString
	case int64:
		fits = schema.Type == "integer" || schema.Type == "number" || schema.XIntOrString
	case float64:
		fits = schema.Type == "number"
	case bool:
		fits = schema.Type == "boolean"
	case []any:
		fits = schema.Type == "array"
	case map[string]any:
		fits = schema.Type == "object"
	}
	if !fits && (schema.Type != "" || schema.XIntOrString) {
		return fmt.Errorf("the expression returned %T, and the field is of type %s", value, schema.Type)
	}
	return nil
}
