package definition

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"

	apisv1alpha1 "github.com/forkless/kcp/pkg/apis/apis/v1alpha1"
)

var update = flag.Bool("update", false, "write the golden files")

// day is when all names are made.
var day = time.Date(2026, time.August, 20, 23, 59, 0, 0, time.UTC)

func TestSchemas(t *testing.T) {
	definitions, err := Read([]string{"testdata/rich.yaml"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	var got strings.Builder
	for _, crd := range definitions {
		spec, err := Spec(crd)
		if err != nil {
			t.Fatal(err)
		}
		prefix, err := Prefix(spec, day)
		if err != nil {
			t.Fatal(err)
		}
		schema, err := New(spec, prefix)
		if err != nil {
			t.Fatal(err)
		}
		content, err := yaml.Marshal(schema)
		if err != nil {
			t.Fatal(err)
		}
		got.Write(content)
		got.WriteString("---\n")
	}
	golden := filepath.Join("testdata", "rich.golden.yaml")
	if *update {
		if err := os.WriteFile(golden, []byte(got.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got.String()); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// definitionOf returns a definition with something added to its metadata and spec.
func definitionOf(name, spec string) string {
	return `{"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": {"name": "` + name + `"},
		"spec": {"group": "example.dev", "scope": "Cluster", "names": {"plural": "widgets", "kind": "Widget"}, ` + spec + `}}`
}

const (
	oneVersion  = `"versions": [{"name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema": {"type": "object"}}}]`
	twoVersions = `"versions": [{"name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema": {"type": "object"}}},
		{"name": "v2", "served": true, "schema": {"openAPIV3Schema": {"type": "object"}}}]`
)

func TestSpecErrors(t *testing.T) {
	cases := map[string]struct{ reason, name, spec, err string }{
		"Conversion": {
			reason: "a schema has to say how its versions are converted",
			spec:   twoVersions, err: "it has several versions and says nothing about conversion between them (spec.conversion)",
		},
		"Service": {
			reason: "a service is in one cluster",
			spec:   twoVersions + `, "conversion": {"strategy": "Webhook", "webhook": {"conversionReviewVersions": ["v1"], "clientConfig": {"service": {"name": "a", "namespace": "b"}}}}`,
			err:    "its conversion webhook is a service of one cluster, which cannot be reached from others; it has to be a URL",
		},
		"NoURL": {
			reason: "a webhook has an address",
			spec:   twoVersions + `, "conversion": {"strategy": "Webhook", "webhook": {"conversionReviewVersions": ["v1"], "clientConfig": {}}}`,
			err:    "its conversion webhook has no URL",
		},
		"NoWebhook": {
			reason: "so it has if nothing is said about it",
			spec:   twoVersions + `, "conversion": {"strategy": "Webhook"}`,
			err:    "its conversion webhook has no address",
		},
		"Strategy": {
			reason: "there are two ways",
			spec:   oneVersion + `, "conversion": {"strategy": "Magic"}`,
			err:    `its conversion strategy "Magic" is unknown`,
		},
		"Name": {
			reason: "the name is part of that of the schema",
			name:   "gadgets.example.dev", spec: oneVersion,
			err: "it would have to be called widgets.example.dev",
		},
		"NoSchema": {
			reason: "without a schema there is nothing to serve",
			spec:   `"versions": [{"name": "v1"}]`,
			err:    "version v1: it has no schema",
		},
		"NoVersions": {reason: "nor without versions", spec: `"versions": []`, err: "it has no versions"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if tc.name == "" {
				tc.name = "widgets.example.dev"
			}
			definitions, err := Parse("test", []byte(definitionOf(tc.name, tc.spec)), true)
			if err != nil {
				t.Fatal(err)
			}
			_, err = Spec(definitions[0])
			if err == nil || !strings.HasPrefix(err.Error(), "CustomResourceDefinition "+tc.name) || !strings.HasSuffix(err.Error(), tc.err) {
				t.Errorf("%s: %v", tc.reason, err)
			}
		})
	}
}

func TestNames(t *testing.T) {
	for prefix, good := range map[string]bool{
		"today": true, "v220801-abc": true, "v": true,
		"2022-05-07": false, "today-": false, "a.b": false, "Today": false, "": false,
	} {
		if err := CheckPrefix(prefix); (err == nil) != good {
			t.Errorf("prefix %q: %v", prefix, err)
		}
	}
	spec := apisv1alpha1.APIResourceSchemaSpec{Group: "example.dev"}
	spec.Names.Plural = "wid_gets"
	if _, err := New(spec, "today"); err == nil {
		t.Error("a name with an underscore was made")
	}
}

func TestSame(t *testing.T) {
	schema := func(edit func(*apisv1alpha1.APIResourceSchemaSpec)) apisv1alpha1.APIResourceSchemaSpec {
		definitions, err := Parse("test", []byte(definitionOf("widgets.example.dev", oneVersion)), true)
		if err != nil {
			t.Fatal(err)
		}
		spec, err := Spec(definitions[0])
		if err != nil {
			t.Fatal(err)
		}
		spec.Versions[0].Schema.Raw = []byte(`{"type": "object", "properties": {"a": {"type": "string"}, "b": {"type": "string"}}}`)
		if edit != nil {
			edit(&spec)
		}
		return spec
	}
	cases := map[string]struct {
		reason string
		edit   func(*apisv1alpha1.APIResourceSchemaSpec)
		same   bool
	}{
		"Equal":   {reason: "nothing has changed", same: true},
		"Default": {reason: "a server writes down what was left out", edit: func(s *apisv1alpha1.APIResourceSchemaSpec) { s.NameValidation = "DNS1123Subdomain" }, same: true},
		"Order": {reason: "the order of fields says nothing", edit: func(s *apisv1alpha1.APIResourceSchemaSpec) {
			s.Versions[0].Schema.Raw = []byte(`{"properties":{"b":{"type":"string"},"a":{"type":"string"}},"type":"object"}`)
		}, same: true},
		"Names":    {reason: "other names rule differently", edit: func(s *apisv1alpha1.APIResourceSchemaSpec) { s.NameValidation = "PathSegmentName" }},
		"Required": {reason: "a schema says everything", edit: func(s *apisv1alpha1.APIResourceSchemaSpec) { s.Versions[0].Schema.Raw = []byte(`{"type":"object"}`) }},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got := Same(schema(nil), schema(tc.edit)); got != tc.same {
				t.Errorf("%s: same is %v", tc.reason, got)
			}
		})
	}
}

func TestRead(t *testing.T) {
	good := definitionOf("widgets.example.dev", oneVersion)
	folder := t.TempDir()
	for name, content := range map[string]string{
		"crd.json": good, "kustomization.yaml": "resources: [crd.json]", "template.yaml": "a: {{ .b }}",
		"list.yml": `{"apiVersion": "v1", "kind": "List", "items": [` + strings.ReplaceAll(good, "widgets", "gadgets") + `]}`, "README.md": "# ---",
		"other.yaml": "# only a comment\n",
	} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	cases := map[string]struct {
		reason string
		files  []string
		in     string
		want   []string
		err    string
	}{
		"Folder":  {reason: "folders hold other things as well", files: []string{folder}, want: []string{"widgets.example.dev", "gadgets.example.dev"}},
		"Input":   {reason: "definitions can come from elsewhere", files: []string{"-"}, in: good, want: []string{"widgets.example.dev"}},
		"Other":   {reason: "what was named should be what it is taken for", files: []string{filepath.Join(folder, "kustomization.yaml")}, err: `kind "" of "" is no CustomResourceDefinition of apiextensions.k8s.io/v1`},
		"Old":     {reason: "there were other versions", files: []string{"-"}, in: strings.ReplaceAll(good, "io/v1", "io/v1beta1"), err: `kind "CustomResourceDefinition" of "apiextensions.k8s.io/v1beta1" is no CustomResourceDefinition of apiextensions.k8s.io/v1`},
		"Twice":   {reason: "one of them would be lost", files: []string{folder, "-"}, in: good, err: "CustomResourceDefinition widgets.example.dev is there twice"},
		"Nothing": {reason: "success for nothing would be a lie", files: []string{"-"}, err: "no CustomResourceDefinitions in -"},
		"Text":    {reason: "what is no object is not called what Go calls it", files: []string{"-"}, in: "token,user,id", err: "reading the input: it holds something else than objects"},
		"Absent":  {reason: "a file that is not there is named", files: []string{"nowhere"}, err: "stat nowhere: no such file or directory"},
		"Broken":  {reason: "what cannot be read is not passed over", files: []string{filepath.Join(folder, "template.yaml")}, err: "invalid map key"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			definitions, err := Read(tc.files, strings.NewReader(tc.in))
			if (err == nil) != (tc.err == "") || err != nil && !strings.Contains(err.Error(), tc.err) {
				t.Fatalf("%s: %v", tc.reason, err)
			}
			var names []string
			for _, crd := range definitions {
				names = append(names, crd.Name)
			}
			if diff := cmp.Diff(tc.want, names); diff != "" {
				t.Errorf("%s: (-want +got)\n%s", tc.reason, diff)
			}
		})
	}
}
