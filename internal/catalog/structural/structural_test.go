package structural_test

import (
	"encoding/json"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/forkless/kcp/internal/catalog/structural"
	"github.com/forkless/kcp/internal/schema"
)

// everything has each construct that pruning and defaulting know.
const everything = `
type: object
properties:
  spec:
    type: object
    properties:
      a: {type: string}
      b: {type: string, default: x}
      n: {type: string, nullable: true}
      d: {type: string, nullable: true, default: x}
      free: {type: object, x-kubernetes-preserve-unknown-fields: true, properties: {b: {type: object, properties: {a: {type: string}}}}}
      map: {type: object, additionalProperties: {type: object, properties: {a: {type: string, default: y}}}}
      bools: {type: object, additionalProperties: true}
      list: {type: array, items: {type: object, properties: {a: {type: string}, b: {type: string, default: z}}}}
      embedded: {type: object, x-kubernetes-embedded-resource: true, x-kubernetes-preserve-unknown-fields: true}
      any: {x-kubernetes-preserve-unknown-fields: true}
  status: {type: object, default: {}, properties: {b: {type: string, default: q}}}
`

func compile(t testing.TB, schemaYAML string) *structural.Schemas {
	t.Helper()
	version := apiextensionsv1.CustomResourceDefinitionVersion{Name: "v1", Served: true, Storage: true}
	if schemaYAML != "" {
		props := &apiextensionsv1.JSONSchemaProps{}
		if err := yaml.UnmarshalStrict([]byte(schemaYAML), props); err != nil {
			t.Fatal(err)
		}
		version.Schema = &apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: props}
	}
	names := apiextensionsv1.CustomResourceDefinitionNames{Plural: "widgets", Kind: "Widget"}
	definition, err := schema.New(&apiextensionsv1.CustomResourceDefinition{
		ObjectMeta: metav1.ObjectMeta{Name: "widgets.example.com"},
		Spec: apiextensionsv1.CustomResourceDefinitionSpec{
			Group: "example.com", Names: names, Versions: []apiextensionsv1.CustomResourceDefinitionVersion{version},
		},
		Status: apiextensionsv1.CustomResourceDefinitionStatus{AcceptedNames: names},
	})
	if err != nil {
		t.Fatal(err)
	}
	schemas, err := structural.Compile(definition)
	if err != nil {
		t.Fatal(err)
	}
	return schemas
}

