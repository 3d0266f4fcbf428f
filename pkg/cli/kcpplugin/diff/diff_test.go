package diff

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	apisv1alpha1 "github.com/forkless/kcp/pkg/apis/apis/v1alpha1"
)

// schemaOf returns a resource with a version with a schema.
func schemaOf(content string) apisv1alpha1.APIResourceSchemaSpec {
	var spec apisv1alpha1.APIResourceSchemaSpec
	spec.Group, spec.Names.Plural, spec.Names.Kind = "example.dev", "widgets", "Widget"
	spec.Names.ShortNames = []string{"wd"}
	spec.Versions = []apisv1alpha1.APIResourceVersion{{Name: "v1", Served: true}}
	spec.Versions[0].Schema.Raw = []byte(content)
	return spec
}

func TestSchemas(t *testing.T) {
	cases := map[string]struct {
		reason, before, after string
		want                  string
		// back is what the change in the other direction is, to see that narrowing and
		// widening are told apart.
		back string
	}{
		"Equal": {
			reason: "nothing is nothing", before: `{"type": "object"}`, after: `{"type": "object", "description": "new"}`,
		},
		"Property": {
			reason: "a new field harms nobody, one that is gone does",
			before: `{"type": "object", "properties": {"a": {"type": "object"}}}`,
			after:  `{"type": "object", "properties": {"a": {"type": "object", "properties": {"b": {"type": "string"}}}}}`,
			want:   "ok v1 .a.b is new", back: "breaks v1 .a.b is gone",
		},
		"Type": {
			reason: "another type is another thing",
			before: `{"properties": {"a": {"type": "string"}}}`, after: `{"properties": {"a": {"type": "boolean"}}}`,
			want: "breaks v1 .a type string became boolean", back: "breaks v1 .a type boolean became string",
		},
		"Wider": {
			reason: "every integer is a number",
			before: `{"properties": {"a": {"type": "integer"}}}`, after: `{"properties": {"a": {"type": "number"}}}`,
			want: "ok v1 .a type integer became number", back: "breaks v1 .a type number became integer",
		},
		"Required": {
			reason: "what has to be there may not be",
			before: `{"properties": {"a": {"type": "string"}}}`, after: `{"required": ["a"], "properties": {"a": {"type": "string"}}}`,
			want: "breaks v1 .a is required", back: "ok v1 .a is not required any more",
		},
		"RequiredWithDefault": {
			reason: "unless it is filled in",
			before: `{"properties": {"a": {"type": "string", "default": "x"}}}`, after: `{"required": ["a"], "properties": {"a": {"type": "string", "default": "x"}}}`,
			want: "ok v1 .a is required, and has a default", back: "ok v1 .a is not required any more",
		},
		"Enum": {
			reason: "values come and go",
			before: `{"properties": {"a": {"enum": ["x", "y"]}}}`, after: `{"properties": {"a": {"enum": ["y", "z"]}}}`,
			want: "breaks v1 .a cannot be \"x\" any more\nok v1 .a can be \"z\"", back: "breaks v1 .a cannot be \"z\" any more\nok v1 .a can be \"x\"",
		},
		"NewEnum": {
			reason: "some values are fewer than all",
			before: `{"properties": {"a": {}}}`, after: `{"properties": {"a": {"enum": ["x"]}}}`,
			want: `breaks v1 .a is one of ["x"] now`, back: `ok v1 .a can have other values than ["x"]`,
		},
		"Bounds": {
			reason: "bounds are narrower in two directions",
			before: `{"properties": {"a": {"minimum": 1, "maxLength": 5}}}`, after: `{"properties": {"a": {"minimum": 2, "maxLength": 4}}}`,
			want: "breaks v1 .a has a minimum of 2\nbreaks v1 .a has a maximum length of 4",
			back: "ok v1 .a has a minimum of 1, not 2\nok v1 .a has a maximum length of 5, not 4",
		},
		"NewBound": {
			reason: "and wider without any",
			before: `{"properties": {"a": {}}}`, after: `{"properties": {"a": {"maximum": 2.5}}}`,
			want: "breaks v1 .a has a maximum of 2.5", back: "ok v1 .a has no maximum any more",
		},
		"Pattern": {
			reason: "nobody can say which of two patterns allows more",
			before: `{"properties": {"a": {"pattern": "^a"}}}`, after: `{"properties": {"a": {"pattern": "^b"}}}`,
			want: "breaks v1 .a has the pattern ^b", back: "breaks v1 .a has the pattern ^a",
		},
		"Nullable": {
			reason: "null is a value",
			before: `{"properties": {"a": {"nullable": true}}}`, after: `{"properties": {"a": {}}}`,
			want: "breaks v1 .a cannot be null any more", back: "ok v1 .a can be null",
		},
		"Rule": {
			reason: "a rule forbids something",
			before: `{}`, after: `{"x-kubernetes-validations": [{"rule": "self.a > 0"}]}`,
			want: "breaks v1 has the rule self.a > 0", back: "ok v1 has the rule self.a > 0 no longer",
		},
		"Logic": {
			reason: "logic is not compared", before: `{"oneOf": [{"required": ["a"]}]}`, after: `{"oneOf": [{"required": ["b"]}]}`,
			want: "breaks v1 has another oneOf", back: "breaks v1 has another oneOf",
		},
		"Items": {
			reason: "lists and maps are looked into",
			before: `{"properties": {"a": {"items": {"type": "string"}}, "b": {"additionalProperties": {"type": "integer"}}}}`,
			after:  `{"properties": {"a": {"items": {"type": "integer"}}, "b": {"additionalProperties": {"type": "string"}}}}`,
			want:   "breaks v1 .a[] type string became integer\nbreaks v1 .b{} type integer became string",
			back:   "breaks v1 .a[] type integer became string\nbreaks v1 .b{} type string became integer",
		},
		"Preserve": {
			reason: "what was kept without a schema may not fit one",
			before: `{"properties": {"a": {"x-kubernetes-preserve-unknown-fields": true}}}`, after: `{"properties": {"a": {"properties": {"b": {"type": "string"}}}}}`,
			want: "breaks v1 .a.b has a schema now, and could be anything before\nbreaks v1 .a drops fields that have no schema",
			back: "ok v1 .a.b has no schema any more, and is kept as it is",
		},
		"Default": {
			reason: "another default is noticed, and breaks nothing",
			before: `{"properties": {"a": {"default": 1}}}`, after: `{"properties": {"a": {"default": 2}}}`,
			want: "ok v1 .a default 1 became 2", back: "ok v1 .a default 2 became 1",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			check(t, tc.reason, schemaOf(tc.before), schemaOf(tc.after), tc.want)
			check(t, tc.reason, schemaOf(tc.after), schemaOf(tc.before), tc.back)
		})
	}
}

