package plugins

import (
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/tools/clientcmd"

	tenancyv1alpha1 "github.com/forkless/kcp/pkg/apis/tenancy/v1alpha1"

	"github.com/forkless/kcp/internal/servertest"
	"github.com/forkless/kcp/internal/servertest/address"
)

// TestRefusals sees that what can go wrong with a workspace, a server and a kubeconfig is
// one clear line, and that the kubeconfig is not touched by it. PATH is the workspace one
// is in, URL the server.
func TestRefusals(t *testing.T) {
	s := newServed(t)
	cases := map[string]struct {
		reason string
		// spoil makes something go wrong, in the workspace path with the kubeconfig file.
		spoil func(t *testing.T, path, file string)
		lines map[string]string
	}{
		"Forbidden": {
			reason: "what one may not see is denied by its name, unless one may not know of it",
			spoil: func(t *testing.T, _, file string) {
				editFile(t, file, "current-context: here", "current-context: user")
			},
			lines: map[string]string{
				"ws child":                      "error: access to workspace \"PATH:child\" denied\nhint: kubectl ws why :PATH:child\n",
				"ws :root:nowhere":              "error: workspace \"root:nowhere\" not found\n",
				"ws create other":               "error: access to workspace \"PATH\" denied\nhint: kubectl ws why :PATH\n",
				"kcp bind apiexport PATH:x":     "error: access to workspace \"PATH\" denied\nhint: kubectl ws why :PATH\n",
				"kcp exports":                   "error: access to workspace \"PATH\" denied\nhint: kubectl ws why :PATH\n",
				"kcp claims get apibinding":     "error: access to workspace \"PATH\" denied\nhint: kubectl ws why :PATH\n",
				"kcp unbind widgets --yes":      "error: access to workspace \"PATH\" denied\nhint: kubectl ws why :PATH\n",
				"kcp crd pull":                  "error: access to workspace \"PATH\" denied\nhint: kubectl ws why :PATH\n",
				"ws tree":                       "error: access to workspace \"PATH\" denied\nhint: kubectl ws why :PATH\n",
				"ws use child --context=here":   "",
				"ws use child --context=user":   "error: access to workspace \"PATH:child\" denied\nhint: kubectl ws why :PATH:child\n",
				"ws use child --as=somebody":    "error: access to workspace \"PATH:child\" denied\nhint: kubectl ws why :PATH:child\n",
				"ws create a --context=missing": "error: context \"missing\" does not exist in the kubeconfig\n",
			},
		},
		"Vanished": {
			reason: "a workspace that is gone is not found, and there is a way out",
			spoil:  func(t *testing.T, path, file string) { editFile(t, file, "/clusters/"+path, "/clusters/"+path+":chld") },
			lines: map[string]string{
				"ws create other":           "error: workspace \"PATH:chld\" not found\nhint: -p creates the workspaces above that are missing\nhint: did you mean PATH:child?\n",
				"kcp exports":               "error: workspace \"PATH:chld\" not found\nhint: did you mean PATH:child?\n",
				"kcp claims get apibinding": "error: workspace \"PATH:chld\" not found\nhint: did you mean PATH:child?\n",
				"ws ./deeper":               "error: workspace \"PATH:chld:deeper\" not found\nhint: did you mean PATH:child:deeper?\n",
				"ws tree":                   "error: workspace \"PATH:chld\" not found\nhint: did you mean PATH:child?\n",
				"kcp exports -R ..":         "",
			},
		},
		"Terminating": {
			reason: "a workspace that is being deleted is not waited for",
			spoil:  func(t *testing.T, path, _ string) { s.holdDeletion(t, path, "child") },
			lines: map[string]string{
				"ws create child --ignore-existing": "error: workspace \"child\" is being deleted\n",
			},
		},
		"Dead": {
			reason: "the server and the reason are named",
			spoil:  func(t *testing.T, _, file string) { editFile(t, file, s.URL(), "https://"+address.Free(t)) },
			lines: map[string]string{
				"ws child":                  "error: cannot reach the server https://*: connection refused\n",
				"ws tree":                   "error: cannot reach the server https://*: connection refused\n",
				"ws create other":           "error: cannot reach the server https://*: connection refused\n",
				"kcp exports":               "error: cannot reach the server https://*: connection refused\n",
				"kcp bind apiexport PATH:x": "error: cannot reach the server https://*: connection refused\n",
				"ws .":                      "",
			},
		},
		"Untrusted": {
			reason: "so is a certificate that nobody vouches for",
			spoil: func(t *testing.T, _, file string) {
				other := httptest.NewTLSServer(nil)
				t.Cleanup(other.Close)
				editFile(t, file, s.URL(), other.URL)
			},
			lines: map[string]string{"ws child": "error: cannot reach the server https://*: tls: *certificate*\n"},
		},
		"Expired": {
			reason: "credentials that hold no longer are called that",
			spoil:  func(t *testing.T, _, file string) { replaceTokens(t, file) },
			lines: map[string]string{
				"ws child":        "error: Unauthorized\nhint: the server does not accept the credentials in the kubeconfig; they may have expired\n",
				"ws tree":         "error: Unauthorized\nhint: the server does not accept the credentials in the kubeconfig; they may have expired\n",
				"ws create other": "error: Unauthorized\nhint: the server does not accept the credentials in the kubeconfig; they may have expired\n",
				"kcp exports":     "error: Unauthorized\nhint: the server does not accept the credentials in the kubeconfig; they may have expired\n",
			},
		},
		"Locked": {
			reason: "the file that is locked is named",
			spoil: func(t *testing.T, _, file string) {
				if err := os.WriteFile(file+".lock", nil, 0o600); err != nil {
					t.Fatal(err)
				}
			},
			lines: map[string]string{
				"ws child": "error: the kubeconfig is locked: FILE.lock still exists after 5s\nhint: if no other kubectl is running, something that has crashed left it behind: rm FILE.lock\n",
			},
		},
		"Broken": {
			reason: "a kubeconfig that cannot be read is not replaced",
			spoil: func(t *testing.T, _, file string) {
				if err := os.WriteFile(file, []byte("{{"), 0o600); err != nil {
					t.Fatal(err)
				}
			},
			lines: map[string]string{"ws .": "error: *FILE*\n", "ws child": "error: *FILE*\n"},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			on := surfaces[0]
			on.use(t)
			path := s.workspace(t)
			for line, want := range tc.lines {
				file := s.login(t, s.URL(), path, nil)
				tc.spoil(t, path, file)
				before := readFile(t, file)
				replace := strings.NewReplacer("PATH", path, "FILE", file)
				r := s.run(t, on, replace.Replace(line))
				if want == "" {
					if r.code != 0 {
						t.Errorf("%s: $ kubectl %s\nends with %d:\n%s", tc.reason, line, r.code, r.all())
					}
					continue
				}
				if r.code != 1 || !like(replace.Replace(want), r.stderr) {
					t.Errorf("%s: $ kubectl %s\nends with %d (-want +got):\n%s", tc.reason, line, r.code, cmp.Diff(replace.Replace(want), r.stderr))
				}
				if d := cmp.Diff(before, readFile(t, file)); d != "" {
					t.Errorf("%s: $ kubectl %s\nhas changed the kubeconfig:\n%s", tc.reason, line, d)
				}
			}
		})
	}
}

