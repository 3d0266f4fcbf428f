package plugins

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestFormats holds what the commands print, without any of the flags that the original
// does not have, against what scripts expect of the original: byte for byte. WS is the
// path of the workspace, NAME its name.
func TestFormats(t *testing.T) {
	s := newServed(t)
	on := surfaces[0]
	on.use(t)
	path := s.workspace(t)
	s.login(t, s.URL(), path, nil)
	replace := strings.NewReplacer("WS", path, "NAME", strings.TrimPrefix(path, "root:"))
	for _, step := range []struct {
		reason, line, stdout string
	}{
		{"where one is", "ws .", "Current workspace is 'WS'.\n"},
		{"the same by its name", "ws current", "Current workspace is 'WS'.\n"},
		{"for programs", "ws . --short", "WS\n"},
		{"a workspace is made", "create workspace team", "" +
			"Workspace \"team\" (type root:universal) created. Waiting for it to be ready...\n" +
			"Workspace \"team\" (type root:universal) is ready to use.\n"},
		{"it is there already", "create workspace team --ignore-existing", "" +
			"Workspace \"team\" (type root:universal) already exists.\n" +
			"Workspace \"team\" (type root:universal) is ready to use.\n"},
		{"and entered", "ws create app -w team --enter --type root:universal", "" +
			"Workspace \"app\" (type root:universal) created. Waiting for it to be ready...\n" +
			"Workspace \"app\" (type root:universal) is ready to use.\n" +
			"Current workspace is 'WS:team:app' (type root:universal).\n"},
		{"back", "ws -", "Current workspace is 'WS'.\n"},
		{"there again", "ws team:app", "Current workspace is 'WS:team:app' (type root:universal).\n"},
		{"up", "ws ..", "Current workspace is 'WS:team' (type root:universal).\n"},
		{"to the top", "ws :", "Current workspace is 'root'.\n"},
		{"to a path", "ws :WS --short", "WS\n"},
		{"the root has its own type", "ws :root", "Current workspace is 'root' (type root).\n"},
		{"and from there", "ws NAME", "Current workspace is 'WS' (type root:organization).\n"},
		{"a context", "ws create-context kept", "Created context \"kept\" and switched to it.\n"},
		{"again", "ws create-context kept --overwrite", "Updated context \"kept\".\n"},
		{"a context for a new workspace", "create workspace other --create-context other", "" +
			"Workspace \"other\" (type root:universal) created. Waiting for it to be ready...\n" +
			"Workspace \"other\" (type root:universal) is ready to use.\n" +
			"Created context \"other\".\n"},
		{"the tree", "ws tree", "" +
			".\n" +
			"└── NAME\n" +
			"    ├── child\n" +
			"    ├── other\n" +
			"    └── team\n" +
			"        └── app\n" +
			"\n"},
		{"with paths", "ws tree --full -w team", "" +
			".\n" +
			"└── WS:team\n" +
			"    └── WS:team:app\n" +
			"\n"},
		{"with phases", "ws tree --wide -w team", "" +
			".\n" +
			"└── team     ws=-      lc=Ready\n" +
			"    └── app  ws=Ready  lc=Ready\n"},
		{"an export is bound", "kcp bind apiexport WS:widgets -w team", "" +
			"apibinding widgets created. Waiting to successfully bind ...\n" +
			"widgets created and bound.\n"},
		{"claims", "kcp claims accept widgets --resource configmaps -w team", "claim \"configmaps\" on APIBinding \"widgets\" is accepted\n"},
		{"claims", "kcp claims get apibinding widgets -w team", "" +
			"APIBINDING   GROUP-RESOURCE   VERBS   STATUS\n" +
			"widgets      configmaps       get     Accepted\n"},
		{"claims", "kcp claims reject widgets --resource configmaps -w team", "claim \"configmaps\" on APIBinding \"widgets\" is rejected\n"},
	} {
		// A workspace may be ready before anybody could be told to wait.
		line := replace.Replace(step.line)
		r := s.run(t, on, line)
		if r.code != 0 {
			t.Errorf("$ kubectl %s\nends with %d:\n%s", line, r.code, r.all())
		}
		want := replace.Replace(step.stdout)
		if r.stdout != want && r.stdout == withoutWaiting(want) {
			continue
		}
		if d := cmp.Diff(want, r.stdout); d != "" {
			t.Errorf("%s: $ kubectl %s\n(-want +got)\n%s", step.reason, line, d)
		}
	}
}

// withoutWaiting returns what is printed about a workspace that was ready at once.
func withoutWaiting(want string) string {
	first, rest, _ := strings.Cut(want, "\n")
	if strings.HasSuffix(first, "Waiting for it to be ready...") {
		return rest
	}
	return want
}

// TestSnapshotFormat is the one of a command without a server.
func TestSnapshotFormat(t *testing.T) {
	on := surfaces[0]
	on.use(t)
	useKubeconfig(t, "https://nowhere.invalid")
	s := &served{}
	const want = `apiVersion: apis.kcp.io/v1alpha1
kind: APIResourceSchema
metadata:
  name: today.widgets.example.dev
spec:
  group: example.dev
  names:
    kind: Widget
    listKind: WidgetList
    plural: widgets
    singular: widget
  scope: Namespaced
  versions:
  - name: v1
    schema:
      properties:
        spec:
          properties:
            size:
              type: integer
          type: object
      type: object
    served: true
    storage: true
---
`
	if d := cmp.Diff(want, s.run(t, on, "kcp crd snapshot -f testdata/widgets.yaml --prefix today").stdout); d != "" {
		t.Errorf("(-want +got)\n%s", d)
	}
}
