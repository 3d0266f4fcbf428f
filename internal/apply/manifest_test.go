package apply

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

func names(manifests []Manifest) []string {
	var all []string
	for _, m := range manifests {
		all = append(all, m.String())
	}
	return all
}

func TestParse(t *testing.T) {
	for name, tc := range map[string]struct {
		reason, text string
		want         []string
		wantErr      string
	}{
		"Documents": {
			reason: "documents count in order, and those without content count but are none",
			text:   "# nothing\n---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n---\n# nor here\n---\napiVersion: v1\nkind: Secret\nmetadata: {name: b}\n",
			want:   []string{"f: document 2: ConfigMap a", "f: document 4: Secret b"},
		},
		"JSON": {
			reason: "a stream of JSON is what other tools write",
			text:   `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"}}` + "\n" + `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"b"}}`,
			want:   []string{"f: document 1: ConfigMap a", "f: document 2: ConfigMap b"},
		},
		"List": {
			reason: "kubectl get -o yaml writes lists",
			text:   "apiVersion: v1\nkind: List\nitems:\n- {apiVersion: v1, kind: ConfigMap, metadata: {name: a}}\n- {apiVersion: v1, kind: ConfigMap, metadata: {name: b}}\n",
			want:   []string{"f: document 1: ConfigMap a", "f: document 1: ConfigMap b"},
		},
		"Empty":        {reason: "nothing is to be applied", text: ""},
		"NoKind":       {reason: "the document is named", text: "apiVersion: v1\nmetadata: {name: a}\n", wantErr: "f: document 1: kind is missing"},
		"NoAPIVersion": {reason: "the document is named", text: "kind: ConfigMap\nmetadata: {name: a}\n", wantErr: "f: document 1: apiVersion is missing"},
		"NoName":       {reason: "the kind helps to find it", text: "---\napiVersion: v1\nkind: Pod\n", wantErr: "f: document 1: this Pod has no metadata.name"},
		"GenerateName": {reason: "the server would say something less helpful", text: "apiVersion: v1\nkind: Pod\nmetadata: {generateName: a-}\n", wantErr: "f: document 1: this Pod has no name but metadata.generateName, which cannot be applied"},
		"NoObject":     {reason: "a word is valid YAML", text: "hello\n", wantErr: "f: document 1: this is no object: it has no fields"},
		"NoYAML":       {reason: "which document, of many", text: "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n---\na: [\n", wantErr: "f: document 2: "},
		"ItemOfList":   {reason: "items are checked as well", text: "apiVersion: v1\nkind: List\nitems:\n- {kind: ConfigMap, metadata: {name: a}}\n", wantErr: "f: document 1: apiVersion is missing"},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := Parse("f", []byte(tc.text))
			if tc.wantErr != "" {
				if err == nil || !strings.HasPrefix(err.Error(), tc.wantErr) {
					t.Fatalf("%s: got error %v, want %s", tc.reason, err, tc.wantErr)
				}
				return
			}
			if err != nil {
				t.Fatalf("%s: %v", tc.reason, err)
			}
			if diff := cmp.Diff(tc.want, names(got)); diff != "" {
				t.Errorf("%s: (-want +got)\n%s", tc.reason, diff)
			}
		})
	}
}

// TestNumbers: the API machinery panics on numbers that are not of its types.
func TestNumbers(t *testing.T) {
	got, err := Parse("f", []byte("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, generation: 3}\n"))
	if err != nil {
		t.Fatal(err)
	}
	if generation := got[0].Object.DeepCopy().GetGeneration(); generation != 3 {
		t.Errorf("got %d, want 3", generation)
	}
}

func configMap(name string) []byte {
	return []byte("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: " + name + "}\n")
}

func TestReadDirectory(t *testing.T) {
	directory := t.TempDir()
	for name, content := range map[string][]byte{"b.yaml": configMap("b"), "a.yml": configMap("a"), "c.json": configMap("c"), "README.md": []byte("no manifest")} {
		if err := os.WriteFile(filepath.Join(directory, name), content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	empty := filepath.Join(directory, "empty")
	if err := os.Mkdir(empty, 0o700); err != nil {
		t.Fatal(err)
	}
	got, err := Read(directory)
	if err != nil {
		t.Fatal(err)
	}
	var files []string
	for _, m := range got {
		files = append(files, filepath.Base(m.Source))
	}
	if diff := cmp.Diff([]string{"a.yml", "b.yaml", "c.json"}, files); diff != "" {
		t.Errorf("files come by name, and others are left out (-want +got)\n%s", diff)
	}
	if _, err := Read(empty); err == nil || !strings.Contains(err.Error(), empty) {
		t.Errorf("a directory without manifests is a mistake: %v", err)
	}
	if _, err := Read(filepath.Join(directory, "missing")); err == nil {
		t.Error("what is not there cannot be read")
	}
}

func TestReadFS(t *testing.T) {
	got, err := ReadFS(fstest.MapFS{
		"config/crds/b.yaml": {Data: configMap("b")}, "config/a.yaml": {Data: configMap("a")}, "config/notes.txt": {Data: []byte("x")},
	})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"config/a.yaml: document 1: ConfigMap a", "config/crds/b.yaml: document 1: ConfigMap b"}, names(got)); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if _, err := ReadFS(fstest.MapFS{}); err == nil {
		t.Error("nothing to read is a mistake")
	}
}

