package conversion_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/pruning"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	utiljson "k8s.io/apimachinery/pkg/util/json"
)

// roundTrip loses nothing, in either direction.
const roundTrip = `
conversions:
- from: v1
  to: v2
  rules:
  - {field: spec.name, destination: spec.name.first, transformation: "self.split(' ', 2)[0]"}
  - {field: spec.name, destination: spec.name.last, transformation: "self.contains(' ') ? optional.of(self.split(' ', 2)[1]) : optional.none()"}
  - {field: spec.age, destination: spec.years}
  - {field: spec.ports, destination: spec.endpoints, transformation: "self.map(p, {?'number': p.?port.optMap(n, dyn(n)), ?'name': p.?name.optMap(n, dyn(n))})"}
  - {field: status.ready, destination: status.phase, transformation: "self ? 'Ready' : 'NotReady'"}
  preserve: [spec.nickname, spec.size, spec.timeout, spec.born]
- from: v2
  to: v1
  rules:
  - {field: spec.name, destination: spec.name, transformation: "self.?last.hasValue() ? self.first + ' ' + self.last : self.first"}
  - {field: spec.years, destination: spec.age}
  - {field: spec.endpoints, destination: spec.ports, transformation: "self.map(p, {?'port': p.?number.optMap(n, dyn(n)), ?'name': p.?name.optMap(n, dyn(n))})"}
  - {field: status.phase, destination: status.ready, transformation: "self == 'Ready'"}
  preserve: [spec.seconds, spec.size, spec.born]
`

// FuzzRoundTrip: an object that is converted to another version and back is what it was.
func FuzzRoundTrip(f *testing.F) {
	for _, seed := range []string{
		`{}`,
		`{"spec":{"name":"Ann Bee","age":9007199254740993,"nickname":"A","kept":"a"}}`,
		`{"spec":{"name":"Ann","ports":[{"port":1,"name":"a"},{"port":2},{}],"size":"5"},"status":{"ready":false}}`,
		`{"spec":{"labels":{"a.b/c":"d"},"born":"2020-02-03T04:05:06Z","timeout":"2m","extra":{"a":[1,2.5,null,{"b":true}]}}}`,
	} {
		f.Add([]byte(seed))
	}
	converter, valid := compile(f, roundTrip), validatorOf(f, peopleV1)
	f.Fuzz(func(t *testing.T, raw []byte) {
		content := map[string]any{}
		if err := utiljson.Unmarshal(raw, &content); err != nil {
			return
		}
		u := &unstructured.Unstructured{Object: content}
		delete(content, "metadata")
		u.SetAPIVersion("example.com/v1")
		u.SetKind("Person")
		u.SetName("ann")
		if !valid(u) {
			return
		}
		want := u.DeepCopy()
		if err := convert(converter, u, inGroup("v2")); err != nil {
			t.Fatal(err)
		}
		between := u.DeepCopy()
		if err := convert(converter, u, inGroup("v1")); err != nil {
			t.Fatalf("%v: %v", between, err)
		}
		if diff := cmp.Diff(withoutEmptyAnnotations(want), withoutEmptyAnnotations(u)); diff != "" {
			t.Errorf("as v2: %v\n(-want +got):\n%s", between.Object, diff)
		}
	})
}

// validatorOf returns a function that prunes an object by a schema and says whether it is
// valid then, as it would be when it is written.
func validatorOf(t testing.TB, schema string) func(*unstructured.Unstructured) bool {
	t.Helper()
	internal := &apiextensions.JSONSchemaProps{}
	if err := apiextensionsv1.Convert_v1_JSONSchemaProps_To_apiextensions_JSONSchemaProps(props(t, schema), internal, nil); err != nil {
		t.Fatal(err)
	}
	structural, err := structuralschema.NewStructural(internal)
	if err != nil {
		t.Fatal(err)
	}
	validator, _, err := validation.NewSchemaValidator(internal)
	if err != nil {
		t.Fatal(err)
	}
	return func(u *unstructured.Unstructured) bool {
		pruning.Prune(u.Object, structural, true)
		return len(validation.ValidateCustomResource(nil, u.Object, validator)) == 0
	}
}