func TestResources(t *testing.T) {
	edit := func(change func(*apisv1alpha1.APIResourceSchemaSpec)) apisv1alpha1.APIResourceSchemaSpec {
		spec := schemaOf(`{}`)
		spec.Versions = append(spec.Versions, apisv1alpha1.APIResourceVersion{Name: "v2", Served: true})
		spec.Versions[1].Schema.Raw = []byte(`{}`)
		if change != nil {
			change(&spec)
		}
		return spec
	}
	cases := map[string]struct {
		reason string
		after  apisv1alpha1.APIResourceSchemaSpec
		want   string
	}{
		"Kind":      {reason: "a kind is what clients know", after: edit(func(s *apisv1alpha1.APIResourceSchemaSpec) { s.Names.Kind = "Gadget" }), want: "breaks - kind Widget became Gadget"},
		"ShortName": {reason: "people type short names", after: edit(func(s *apisv1alpha1.APIResourceSchemaSpec) { s.Names.ShortNames = nil }), want: "breaks - short name wd is gone"},
		"Gone":      {reason: "clients of a version need it", after: edit(func(s *apisv1alpha1.APIResourceSchemaSpec) { s.Versions = s.Versions[:1] }), want: "breaks - version v2 is gone"},
		"Unserved":  {reason: "a version that is not served is gone", after: edit(func(s *apisv1alpha1.APIResourceSchemaSpec) { s.Versions[0].Served = false }), want: "breaks - version v1 is gone"},
		"New": {reason: "a new version is only more", after: edit(func(s *apisv1alpha1.APIResourceSchemaSpec) {
			s.Versions = append(s.Versions, apisv1alpha1.APIResourceVersion{Name: "v3", Served: true})
		}), want: "ok - version v3 is new"},
		"Deprecated": {reason: "deprecation is noticed", after: edit(func(s *apisv1alpha1.APIResourceSchemaSpec) { s.Versions[1].Deprecated = true }), want: "ok v2 is deprecated"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) { check(t, tc.reason, edit(nil), tc.after, tc.want) })
	}
}

// check compares what is printed, with single spaces between the columns.
func check(t *testing.T, reason string, before, after apisv1alpha1.APIResourceSchemaSpec, want string) {
	t.Helper()
	changes, err := compare(before, after)
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	if err := show(&out, changes); err != nil {
		t.Fatal(err)
	}
	var lines []string
	for line := range strings.Lines(out.String()) {
		lines = append(lines, strings.Join(strings.Fields(line), " "))
	}
	if diff := cmp.Diff(want, strings.Join(lines, "\n")); diff != "" {
		t.Errorf("%s: (-want +got)\n%s", reason, diff)
	}
}
