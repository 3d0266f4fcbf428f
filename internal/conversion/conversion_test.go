package conversion_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/yaml"

	"github.com/forkless/kcp/internal/conversion"
	apisv1alpha1 "github.com/forkless/kcp/pkg/apis/apis/v1alpha1"
)

// people are versions of an API whose fields were moved, split, renamed and dropped.
const (
	peopleV1 = `
type: object
properties:
  spec:
    type: object
    properties:
      name: {type: string}
      age: {type: integer}
      born: {type: string, format: date-time}
      timeout: {type: string, format: duration}
      nickname: {type: string, maxLength: 10}
      labels: {type: object, additionalProperties: {type: string}}
      ports:
        type: array
        items: {type: object, properties: {port: {type: integer}, name: {type: string}}}
      size: {x-kubernetes-int-or-string: true}
      extra: {type: object, x-kubernetes-preserve-unknown-fields: true}
      kept: {type: string}
  status: {type: object, properties: {ready: {type: boolean}}}
`
	peopleV2 = `
type: object
properties:
  spec:
    type: object
    properties:
      name: {type: object, properties: {first: {type: string}, last: {type: string}}}
      years: {type: integer}
      born: {type: string, format: date}
      seconds: {type: number}
      labels: {type: object, additionalProperties: {type: string}}
      endpoints:
        type: array
        items: {type: object, properties: {number: {type: integer}, name: {type: string}}}
      size: {type: string}
      extra: {type: object, x-kubernetes-preserve-unknown-fields: true}
      kept: {type: string}
  status: {type: object, properties: {phase: {type: string}}}
`
)

func props(t testing.TB, text string) *apiextensionsv1.JSONSchemaProps {
	t.Helper()
	parsed := &apiextensionsv1.JSONSchemaProps{}
	if err := yaml.Unmarshal([]byte(text), parsed); err != nil {
		t.Fatal(err)
	}
	return parsed
}

// people returns versions v1, v2, where objects are stored, and v3, which is like v2.
func people(t testing.TB) []conversion.Version {
	t.Helper()
	return []conversion.Version{
		{Name: "v1", Served: true, Schema: props(t, peopleV1)},
		{Name: "v2", Served: true, Storage: true, Schema: props(t, peopleV2)},
		{Name: "v3", Served: true, Schema: props(t, peopleV2)},
		{Name: "v1alpha1", Schema: props(t, peopleV1)},
	}
}

func specOf(t testing.TB, text string) *apisv1alpha1.APIConversionSpec {
	t.Helper()
	spec := &apisv1alpha1.APIConversionSpec{}
	if err := yaml.UnmarshalStrict([]byte(text), spec); err != nil {
		t.Fatal(err)
	}
	return spec
}

func compile(t testing.TB, spec string) *conversion.Converter {
	t.Helper()
	converter, err := conversion.Compile(specOf(t, spec), people(t))
	if err != nil {
		t.Fatal(err)
	}
	return converter
}

