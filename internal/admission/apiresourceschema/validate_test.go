package apiresourceschema

import (
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	apisv1alpha1 "github.com/forkless/kcp/pkg/apis/apis/v1alpha1"
)

// good is a schema that can be served.
const good = `
metadata: {name: today.widgets.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {plural: widgets, singular: widget, kind: Widget, listKind: WidgetList}
  versions:
  - {name: v1, served: true, storage: true, schema: {type: object, properties: {spec: {type: object, properties: {color: {type: string}}}}}}
`

const second = `
  - {name: v2, served: true, storage: false, schema: {type: object, properties: {spec: {type: string}}}}
`

func parse(t *testing.T, text string) *apisv1alpha1.APIResourceSchema {
	t.Helper()
	s := &apisv1alpha1.APIResourceSchema{}
	if err := yaml.UnmarshalStrict([]byte(text), s); err != nil {
		t.Fatal(err)
	}
	return s
}

func TestValidate(t *testing.T) {
	for name, tc := range map[string]struct {
		reason string
		text   string
		change [2]string
		want   string // what the one error is; none: valid
	}{
		"Good":         {reason: "as it should be", text: good},
		"Column":       {reason: "a column in the only version is in a version", text: good, change: [2]string{"storage: true,", "storage: true, additionalPrinterColumns: [{name: a, type: x, jsonPath: .spec}],"}, want: "spec.versions[0].additionalPrinterColumns[0].type"},
		"Subresource":  {reason: "and so is a subresource", text: good, change: [2]string{"storage: true,", "storage: true, subresources: {scale: {specReplicasPath: '', statusReplicasPath: .status.a}},"}, want: "spec.versions[0].subresources.scale.specReplicasPath"},
		"Field":        {reason: "and a selectable field", text: good, change: [2]string{"storage: true,", "storage: true, selectableFields: [{jsonPath: .spec.x}],"}, want: "spec.versions[0].selectableFields[0]"},
		"Property":     {reason: "there is no openAPIV3Schema in a schema", text: good, change: [2]string{"{type: string}", "{}"}, want: "spec.versions[0].schema.properties[spec].properties[color].type"},
		"SecondSchema": {reason: "nor in the second version", text: strings.Replace(good, "  versions:", "  conversion: {strategy: None}\n  versions:", 1) + second, change: [2]string{"spec: {type: string}", "spec: {}"}, want: "spec.versions[1].schema.properties[spec].type"},
		"Core":         {reason: "the core group is called so in names only", text: strings.Replace(good, "widgets.example.com", "widgets.core", 1), change: [2]string{"group: example.com", `group: ""`}},
		"CoreNamed":    {reason: "not in specs", text: strings.Replace(good, "widgets.example.com", "widgets.core", 1), change: [2]string{"group: example.com", "group: core"}, want: "spec.group"},
		"Prefix":       {reason: "the name has a prefix", text: good, change: [2]string{"today.", ""}, want: "metadata.name"},
	} {
		t.Run(name, func(t *testing.T) {
			text := tc.text
			if tc.change[0] != "" {
				text = strings.Replace(text, tc.change[0], tc.change[1], 1)
			}
			errs := validate(t.Context(), parse(t, text))
			switch {
			case tc.want == "" && len(errs) > 0:
				t.Errorf("%s: %v", tc.reason, errs)
			case tc.want != "" && (len(errs) != 1 || !strings.HasPrefix(errs[0].Field, tc.want)):
				t.Errorf("%s: want one error about %s, got %v", tc.reason, tc.want, errs)
			}
		})
	}
}

func TestValidateUpdate(t *testing.T) {
	old := parse(t, good)
	relabelled := old.DeepCopy()
	relabelled.Labels = map[string]string{"a": "b"}
	if errs := validateUpdate(relabelled, old); len(errs) > 0 {
		t.Errorf("labels may change: %v", errs)
	}
	spelled := old.DeepCopy()
	spelled.Spec.Names.ShortNames = []string{}
	if errs := validateUpdate(spelled, old); len(errs) > 0 {
		t.Errorf("an empty list is none: %v", errs)
	}
	changed := old.DeepCopy()
	changed.Spec.Names.ShortNames = []string{"w"}
	if errs := validateUpdate(changed, old); len(errs) != 1 || !strings.Contains(errs[0].Error(), "spec: Invalid value: is immutable") {
		t.Errorf("got %v", errs)
	}
}