func TestStandingOf(t *testing.T) {
	for name, tc := range map[string]struct {
		reason, object string
		settled        bool
		served         int
		never          bool
	}{
		"Ordinary":           {reason: "it is there once it is written", object: `{apiVersion: v1, kind: ConfigMap}`, settled: true},
		"OtherWorkspaceKind": {reason: "only our kinds are known", object: `{apiVersion: example.dev/v1, kind: Workspace}`, settled: true},
		"NewDefinition":      {reason: "nobody has looked at it", object: `{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition}`},
		"Definition": {
			reason:  "only versions that are served will be",
			object:  `{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, spec: {versions: [{name: v1, served: true}, {name: v0}]}, status: {conditions: [{type: Established, status: "True"}]}}`,
			settled: true, served: 1,
		},
		"NamesTaken": {
			reason: "waiting is in vain while another one has the name",
			object: `{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, status: {conditions: [{type: NamesAccepted, status: "False"}]}}`,
			never:  true,
		},
		"NewExport": {reason: "nobody can bind it yet", object: `{apiVersion: apis.kcp.io/v1alpha2, kind: APIExport}`},
		"Export":    {reason: "an identity is all it needs", object: `{apiVersion: apis.kcp.io/v1alpha2, kind: APIExport, status: {identityHash: abc}}`, settled: true},
		"Binding":   {reason: "it is on its way", object: `{apiVersion: apis.kcp.io/v1alpha2, kind: APIBinding, status: {phase: Binding}}`},
		"Bound": {
			reason:  "what was bound has to be served",
			object:  `{apiVersion: apis.kcp.io/v1alpha1, kind: APIBinding, status: {phase: Bound, boundResources: [{group: g, resource: r}]}}`,
			settled: true, served: 1,
		},
		"ClaimNotApplied": {
			reason: "the provider cannot do its work before",
			object: `{apiVersion: apis.kcp.io/v1alpha2, kind: APIBinding, spec: {permissionClaims: [{resource: secrets, state: Accepted}]}, status: {phase: Bound, exportPermissionClaims: [{resource: secrets}]}}`,
		},
		"ClaimOfNobody": {
			reason:  "what the export does not claim is never applied",
			object:  `{apiVersion: apis.kcp.io/v1alpha2, kind: APIBinding, spec: {permissionClaims: [{resource: secrets, state: Accepted}]}, status: {phase: Bound}}`,
			settled: true,
		},
		"NewWorkspace":   {reason: "it is on its way", object: `{apiVersion: tenancy.kcp.io/v1alpha1, kind: Workspace}`},
		"ReadyWorkspace": {reason: "it can be used", object: `{apiVersion: tenancy.kcp.io/v1alpha1, kind: Workspace, status: {phase: Ready}}`, settled: true},
	} {
		t.Run(name, func(t *testing.T) {
			manifests, err := Parse("f", []byte(strings.Replace(tc.object, "{", "{metadata: {name: x}, ", 1)))
			if err != nil {
				t.Fatal(err)
			}
			got := standingOf(manifests[0].Object)
			if got.settled != tc.settled || len(got.served) != tc.served || (got.never != nil) != tc.never {
				t.Errorf("%s: got %+v", tc.reason, got)
			}
			if !got.settled && got.never == nil && got.waiting == "" {
				t.Error("it does not say what is missing")
			}
		})
	}
}

func TestComplaints(t *testing.T) {
	object := &unstructured.Unstructured{Object: map[string]any{"status": map[string]any{"conditions": []any{
		map[string]any{"type": "Ready", "status": "False", "message": "the export is not there"},
		map[string]any{"type": "Other", "status": "True", "message": "fine"},
	}}}}
	if got := complaints(object); got != "; Ready: the export is not there" {
		t.Errorf("got %q", got)
	}
}
