package output

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

func TestPrint(t *testing.T) {
	object := unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "apis.kcp.io/v1alpha2", "kind": "APIBinding",
		"metadata": map[string]any{"name": "a", "managedFields": []any{map[string]any{"manager": "m"}}},
	}}
	file := filepath.Join(t.TempDir(), "template")
	if err := os.WriteFile(file, []byte("{.metadata.name}"), 0o600); err != nil {
		t.Fatal(err)
	}
	cases := map[string]struct {
		reason       string
		flags        Flags
		list         bool
		want, refuse string
	}{
		"YAML":    {reason: "who owns which field is hardly ever wanted", flags: Flags{Format: "yaml"}, want: "apiVersion: apis.kcp.io/v1alpha2\nkind: APIBinding\nmetadata:\n  name: a\n"},
		"Managed": {reason: "unless it is", flags: Flags{Format: "yaml", ShowManagedFields: true}, want: "apiVersion: apis.kcp.io/v1alpha2\nkind: APIBinding\nmetadata:\n  managedFields:\n  - manager: m\n  name: a\n"},
		"JSON":    {reason: "programs read JSON", flags: Flags{Format: "json"}, want: "{\n    \"apiVersion\": \"apis.kcp.io/v1alpha2\",\n    \"kind\": \"APIBinding\",\n    \"metadata\": {\n        \"name\": \"a\"\n    }\n}\n"},
		"Name":    {reason: "names can be given to kubectl", flags: Flags{Format: "name"}, want: "apibinding.apis.kcp.io/a\n"},
		"Names":   {reason: "several at a time", flags: Flags{Format: "name"}, list: true, want: "apibinding.apis.kcp.io/a\napibinding.apis.kcp.io/a\n"},
		"Path":    {reason: "one field", flags: Flags{Format: "jsonpath={.metadata.name}"}, want: "a"},
		"File":    {reason: "templates can be long", flags: Flags{Format: "jsonpath-file=" + file}, want: "a"},
		"Nothing": {reason: "as with kubectl, what is not there is nothing", flags: Flags{Format: "jsonpath={.spec.x.y}."}, want: "."},
		"Go":      {reason: "another kind of template", flags: Flags{Format: "go-template={{.kind}}"}, want: "APIBinding"},
		"Columns": {
			reason: "columns of one's own", flags: Flags{Format: "custom-columns=NAME:.metadata.name,WHO:{.metadata.managedFields[*].manager},NOTHING:spec.x"},
			list: true, want: "NAME   WHO   NOTHING\na      m     <none>\na      m     <none>\n",
		},
		"NoHeaders":  {reason: "without the titles", flags: Flags{Format: "custom-columns=NAME:.metadata.name", NoHeaders: true}, want: "a\n"},
		"BadColumns": {reason: "columns are checked before anything is done", flags: Flags{Format: "custom-columns=NAME"}, refuse: `custom-columns are TITLE:PATH, separated by commas, such as NAME:.metadata.name, not "NAME"`},
		"NoPath":     {reason: "not everything is a workspace", flags: Flags{Format: "path"}, refuse: `unknown output format "path", known are json, yaml, name, jsonpath=..., jsonpath-file=..., go-template=..., go-template-file=..., custom-columns=..., custom-columns-file=...`},
		"Unknown":    {reason: "the known formats are named", flags: Flags{Format: "xml"}, refuse: `unknown output format "xml", known are json, yaml, name, jsonpath=..., jsonpath-file=..., go-template=..., go-template-file=..., custom-columns=..., custom-columns-file=...`},
		"NoTemplate": {
			reason: "a template is not left out", flags: Flags{Format: "jsonpath"},
			refuse: `unknown output format "jsonpath", known are json, yaml, name, jsonpath=..., jsonpath-file=..., go-template=..., go-template-file=..., custom-columns=..., custom-columns-file=...`,
		},
		"BadTemplate": {reason: "a template is checked before anything is done", flags: Flags{Format: "jsonpath={.a"}, refuse: `the template "{.a": unclosed action`},
		"NotWide":     {reason: "not everything has more columns", flags: Flags{Format: "wide"}, refuse: `unknown output format "wide", known are json, yaml, name, jsonpath=..., jsonpath-file=..., go-template=..., go-template-file=..., custom-columns=..., custom-columns-file=...`},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if err := tc.flags.Validate(); err != nil {
				if err.Error() != tc.refuse {
					t.Errorf("%s: %v, want %q", tc.reason, err, tc.refuse)
				}
				return
			}
			if tc.refuse != "" {
				t.Fatalf("%s: it was not refused", tc.reason)
			}
			var out bytes.Buffer
			var err error
			if tc.list {
				err = tc.flags.Print(&out, List([]unstructured.Unstructured{object, object}))
			} else {
				err = tc.flags.Print(&out, object.DeepCopy())
			}
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, out.String()); diff != "" {
				t.Errorf("%s: (-want +got)\n%s", tc.reason, diff)
			}
		})
	}
}

// TestPrintFails shows that an error says what is wrong with the template, and not what the
// whole object is.
func TestPrintFails(t *testing.T) {
	object := &unstructured.Unstructured{Object: map[string]any{"items": []any{"secret"}}}
	flags := Flags{Format: "jsonpath={.items[5]}"}
	err := flags.Print(&bytes.Buffer{}, object)
	if want := `the template "{.items[5]}": array index out of bounds: index 5, length 1`; err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

func TestPrintPaths(t *testing.T) {
	workspace := unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "tenancy.kcp.io/v1alpha1", "kind": "Workspace",
		"metadata": map[string]any{"name": "a"}, "spec": map[string]any{"URL": "https://host/clusters/root:org:a"},
	}}
	flags := New(false, Path)
	flags.Format = Path
	if err := flags.Validate(); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := flags.Print(&out, List([]unstructured.Unstructured{workspace, workspace})); err != nil {
		t.Fatal(err)
	}
	view := struct {
		metav1.TypeMeta `json:",inline"`
		Path            string `json:"path"`
	}{TypeMeta: Meta("WorkspaceTree"), Path: "root:b"}
	if err := flags.PrintView(&out, view); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(":root:org:a\n:root:org:a\n:root:b\n", out.String()); diff != "" {
		t.Errorf("paths can be given to kubectl ws: (-want +got)\n%s", diff)
	}
	unstructured.RemoveNestedField(workspace.Object, "spec", "URL")
	if err := flags.Print(&out, &workspace); err == nil {
		t.Error("a workspace that is nowhere yet has no path to print")
	}
}

func TestPrintView(t *testing.T) {
	flags := New(false)
	flags.Format = "yaml"
	var out bytes.Buffer
	view := struct {
		metav1.TypeMeta `json:",inline"`
		Phase           string `json:"phase"`
	}{TypeMeta: Meta("Diagnosis"), Phase: "Ready"}
	if err := flags.PrintView(&out, &view); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff("apiVersion: cli.kcp.io/v1alpha1\nkind: Diagnosis\nphase: Ready\n", out.String()); diff != "" {
		t.Errorf("what commands make up has a kind, too: (-want +got)\n%s", diff)
	}
}