// person returns an object of version, with what text says in place of metadata.
func person(t testing.TB, version, text string) *unstructured.Unstructured {
	t.Helper()
	u := &unstructured.Unstructured{}
	raw, err := yaml.YAMLToJSON([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	content := map[string]any{}
	if err := json.Unmarshal(raw, &content); err != nil {
		t.Fatal(err)
	}
	metadata, _ := content["metadata"].(map[string]any)
	if metadata == nil {
		metadata = map[string]any{}
	}
	metadata["name"], metadata["namespace"], content["metadata"] = "ann", "default", metadata
	content["apiVersion"], content["kind"] = "example.com/"+version, "Person"
	if raw, err = json.Marshal(content); err != nil {
		t.Fatal(err)
	}
	if err := u.UnmarshalJSON(raw); err != nil {
		t.Fatal(err)
	}
	return u
}

func inGroup(version string) schema.GroupVersion {
	return schema.GroupVersion{Group: "example.com", Version: version}
}

// rules makes a spec of rules from v1 to v2.
func rules(text string) string { return "conversions: [{from: v1, to: v2, rules: [" + text + "]}]" }

func TestConvert(t *testing.T) {
	for name, tc := range map[string]struct {
		reason   string
		spec     string
		from, to string
		in, want string
	}{
		"Nothing": {
			reason: "fields that no rule names stay as they are",
			spec:   rules(""), from: "v1", to: "v2",
			in: "spec: {kept: a}\nstatus: {ready: true}", want: "spec: {kept: a}\nstatus: {ready: true}",
		},
		"Moved": {
			reason: "a field without a transformation moves with its value",
			spec:   rules("{field: spec.age, destination: spec.years}"), from: "v1", to: "v2",
			in: "spec: {age: 9007199254740993}", want: "spec: {years: 9007199254740993}",
		},
		"Absent": {
			reason: "what is absent stays absent, and so does what it would have become",
			spec:   rules("{field: spec.age, destination: spec.years, transformation: self + 1}"), from: "v1", to: "v2",
			in: "spec: {years: 7}", want: "spec: {}",
		},
		"Split": {
			reason: "several rules may read one field, as it was before any of them",
			spec: rules(`{field: spec.name, destination: spec.name.first, transformation: "self.split(' ')[0]"},
				{field: .spec.name, destination: .spec.name.last, transformation: "self.split(' ')[1]"}`), from: "v1", to: "v2",
			in: "spec: {name: Ann Bee}", want: "spec: {name: {first: Ann, last: Bee}}",
		},
		"Swapped": {
			reason: "rules do not see what other rules made",
			spec:   rules("{field: spec.labels.a, destination: spec.labels.b}, {field: spec.labels.b, destination: spec.labels.a}"), from: "v1", to: "v2",
			in: "spec: {labels: {a: x, b: y, c: z}}", want: "spec: {labels: {a: y, b: x, c: z}}",
		},
		"MapKey": {
			reason: "a path may lead to one key of a map",
			spec:   rules("{field: \"spec.labels['a.b/c']\", destination: spec.kept}"), from: "v1", to: "v2",
			in: "spec: {labels: {a.b/c: x, d: y}}", want: "spec: {labels: {d: y}, kept: x}",
		},
		"List": {
			reason: "a list is converted as a whole",
			spec:   rules(`{field: spec.ports, destination: spec.endpoints, transformation: "self.map(p, {'number': dyn(p.port), 'name': dyn(p.?name.orValue('x'))})"}`), from: "v1", to: "v2",
			in: "spec: {ports: [{port: 1, name: a}, {port: 2}]}", want: "spec: {endpoints: [{number: 1, name: a}, {number: 2, name: x}]}",
		},
		"None": {
			reason: "an expression may say that there is no value",
			spec:   rules("{field: spec.age, destination: spec.years, transformation: 'self > 0 ? optional.of(self) : optional.none()'}"), from: "v1", to: "v2",
			in: "spec: {age: 0}", want: "spec: {}",
		},
		"Some": {
			reason: "or that there is one",
			spec:   rules("{field: spec.age, destination: spec.years, transformation: 'self > 0 ? optional.of(self) : optional.none()'}"), from: "v1", to: "v2",
			in: "spec: {age: 3}", want: "spec: {years: 3}",
		},
		"Null": {
			reason: "there is nothing to transform in null",
			spec:   rules("{field: spec.age, destination: spec.years, transformation: self + 1}"), from: "v1", to: "v2",
			in: "spec: {age: null}", want: "spec: {years: null}",
		},
		"Times": {
			reason: "formats are types of their own in CEL, and strings in objects",
			spec: rules(`{field: spec.born, destination: spec.born, transformation: self},
				{field: spec.timeout, destination: spec.seconds, transformation: double(self.getSeconds()) + 0.5}`), from: "v1", to: "v2",
			in: "spec: {born: '2020-02-03T04:05:06Z', timeout: 2m}", want: "spec: {born: '2020-02-03', seconds: 120.5}",
		},
		"IntOrString": {
			reason: "what can be of two types is told apart by the expression",
			spec:   rules("{field: spec.size, destination: spec.size, transformation: 'type(self) == int ? string(self) : self'}"), from: "v1", to: "v2",
			in: "spec: {size: 5}", want: "spec: {size: '5'}",
		},
		"Unknown": {
			reason: "below what has no schema, expressions may use anything",
			spec:   rules("{field: spec.extra.deep, destination: spec.extra.shallow, transformation: 'self.a + self.b[0]'}"), from: "v1", to: "v2",
			in: "spec: {extra: {deep: {a: 1, b: [2]}, other: 3}}", want: "spec: {extra: {shallow: 3, other: 3}}",
		},
		"Metadata": {
			reason: "what is in the metadata is the same in all versions",
			spec:   rules("{field: spec.age, destination: spec.years}"), from: "v1", to: "v2",
			in:   "metadata: {labels: {a: b}, annotations: {kcp.io/cluster: c}, uid: '1', resourceVersion: '2'}\nspec: {age: 1}",
			want: "metadata: {labels: {a: b}, annotations: {kcp.io/cluster: c}, uid: '1', resourceVersion: '2'}\nspec: {years: 1}",
		},
		"NotBack": {
			reason: "a conversion is in one direction",
			spec:   rules("{field: spec.age, destination: spec.years}"), from: "v2", to: "v1",
			in: "spec: {years: 1}", want: "spec: {years: 1}",
		},
		"ByWayOfStorage": {
			reason: "versions without rules for each other are converted by way of the storage version",
			spec:   rules("{field: spec.age, destination: spec.years}"), from: "v1", to: "v3",
			in: "spec: {age: 1}", want: "spec: {years: 1}",
		},
		"Preserved": {
			reason: "what the other version has no field for is in an annotation",
			spec:   "conversions: [{from: v1, to: v2, preserve: [spec.nickname, spec.size]}]", from: "v1", to: "v2",
			in:   "spec: {nickname: A, size: 5, kept: a}",
			want: `{metadata: {annotations: {preserve.conversion.apis.kcp.io/v1: '{"spec.nickname":"A","spec.size":5}'}}, spec: {kept: a}}`,
		},
		"Restored": {
			reason: "and comes back from there, in whatever way it comes to the version",
			spec:   "conversions: [{from: v1, to: v2, preserve: [spec.nickname, spec.size]}]", from: "v3", to: "v1",
			in:   `{metadata: {annotations: {a: b, preserve.conversion.apis.kcp.io/v1: '{"spec.nickname":"A","spec.size":5}'}}, spec: {kept: a}}`,
			want: "metadata: {annotations: {a: b}}\nspec: {nickname: A, size: 5, kept: a}",
		},
		"NothingToPreserve": {
			reason: "an annotation of the version that the object had is out of date",
			spec:   "conversions: [{from: v1, to: v2, preserve: [spec.nickname]}]", from: "v1", to: "v2",
			in:   `{metadata: {annotations: {preserve.conversion.apis.kcp.io/v1: '{"spec.nickname":"A"}'}}, spec: {kept: a}}`,
			want: "{metadata: {annotations: {}}, spec: {kept: a}}",
		},
		"Forged": {
			reason: "an annotation brings back nothing that is not preserved, and nothing that the field could not be",
			spec:   "conversions: [{from: v1, to: v2, preserve: [spec.nickname, spec.size]}]", from: "v2", to: "v1",
			in:   `{metadata: {annotations: {preserve.conversion.apis.kcp.io/v1: '{"spec.nickname":{"a":1},"spec.size":[],"spec.kept":"b","metadata.name":"c"}'}}, spec: {kept: a}}`,
			want: "{metadata: {annotations: {}}, spec: {kept: a}}",
		},
		"Unreadable": {
			reason: "an annotation that cannot be read is not in the way",
			spec:   "conversions: [{from: v1, to: v2, preserve: [spec.nickname]}]", from: "v2", to: "v1",
			in:   `{metadata: {annotations: {preserve.conversion.apis.kcp.io/v1: '{{'}}, spec: {kept: a}}`,
			want: "{metadata: {annotations: {}}, spec: {kept: a}}",
		},
	} {
		t.Run(name, func(t *testing.T) {
			u := person(t, tc.from, tc.in)
			if err := convert(compile(t, tc.spec), u, inGroup(tc.to)); err != nil {
				t.Fatalf("%s: %v", tc.reason, err)
			}
			want := person(t, tc.to, tc.want)
			if diff := cmp.Diff(withoutEmptyAnnotations(want), withoutEmptyAnnotations(u)); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

func withoutEmptyAnnotations(u *unstructured.Unstructured) map[string]any {
	if len(u.GetAnnotations()) == 0 {
		unstructured.RemoveNestedField(u.Object, "metadata", "annotations")
	}
	return u.Object
}

func TestErrors(t *testing.T) {
	converter := compile(t, rules(`{field: spec.name, destination: spec.name.last, transformation: "self.split(' ')[1]"}`))
	err := convert(converter, person(t, "v1", "spec: {name: Ann}"), inGroup("v2"))
	if err == nil {
		t.Fatal("there is no second name")
	}
	if !apierrors.IsInternalError(err) {
		t.Errorf("who reads gets %v", err)
	}
	for _, part := range []string{`Person.example.com "default/ann"`, "from v1 to v2", "rule for spec.name.last", `self.split(' ')[1]`, "index out of bounds"} {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("%q does not say %q", err, part)
		}
	}
	var refused *conversion.Error
	if !errors.As(err, &refused) {
		t.Fatalf("%T", err)
	}
	if refusal := refused.Refusal(); !apierrors.IsInvalid(refusal) || !strings.Contains(refusal.Error(), "spec.name.last") {
		t.Errorf("who writes gets %v", refusal)
	}
}

func TestResultsOfTheWrongType(t *testing.T) {
	for name, transformation := range map[string]string{
		"Type":     "self.a",
		"NaN":      "dyn(0.0) / dyn(0.0)",
		"Kind":     "type(self)",
		"Key":      "{1: 2}",
		"Quantity": "quantity('1')",
	} {
		t.Run(name, func(t *testing.T) {
			converter := compile(t, rules(`{field: spec.extra, destination: spec.size, transformation: "dyn(`+transformation+`)"}`))
			u := person(t, "v1", "spec: {extra: {a: 1}}")
			if err := convert(converter, u, inGroup("v2")); err == nil {
				t.Errorf("got %v", u.Object["spec"])
			}
		})
	}
}

func TestCostIsBounded(t *testing.T) {
	expensive := "self.map(a, self.map(b, self.map(c, self.size()))).size()"
	converter := compile(t, rules("{field: spec.ports, destination: spec.years, transformation: '"+expensive+"'}"))
	u := person(t, "v1", "spec: {ports: ["+strings.Repeat("{port: 1},", 500)+"]}")
	if err := convert(converter, u, inGroup("v2")); err == nil || !strings.Contains(err.Error(), "cost limit") {
		t.Errorf("one expression: %v", err)
	}
	var many []string
	for _, destination := range []string{"years", "labels.a", "labels.b", "labels.c", "labels.d", "labels.e", "labels.f"} {
		transformation := "self.map(a, self.map(b, b.port)).size()"
		if destination != "years" {
			transformation = "string(" + transformation + ")"
		}
		many = append(many, "{field: spec.ports, destination: spec."+destination+", transformation: '"+transformation+"'}")
	}
	converter = compile(t, rules(strings.Join(many, ",")))
	u = person(t, "v1", "spec: {ports: ["+strings.Repeat("{port: 1},", 250)+"]}")
	if err := convert(converter, u, inGroup("v2")); err == nil || !strings.Contains(err.Error(), "cost more than") {
		t.Errorf("several expressions: %v", err)
	}
}

func TestDestinationBelowWhatIsNoObject(t *testing.T) {
	converter := compile(t, rules("{field: spec.kept, destination: spec.extra.a.b}"))
	err := convert(converter, person(t, "v1", "spec: {kept: a, extra: {a: 1}}"), inGroup("v2"))
	if err == nil || !strings.Contains(err.Error(), "spec.extra.a is no object") {
		t.Errorf("got %v", err)
	}
}

// convert converts one object, in place.
func convert(converter *conversion.Converter, u *unstructured.Unstructured, to schema.GroupVersion) error {
	_, err := converter.Convert([]*unstructured.Unstructured{u}, to)
	return err
}