// TestMounted sees that a workspace that is mounted from somewhere else, and not there
// yet, is told apart from one that is not there.
func TestMounted(t *testing.T) {
	s := newServed(t)
	on := surfaces[0]
	on.use(t)
	path := s.workspace(t)
	client, err := dynamic.NewForConfig(s.In(t, "base", path))
	if err != nil {
		t.Fatal(err)
	}
	patch := []byte(`{"spec":{"mount":{"ref":{"apiVersion":"example.dev/v1","kind":"Widget","name":"a","namespace":"default"}}}}`)
	mounted := []byte(`{"apiVersion":"tenancy.kcp.io/v1alpha1","kind":"Workspace","metadata":{"name":"mounted"},` + string(patch[1:]))
	_, err = client.Resource(tenancyv1alpha1.GroupVersion.WithResource("workspaces")).Patch(t.Context(), "mounted", types.ApplyPatchType, mounted, metav1.PatchOptions{FieldManager: "test"})
	if err != nil {
		t.Fatal(err)
	}
	servertest.Eventually(t, "the mount is not ready", func() (bool, any) {
		r := s.run(t, on, "ws mounted --request-timeout=10s")
		return r.code == 1 && strings.HasPrefix(r.stderr, "error: workspace \""+path+":mounted\" is not available\n"), r.all()
	})
	if r := s.run(t, on, "ws tree"); r.code != 0 || !strings.Contains(r.stdout, "mounted [m]\n") {
		t.Errorf("the tree marks it:\n%s", r.all())
	}
}

// holdDeletion deletes a workspace such that it stays.
func (s *served) holdDeletion(t *testing.T, path, name string) {
	t.Helper()
	client, err := dynamic.NewForConfig(s.In(t, "base", path))
	if err != nil {
		t.Fatal(err)
	}
	workspaces := client.Resource(tenancyv1alpha1.GroupVersion.WithResource("workspaces"))
	finalizers := func(list string) {
		_, err := workspaces.Patch(t.Context(), name, types.MergePatchType, []byte(`{"metadata":{"finalizers":`+list+`}}`), metav1.PatchOptions{})
		if err != nil {
			t.Fatal(err)
		}
	}
	finalizers(`["example.dev/hold"]`)
	if err := workspaces.Delete(t.Context(), name, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
}

// like says whether s is want, in which a * stands for any text.
func like(want, s string) bool {
	parts := strings.Split(want, "*")
	if !strings.HasPrefix(s, parts[0]) {
		return false
	}
	s = s[len(parts[0]):]
	for i, part := range parts[1:] {
		if i == len(parts)-2 {
			return strings.HasSuffix(s, part)
		}
		at := strings.Index(s, part)
		if at < 0 {
			return false
		}
		s = s[at+len(part):]
	}
	return s == ""
}

func readFile(t *testing.T, file string) string {
	t.Helper()
	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}

// editFile replaces one text by another everywhere in file.
func editFile(t *testing.T, file, from, to string) {
	t.Helper()
	before := readFile(t, file)
	after := strings.ReplaceAll(before, from, to)
	if after == before {
		t.Fatalf("%s is not in\n%s", from, before)
	}
	if err := os.WriteFile(file, []byte(after), 0o600); err != nil {
		t.Fatal(err)
	}
}

// replaceTokens makes the credentials of a kubeconfig worthless.
func replaceTokens(t *testing.T, file string) {
	t.Helper()
	config, err := clientcmd.LoadFromFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for _, info := range config.AuthInfos {
		info.Token = "expired"
	}
	if err := clientcmd.WriteToFile(*config, file); err != nil {
		t.Fatal(err)
	}
}
