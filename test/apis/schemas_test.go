package apis

import (
	"net/http"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"
)

var schemaBehaviors = map[string]behavior{
	"Rules":     schemaRules,
	"Immutable": schemaImmutable,
	"Defaults":  schemaDefaults,
}

// schema is the YAML of an APIResourceSchema of widgets with changes, each a pair of what
// is replaced by what.
func schema(name string, changes ...string) string {
	text := `{apiVersion: apis.kcp.io/v1alpha1, kind: APIResourceSchema, metadata: {name: ` + name + `}, spec: {
		group: example.com, scope: Namespaced,
		names: {plural: widgets, singular: widget, kind: Widget, listKind: WidgetList},
		versions: [{name: v1, served: true, storage: true, schema: {type: object, properties: {spec: {type: object, properties: {color: {type: string}}}}}}]}}`
	return strings.NewReplacer(changes...).Replace(text)
}

const twoVersions = `versions: [{name: v2, served: true, storage: false, schema: {type: object, description: two}}, {name: v1,`

func schemaRules(t *testing.T, s suite) {
	c := as(t, s.server, alice, s.workspace(t, aliceName).path)
	const today = "today.widgets.example.com"
	for name, tc := range map[string]struct {
		reason  string
		schema  string
		changes []string
		code    int
		words   []string
	}{
		"Plain":             {reason: "a schema as they are", schema: today, code: 201},
		"NameOfAnother":     {reason: "the name says what it is for", schema: "foo.widgets.example.com", changes: []string{"plural: widgets", "plural: sprockets"}, code: 403, words: []string{"must end in .sprockets.example.com"}},
		"PrefixOfDigits":    {reason: "a prefix begins with a letter", schema: "2022-05-07.widgets.example.com", code: 403, words: []string{"metadata.name", "must match"}},
		"PrefixWithLetter":  {reason: "digits may follow", schema: "v220507.widgets.example.com", code: 201},
		"PrefixWithDot":     {reason: "the first dot ends it", schema: "a.b.widgets.example.com", code: 403, words: []string{"must match"}},
		"NoPrefix":          {reason: "there is one", schema: "widgets.example.com", code: 403, words: []string{"must end in .widgets.example.com"}},
		"TwoVersions":       {reason: "two versions say how they are converted", schema: "two.widgets.example.com", changes: []string{"versions: [{name: v1,", twoVersions}, code: 422, words: []string{"Conversion must be specified when multiple versions exist"}},
		"TwoVersionsNone":   {reason: "not at all is an answer", schema: "none.widgets.example.com", changes: []string{"versions: [{name: v1,", "conversion: {strategy: None}, " + twoVersions}, code: 201},
		"WebhookWithout":    {reason: "a webhook is somewhere", schema: "hook.widgets.example.com", changes: []string{"scope:", "conversion: {strategy: Webhook}, scope:"}, code: 422, words: []string{"Webhook must be specified if strategy=Webhook"}},
		"WebhookNoURL":      {reason: "at an address", schema: "hook.widgets.example.com", changes: []string{"versions: [{name: v1,", "conversion: {strategy: Webhook, webhook: {conversionReviewVersions: [v1]}}, " + twoVersions}, code: 403, words: []string{"has no URL"}},
		"WebhookHTTP":       {reason: "that is safe", schema: "hook.widgets.example.com", changes: []string{"versions: [{name: v1,", "conversion: {strategy: Webhook, webhook: {clientConfig: {url: 'http://x'}, conversionReviewVersions: [v1]}}, " + twoVersions}, code: 403, words: []string{"https"}},
		"NoStorage":         {reason: "objects are stored in some version", schema: "a.widgets.example.com", changes: []string{"storage: true", "storage: false"}, code: 403, words: []string{"exactly one version marked as storage version"}},
		"VersionName":       {reason: "versions are called as versions are", schema: "a.widgets.example.com", changes: []string{"name: v1", "name: one"}, code: 422, words: []string{"spec.versions[0].name"}},
		"Unapproved":        {reason: "groups of Kubernetes are not anybody's", schema: "a.widgets.foo.k8s.io", changes: []string{"group: example.com", "group: foo.k8s.io"}, code: 403, words: []string{"api-approved.kubernetes.io", "protected groups must have approval annotation"}},
		"Approved":          {reason: "unless somebody says so", schema: "b.widgets.foo.k8s.io, annotations: {api-approved.kubernetes.io: unapproved}", changes: []string{"group: example.com", "group: foo.k8s.io"}, code: 201},
		"GroupCore":         {reason: "the core group has no name", schema: "x.widgets.core", changes: []string{"group: example.com", "group: core"}, code: 403, words: []string{"must be empty string for the core group"}},
		"GroupEmpty":        {reason: "it is core in names of schemas", schema: "y.widgets.core", changes: []string{"group: example.com", `group: ""`}, code: 201},
		"GroupApps":         {reason: "the groups of Kubernetes without a dot are good", schema: "y.widgets.apps", changes: []string{"group: example.com", `group: apps`}, code: 201},
		"GroupUndotted":     {reason: "others are not", schema: "y.widgets.mine", changes: []string{"group: example.com", `group: mine`}, code: 403, words: []string{"spec.group", "should be a domain with at least one dot"}},
		"GroupMalformed":    {reason: "a group is a domain", schema: "y.widgets.example.com", changes: []string{"group: example.com", `group: Mine.com`}, code: 403, words: []string{"spec.group"}},
		"NoSingular":        {reason: "nothing is made up", schema: "y.widgets.example.com", changes: []string{"singular: widget,", ""}, code: 403, words: []string{"spec.names.singular: Required"}},
		"NoListKind":        {reason: "nothing is made up", schema: "y.widgets.example.com", changes: []string{", listKind: WidgetList", ""}, code: 403, words: []string{"spec.names.listKind: Required"}},
		"NoKind":            {reason: "objects have a kind", schema: "y.widgets.example.com", changes: []string{"kind: Widget, ", ""}, code: 422, words: []string{"spec.names.kind"}},
		"KindMalformed":     {reason: "names are those of definitions", schema: "y.widgets.example.com", changes: []string{"kind: Widget,", "kind: a_b,"}, code: 403, words: []string{"spec.names.kind"}},
		"NotStructural":     {reason: "schemas are structural", schema: "y.widgets.example.com", changes: []string{"color: {type: string}", "color: {}"}, code: 403, words: []string{"spec.versions[0].schema.properties[spec].properties[color].type: Required"}},
		"DefaultInvalid":    {reason: "defaults fit their schema", schema: "y.widgets.example.com", changes: []string{"color: {type: string}", "color: {type: string, default: 5}"}, code: 403, words: []string{"properties[color].default"}},
		"CELInvalid":        {reason: "expressions compile", schema: "y.widgets.example.com", changes: []string{"color: {type: string}", "color: {type: string, x-kubernetes-validations: [{rule: 'self ==='}]}"}, code: 403, words: []string{"compilation failed"}},
		"CELExpensive":      {reason: "and end", schema: "y.widgets.example.com", changes: []string{"color: {type: string}", "color: {type: array, items: {type: array, items: {type: array, items: {type: string}}}, x-kubernetes-validations: [{rule: 'self.all(a, a.all(b, b.all(c, c.matches(\"a*b*c*\"))))'}]}"}, code: 403, words: []string{"cost"}},
		"SchemaUnreadable":  {reason: "what is no schema is none", schema: "y.widgets.example.com", changes: []string{"color: {type: string}", "color: 5"}, code: 403, words: []string{"version v1"}},
		"Columns":           {reason: "columns are those of definitions", schema: "y.widgets.example.com", changes: []string{"storage: true,", "storage: true, additionalPrinterColumns: [{name: a, type: nonsense, jsonPath: .spec}],"}, code: 403, words: []string{"spec.versions[0].additionalPrinterColumns[0].type"}},
		"TooManyFields":     {reason: "eight fields can be selected by", schema: "y.widgets.example.com", changes: []string{"storage: true,", "storage: true, selectableFields: [" + strings.Repeat("{jsonPath: .spec.color},", 9) + "],"}, code: 422, words: []string{"selectableFields"}},
		"SelectableMissing": {reason: "of those there are", schema: "y.widgets.example.com", changes: []string{"storage: true,", "storage: true, selectableFields: [{jsonPath: .spec.shape}],"}, code: 403, words: []string{"spec.versions[0].selectableFields[0]"}},
		"NameRule":          {reason: "there are two rules for names", schema: "y.widgets.example.com", changes: []string{"scope:", "nameValidation: Any, scope:"}, code: 422, words: []string{"nameValidation"}},
	} {
		t.Run(name, func(t *testing.T) {
			c := c
			c.t = t
			a := c.do("POST", v1+"/apiresourceschemas", schema(tc.schema, tc.changes...))
			if a.code != tc.code {
				t.Fatalf("%s: got %d, want %d: %s", tc.reason, a.code, tc.code, a.body)
			}
			text := strings.ReplaceAll(a.body, `\"`, `"`)
			for _, word := range tc.words {
				if !strings.Contains(text, word) {
					t.Errorf("%s: %q is not in %s", tc.reason, word, text)
				}
			}
		})
	}
}