func parse(t testing.TB, text string) *unstructured.Unstructured {
	t.Helper()
	raw, err := yaml.YAMLToJSON([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	u := &unstructured.Unstructured{}
	if err := json.Unmarshal(raw, &u.Object); err != nil {
		t.Fatal(err)
	}
	// As decoded from storage: whole numbers are int64.
	if metadata, ok := u.Object["metadata"].(map[string]any); ok {
		if generation, ok := metadata["generation"].(float64); ok {
			metadata["generation"] = int64(generation)
		}
	}
	return u
}

func TestCoerceAndDefault(t *testing.T) {
	const head = "apiVersion: example.com/v1\nkind: Widget\nmetadata: {name: x, generation: 1}\n"
	cases := map[string]struct {
		reason, in, want string
		unchanged        bool
	}{
		"Complete": {
			reason:    "an object that has it all is recognized without being changed",
			in:        head + "spec: {a: x, b: y, d: z, n: null, list: [{a: x, b: y}], map: {k: {a: b}}}\nstatus: {b: c}",
			want:      head + "spec: {a: x, b: y, d: z, n: null, list: [{a: x, b: y}], map: {k: {a: b}}}\nstatus: {b: c}",
			unchanged: true,
		},
		"NothingToDefault": {
			reason:    "defaults are for objects that exist",
			in:        head + "status: {b: c}",
			want:      head + "status: {b: c}",
			unchanged: true,
		},
		"Defaults": {
			reason: "missing fields get their default, down to the last level",
			in:     head + "spec: {list: [{}], map: {k: {}}}",
			want:   head + "spec: {b: x, d: x, list: [{b: z}], map: {k: {a: y}}}\nstatus: {b: q}",
		},
		"Unknown": {
			reason: "unknown fields go, but not from where they are preserved",
			in:     head + "oops: 1\nspec: {b: x, d: x, oops: 1, free: {any: {thing: 1}, b: {a: x, oops: 1}}}\nstatus: {b: q, oops: 1}",
			want:   head + "spec: {b: x, d: x, free: {any: {thing: 1}, b: {a: x}}}\nstatus: {b: q}",
		},
		"Nulls": {
			reason: "null stays where it may be, and becomes the default or nothing elsewhere",
			in:     head + "spec: {a: null, b: null, n: null, d: null}\nstatus: {b: q}",
			want:   head + "spec: {b: x, n: null, d: null}\nstatus: {b: q}",
		},
		"MalformedMetadata": {
			reason: "what cannot be decoded is dropped from stored objects",
			in:     "apiVersion: example.com/v1\nkind: Widget\nmetadata: {name: x, generation: 1, labels: 7}\nstatus: {b: q}",
			want:   head + "status: {b: q}",
		},
		"UnknownMetadata": {
			reason: "metadata has the fields all objects have",
			in:     "apiVersion: example.com/v1\nkind: Widget\nmetadata: {name: x, generation: 1, oops: 7}\nstatus: {b: q}",
			want:   head + "status: {b: q}",
		},
		"Generation": {
			reason: "stored objects have a generation",
			in:     "apiVersion: example.com/v1\nkind: Widget\nmetadata: {name: x}\nstatus: {b: q}",
			want:   head + "status: {b: q}",
		},
	}
	schemas := compile(t, everything)
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			in := parse(t, tc.in)
			if got := schemas.Unchanged("v1", in.Object); got != tc.unchanged {
				t.Errorf("%s: Unchanged = %t, want %t", tc.reason, got, tc.unchanged)
			}
			if _, err := schemas.Coerce(in, structural.Options{Repair: true}); err != nil {
				t.Fatal(err)
			}
			schemas.Default(in)
			if diff := cmp.Diff(parse(t, tc.want).Object, in.Object); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

func TestUnknownIsReported(t *testing.T) {
	u := parse(t, "apiVersion: example.com/v1\nkind: Widget\nmetadata: {name: x, bad: 1}\nspec: {oops: 1, list: [{oops: 1}]}")
	got, err := compile(t, everything).Coerce(u, structural.Options{ReportUnknown: true})
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"metadata.bad", "spec.list[0].oops", "spec.oops"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("paths (-want +got):\n%s", diff)
	}
}

// TestUnchangedIsNeverWrong compares Unchanged with what the transformations do, on
// random objects: where it says that nothing changes, nothing may.
func TestUnchangedIsNeverWrong(t *testing.T) {
	for name, text := range map[string]string{"Everything": everything, "NoSchema": "", "Free": "{type: object, x-kubernetes-preserve-unknown-fields: true}"} {
		t.Run(name, func(t *testing.T) {
			schemas := compile(t, text)
			random := rand.New(rand.NewPCG(1, 2))
			recognized := 0
			for range 1500 {
				u := parse(t, "{apiVersion: example.com/v1, kind: Widget, metadata: {name: x, generation: 1}}")
				for _, key := range []string{"spec", "status", "oops"} {
					if random.IntN(3) > 0 {
						u.Object[key] = randomValue(random, 4)
					}
				}
				before := u.DeepCopy()
				unchanged, coerced := schemas.Unchanged("v1", u.Object), schemas.Coerced("v1", u.Object)
				if !coerced {
					if unchanged {
						t.Fatal("unchanged, but not coerced")
					}
					continue
				}
				recognized++
				if _, err := schemas.Coerce(u, structural.Options{Repair: true}); err != nil {
					t.Fatalf("%v: %v", before.Object, err)
				}
				if unchanged {
					schemas.Default(u)
				}
				if diff := cmp.Diff(before.Object, u.Object); diff != "" {
					t.Fatalf("said to be unchanged (-before +after):\n%s", diff)
				}
			}
			if recognized == 0 {
				t.Error("no object was recognized as unchanged, the test proves nothing")
			}
		})
	}
}

var fieldNames = []string{"a", "b", "n", "d", "free", "map", "bools", "list", "embedded", "any", "metadata", "kind", "oops"}

func randomValue(random *rand.Rand, depth int) any {
	kind := random.IntN(6)
	if depth == 0 {
		kind %= 3
	}
	switch kind {
	case 0:
		return nil
	case 1, 2:
		return "text"
	case 3:
		items := []any{}
		for range random.IntN(3) {
			items = append(items, randomValue(random, depth-1))
		}
		return items
	default:
		fields := map[string]any{}
		for range random.IntN(6) {
			fields[fieldNames[random.IntN(len(fieldNames))]] = randomValue(random, depth-1)
		}
		return fields
	}
}