func schemaImmutable(t *testing.T, s suite) {
	c := as(t, s.server, alice, s.workspace(t, aliceName).path)
	c.must(http.StatusCreated, "POST", v1+"/apiresourceschemas", schema("today.widgets.example.com"))
	path := v1 + "/apiresourceschemas/today.widgets.example.com"
	for field, patch := range map[string]string{
		"schema":     `{spec: {versions: [{name: v1, served: true, storage: true, schema: {type: object}}]}}`,
		"short name": `{spec: {names: {shortNames: [w]}}}`,
		"scope":      `{spec: {scope: Cluster}}`,
		"names rule": `{spec: {nameValidation: PathSegmentName}}`,
		"conversion": `{spec: {conversion: {strategy: None}}}`,
	} {
		t.Run(field, func(t *testing.T) {
			c := c
			c.t = t
			c.must(http.StatusForbidden, "PATCH", path, patch, "spec: Invalid value: is immutable")
		})
	}
	c.must(http.StatusOK, "PATCH", path, `{metadata: {labels: {a: b}, annotations: {c: d}}}`)
	c.must(http.StatusOK, "PATCH", path, `{spec: {scope: Namespaced}}`)
	c.must(http.StatusOK, "APPLY", path+"?fieldManager=me&force=true", schema("today.widgets.example.com"))
	// To write the same once more, in other words, is to do nothing.
	for _, words := range [][]string{nil, {"plural: widgets,", "plural: widgets, shortNames: [],"}, {"served: true, storage: true,", "served: true, storage: true, subresources: {}, additionalPrinterColumns: [],"}} {
		c.update(http.StatusOK, path, func(u *unstructured.Unstructured) {
			version := u.GetResourceVersion()
			if err := yaml.Unmarshal([]byte(schema("today.widgets.example.com", words...)), &u.Object); err != nil {
				t.Fatal(err)
			}
			u.SetResourceVersion(version)
		})
	}

	c.must(http.StatusCreated, "POST", v1+"/apiresourceschemas",
		schema("a.widgets.foo.k8s.io, annotations: {api-approved.kubernetes.io: 'https://example.com/1'}", "group: example.com", "group: foo.k8s.io"))
	c.must(http.StatusForbidden, "PATCH", v1+"/apiresourceschemas/a.widgets.foo.k8s.io",
		`{metadata: {annotations: {api-approved.kubernetes.io: null}}}`, "protected groups must have approval annotation")
	// Deletion is never blocked.
	c.must(http.StatusOK, "DELETE", path, "")
}

func schemaDefaults(t *testing.T, s suite) {
	c := as(t, s.server, alice, s.workspace(t, aliceName).path)
	created := c.must(http.StatusCreated, "POST", v1+"/apiresourceschemas", schema("today.widgets.example.com", "served: true, ", "", "type: object, properties: {spec:", "type: object, x-anything: kept, properties: {spec:"))
	equal(t, "names are checked as those of custom resources are", "DNS1123Subdomain", created, "spec", "nameValidation")
	got := c.must(http.StatusOK, "GET", v1+"/apiresourceschemas/today.widgets.example.com", "")
	for want, reason := range map[string]string{
		`"served":true`: "a version is served", `"x-anything":"kept"`: "schemas are stored as they were written",
	} {
		if text := got.field("spec", "versions"); !strings.Contains(text, want) {
			t.Errorf("%s: %s is not in %s", reason, want, text)
		}
	}
	if generation := got.object.GetGeneration(); generation != 1 {

		t.Errorf("generation %d", generation)
	}
}
