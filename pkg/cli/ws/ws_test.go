package ws

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/clientcmd"

	corev1alpha1 "github.com/forkless/kcp/pkg/apis/core/v1alpha1"
	tenancyv1alpha1 "github.com/forkless/kcp/pkg/apis/tenancy/v1alpha1"
	"github.com/forkless/kcp/pkg/cli/run"
)

// user is somebody with a kubeconfig and the plugins.
type user struct {
	t      *testing.T
	server *server
}

// kubeconfig has what "kcp start" writes, and a foreign context.
const kubeconfig = `apiVersion: v1
kind: Config
current-context: root
clusters:
- {name: root, cluster: {server: "SERVER/clusters/root"}}
- {name: base, cluster: {server: "SERVER"}}
- {name: kind, cluster: {server: "https://kind.example.com:6443"}}
contexts:
- {name: root, context: {cluster: root, user: admin}}
- {name: base, context: {cluster: base, user: admin}}
- {name: kind, context: {cluster: kind, user: kind, namespace: team}}
users:
- {name: admin, user: {token: admin-token}}
- {name: kind, user: {token: kind-token}}
`

func newUser(t *testing.T, s *server) *user {
	t.Helper()
	u := &user{t: t, server: s}
	file := filepath.Join(t.TempDir(), "config")
	if err := os.WriteFile(file, []byte(u.expand(kubeconfig)), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("KUBECONFIG", file)
	t.Setenv("HOME", "/home/me")
	return u
}

// expand puts the server's URL into s.
func (u *user) expand(s string) string { return strings.ReplaceAll(s, "SERVER", u.server.URL) }

// step is a call of a plugin with everything that must come of it.
type step struct {
	// line is the command without "kubectl".
	line           string
	stdout, stderr string
	fails          bool
}

func (u *user) run(ctx context.Context, s step) {
	u.t.Helper()
	build, line := NewPlugin, s.line
	if rest, ok := strings.CutPrefix(line, "create workspace"); ok {
		build, line = NewCreatePlugin, rest
	} else {
		line = strings.TrimPrefix(line, "ws")
	}
	// A command line has its arguments between spaces; "''" is the empty one.
	args := strings.Fields(line)
	for i := range args {
		args[i] = u.expand(strings.ReplaceAll(args[i], "''", ""))
	}
	u.check(ctx, s, build, args)
}

func (u *user) check(ctx context.Context, s step, build func(run.Streams) *cobra.Command, args []string) {
	u.t.Helper()
	var out, errOut bytes.Buffer
	code := run.Execute(ctx, run.Streams{In: strings.NewReader(""), Out: &out, ErrOut: &errOut}, build, append([]string{}, args...))
	if diff := cmp.Diff(u.expand(s.stdout), out.String()); diff != "" {
		u.t.Errorf("$ kubectl %s\nstdout (-want +got):\n%s", s.line, diff)
	}
	if diff := cmp.Diff(u.expand(s.stderr), errOut.String()); diff != "" {
		u.t.Errorf("$ kubectl %s\nstderr (-want +got):\n%s", s.line, diff)
	}
	if want := map[bool]int{true: 1}[s.fails]; code != want {
		u.t.Errorf("$ kubectl %s\nexit code %d, want %d", s.line, code, want)
	}
}

// acme is root:acme with a few workspaces below it.
func acme(s *server) {
	s.add("root", "acme", "organization")
	s.add("root:acme", "payments", "team")
	s.add("root:acme", "platform", "team")
	s.add("root:acme:payments", "eu", "universal")
}

func TestCommands(t *testing.T) {
	cases := map[string]struct {
		reason string
		server func(*server)
		steps  []step
	}{
		"Switching": {
			reason: "the ways from one workspace to another, and what is said about them",
			server: acme,
			steps: []step{
				{line: "ws .", stdout: "Current workspace is 'root'.\n"},
				{line: "ws acme", stdout: "Current workspace is 'root:acme' (type root:organization).\n"},
				{line: "ws payments:eu", stdout: "Current workspace is 'root:acme:payments:eu' (type root:universal).\n"},
				{line: "ws ..", stdout: "Current workspace is 'root:acme:payments' (type root:team).\n"},
				{line: "ws -", stdout: "Current workspace is 'root:acme:payments:eu'.\n"},
				{line: "ws -", stdout: "Current workspace is 'root:acme:payments'.\n"},
				{line: "ws ../platform", stdout: "Current workspace is 'root:acme:platform' (type root:team).\n"},
				{line: "ws :", stdout: "Current workspace is 'root'.\n"},
				{line: "ws use :root:acme", stdout: "Current workspace is 'root:acme' (type root:organization).\n"},
				{line: "ws cd /root/acme/payments", stdout: "Current workspace is 'root:acme:payments' (type root:team).\n"},
				{line: "ws :root", stdout: "Current workspace is 'root' (type root).\n"},
				{line: "ws current", stdout: "Current workspace is 'root'.\n"},
				{line: "ws :system:admin", stdout: "Current workspace is 'system:admin'.\n"},
				{line: "ws ..", stdout: "Current workspace is 'system:admin'.\n"},
				{line: "ws :", stdout: "Current workspace is 'system:admin'.\n"},
			},
		},
		"Short": {
			reason: "programs want the bare path",
			server: acme,
			steps: []step{
				{line: "ws acme --short", stdout: "root:acme\n"},
				{line: "ws . --short", stdout: "root:acme\n"},
				{line: "ws current --short", stdout: "root:acme\n"},
				{line: "ws use payments --short", stdout: "root:acme:payments\n"},
				{line: "ws root:acme --short", stdout: "root:acme\n"},
				{line: "ws - --short", stdout: "root:acme:payments\n"},
			},
		},
		"Legacy": {
			reason: "root without a colon is absolute, and said to be so",
			server: acme,
			steps: []step{
				{line: "ws acme", stdout: "Current workspace is 'root:acme' (type root:organization).\n"},
				{line: "ws root:acme:payments", stdout: "Current workspace is 'root:acme:payments' (type root:team).\n", stderr: "note: root:acme:payments is read as the absolute path :root:acme:payments\n"},
				{line: "ws root", stdout: "Current workspace is 'root' (type root).\n", stderr: "note: root is read as the absolute path :root\n"},
			},
		},
		"Refused": {
			reason: "what cannot be entered is not entered, and the kubeconfig stays",
			server: func(s *server) {
				acme(s)
				s.forbidden["root:acme:platform"] = true
				s.forbidden["root:secret"] = true
				s.inactive["root:acme:payments"] = true
				s.forbidden["2kb1y3r0q9x8w7v6"] = true
			},
			steps: []step{
				{line: "ws :root:acme:paymnts", stderr: "error: workspace \"root:acme:paymnts\" not found\nhint: did you mean root:acme:payments?\n", fails: true},
				{line: "ws nowhere:at:all", stderr: "error: workspace \"root:nowhere:at:all\" not found\n", fails: true},
				{line: "ws acme:platform", stderr: "error: access to workspace \"root:acme:platform\" denied\nhint: kubectl ws why :root:acme:platform\n", fails: true},
				{line: "ws tre", stderr: "error: workspace \"root:tre\" not found\nhint: did you mean kubectl ws tree?\n", fails: true},
				{line: "ws secret", stderr: "error: workspace \"root:secret\" not found\n", fails: true},
				{line: "ws acme:payments", stderr: "error: workspace \"root:acme:payments\" is offline\nhint: kubectl annotate logicalcluster cluster core.kcp.io/inactive- --server=SERVER/clusters/root:acme:payments brings it back\n", fails: true},
				{line: "ws :2kb1y3r0q9x8w7v6", stderr: "error: access to workspace \"2kb1y3r0q9x8w7v6\" denied\nhint: kubectl ws why :2kb1y3r0q9x8w7v6\n", fails: true},
				{line: "ws :2kb1y3r0q9x8w7v7", stderr: "error: workspace \"2kb1y3r0q9x8w7v7\" not found\n", fails: true},
				{line: "ws Acme", stderr: "error: invalid workspace path: Acme\n", fails: true},
				{line: "ws ..", stderr: "error: invalid workspace path: ..: nothing is above root\n", fails: true},
				{line: "ws -", stderr: "error: there is no previous workspace in the kubeconfig\n", fails: true},
				{line: "ws .", stdout: "Current workspace is 'root'.\n"},
			},
		},
		"Home": {
			reason: "home is where the server says it is",
			server: func(s *server) {
				s.clusters["v1u4alow0iv9"] = true
				s.home = "/clusters/v1u4alow0iv9"
				s.add("v1u4alow0iv9", "dev", "universal")
			},
			steps: []step{
				{line: "ws ~", stdout: "Current workspace is 'v1u4alow0iv9'.\n"},
				{line: "ws ..", stderr: "error: invalid workspace path: ..: what is above v1u4alow0iv9 is not known\n", fails: true},
				{line: "ws :", stdout: "Current workspace is 'v1u4alow0iv9'.\n"},
				{line: "ws /home/me/dev", stdout: "Current workspace is 'v1u4alow0iv9:dev' (type root:universal).\n"},
				{line: "ws ~:dev", stdout: "Current workspace is 'v1u4alow0iv9:dev' (type root:universal).\n"},
				{line: "ws ~:none", stderr: "error: workspace \"v1u4alow0iv9:none\" not found\n", fails: true},
				{line: "ws", stdout: "Current workspace is 'v1u4alow0iv9'.\n", stderr: "note: without an argument this goes to your home workspace, as cd does; \"kubectl ws .\" says where you are\n"},
				{line: "ws --short", stdout: "v1u4alow0iv9\n"},
			},
		},
		"NoHome": {
			reason: "a server without home workspaces is no riddle",
			steps: []step{
				{line: "ws ~", stderr: "error: this server has no home workspaces\nhint: kubectl ws :root goes to the top of the tree, kubectl ws . shows where you are\n", fails: true},
				{line: "ws", stderr: "error: this server has no home workspaces\nhint: kubectl ws :root goes to the top of the tree, kubectl ws . shows where you are\n", fails: true},
				{line: "ws ~:A", stderr: "error: invalid workspace path: ~:A\n", fails: true},
			},
		},
		"Misuse": {
			reason: "a wrong number of arguments is an error that shows the right one",
			steps: []step{
				{line: "ws a b", stderr: "error: accepts at most 1 arg(s), received 2\nusage: kubectl ws [PATH] [flags]\n", fails: true},
				{line: "ws use", stderr: "error: accepts 1 arg(s), received 0\nusage: kubectl ws use PATH [flags]\n", fails: true},
				{line: "ws current x", stderr: "error: accepts 0 arg(s), received 1\nusage: kubectl ws current [flags]\n", fails: true},
				{line: "ws tree x y", stderr: "error: accepts at most 1 arg(s), received 2\nusage: kubectl ws tree [PATH] [flags]\n", fails: true},
				{line: "ws create", stderr: "error: accepts 1 arg(s), received 0\nusage: kubectl ws create NAME [flags]\n", fails: true},
				{line: "ws create-context a b", stderr: "error: accepts at most 1 arg(s), received 2\nusage: kubectl ws create-context [NAME] [flags]\n", fails: true},
				{line: "create workspace", stderr: "error: accepts 1 arg(s), received 0\nusage: kubectl create workspace NAME [flags]\n", fails: true},
				{line: "ws --nonsense", stderr: "error: unknown flag: --nonsense\nusage: kubectl ws [PATH] [flags]\n", fails: true},
				{line: "ws tree -x", stderr: "error: unknown shorthand flag: 'x' in -x\nusage: kubectl ws tree [PATH] [flags]\n", fails: true},
				{line: "ws tree -i", stderr: "error: the interactive tree needs a terminal\nhint: kubectl ws tree\n", fails: true},
				{line: "ws tree -i a", stderr: "error: the interactive tree takes no argument; the cursor begins at the current workspace\nusage: kubectl ws tree [PATH] [flags]\n", fails: true},
			},
		},
		"ForeignServer": {
			reason: "a server that is no workspace can be left, not walked; it is not written to",
			server: acme,
			steps: []step{
				{line: "ws . --context kind", stdout: "Current workspace is the URL \"https://kind.example.com:6443\".\n"},
				{line: "ws . --context kind --short"},
				{line: "ws tree --context base", stdout: "Current workspace is the URL \"SERVER\".\n"},
				{line: "ws acme --context base", stderr: "error: the current server SERVER is no workspace, so \"acme\" leads nowhere from here\nhint: an absolute path begins with a colon, such as :root\n", fails: true},
				{line: "ws :root:acme --context base", stdout: "Current workspace is 'root:acme' (type root:organization).\n"},
				{line: "ws -", stdout: "Current workspace is the URL \"SERVER\".\n"},
				{line: "ws - --short", stdout: "root:acme\n"},
				{line: "ws :root:acme --server SERVER/clusters/root --context kind", stderr: "error: context \"kind\" belongs to the server https://kind.example.com:6443, its credentials are not taken to SERVER\n", fails: true},
				{line: "ws .", stdout: "Current workspace is 'root:acme'.\n"},
			},
		},
		"CreateContext": {
			reason: "a workspace can be kept under a name",
			server: acme,
			steps: []step{
				{line: "ws acme", stdout: "Current workspace is 'root:acme' (type root:organization).\n"},
				{line: "ws create-context", stdout: "Created context \"root:acme\" and switched to it.\n"},
				{line: "ws create-context", stderr: "error: context \"root:acme\" already exists in the kubeconfig; use --overwrite to replace it\n", fails: true},
				{line: "ws create-context --overwrite", stdout: "Updated context \"root:acme\".\n"},
				{line: "ws create-context mine --context kind", stdout: "Created context \"mine\" and switched to it.\n"},
				{line: "ws create-context root:acme --overwrite", stdout: "Updated context \"root:acme\" and switched to it.\n"},
				{line: "ws . --context mine", stdout: "Current workspace is 'root:acme'.\n"},
			},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Log(tc.reason)
			s := newServer(t)
			if tc.server != nil {
				tc.server(s)
			}
			u := newUser(t, s)
			for _, step := range tc.steps {
				u.run(t.Context(), step)
			}
		})
	}
}

func TestCreate(t *testing.T) {
	cases := map[string]struct {
		reason string
		looks  int
		server func(*server)
		steps  []step
		// want checks the workspaces afterwards.
		want func(t *testing.T, s *server)
	}{
		"Waits": {
			reason: "a workspace takes its time",
			looks:  3,
			steps: []step{{
				line:   "create workspace new",
				stdout: "Workspace \"new\" (type root:universal) created. Waiting for it to be ready...\nWorkspace \"new\" (type root:universal) is ready to use.\n",
			}},
		},
		"ReadyAtOnce": {
			reason: "nothing is said about waiting that has not happened",
			steps:  []step{{line: "ws create new --type organization", stdout: "Workspace \"new\" (type root:organization) is ready to use.\n"}},
		},
		"Enter": {
			reason: "and go there",
			looks:  3,
			server: acme,
			steps: []step{
				{line: "ws acme:payments", stdout: "Current workspace is 'root:acme:payments' (type root:team).\n"},
				{
					line: "create workspace us --type root:acme:Team --enter",
					stdout: "Workspace \"us\" (type root:acme:team) created. Waiting for it to be ready...\n" +
						"Workspace \"us\" (type root:acme:team) is ready to use.\n" +
						"Current workspace is 'root:acme:payments:us' (type root:acme:team).\n",
				},
				{line: "ws -", stdout: "Current workspace is 'root:acme:payments'.\n"},
			},
		},
		"Parent": {
			reason: "-w names the parent, in every form a path has",
			server: acme,
			steps: []step{
				{line: "ws create a -w acme:payments --type :root:team", stdout: "Workspace \"a\" (type root:team) is ready to use.\n"},
				{line: "ws create b -w root:acme", stdout: "Workspace \"b\" (type root:universal) is ready to use.\n"},
				{line: "ws .", stdout: "Current workspace is 'root'.\n"},
			},
			want: func(t *testing.T, s *server) {
				if s.find("root:acme:payments", "a") == nil || s.find("root:acme", "b") == nil {
					t.Error("the workspaces are not where they should be")
				}
			},
		},
		"Location": {
			reason: "the selector goes to the server",
			steps:  []step{{line: "ws create new --location-selector name=eu-1", stdout: "Workspace \"new\" (type root:universal) is ready to use.\n"}},
			want: func(t *testing.T, s *server) {
				want := &tenancyv1alpha1.WorkspaceLocation{Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"name": "eu-1"}}}
				if diff := cmp.Diff(want, s.find("root", "new").Spec.Location); diff != "" {
					t.Error(diff)
				}
			},
		},
		"BadFlags": {
			reason: "what cannot be meant is not sent",
			steps: []step{
				{line: "ws create new --type root:", stderr: "error: --type: \"root:\" is no workspace type: it has to look like team or root:acme:team\n", fails: true},
				{line: "ws create new --type ::team", stderr: "error: --type: \"::team\" is no workspace type: it has to look like team or root:acme:team\n", fails: true},
				{line: "ws create new --ignore-existing --type team", stderr: "error: --ignore-existing needs an absolute --type, one that begins with root, not \"team\"\n", fails: true},
			},
			want: func(t *testing.T, s *server) {
				if requests := s.seen(); len(requests) > 0 {
					t.Errorf("requests were made: %v", requests)
				}
			},
		},
		"Existing": {
			reason: "what is there already can be taken, if it is what was asked for",
			server: acme,
			steps: []step{
				{line: "ws create acme", stderr: "error: workspaces.tenancy.kcp.io \"acme\" already exists\nhint: --ignore-existing is content with the workspace that is there\n", fails: true},
				{line: "ws create acme --ignore-existing", stdout: "Workspace \"acme\" (type root:organization) already exists.\nWorkspace \"acme\" (type root:organization) is ready to use.\n"},
				{line: "ws create acme --ignore-existing --type :root:organization", stdout: "Workspace \"acme\" (type root:organization) already exists.\nWorkspace \"acme\" (type root:organization) is ready to use.\n"},
				{line: "ws create acme --ignore-existing --type root:team", stderr: "error: workspace \"acme\" already exists with type root:organization, not root:team\n", fails: true},
			},
		},
		"ExistingNotReady": {
			reason: "what is there already may be on its way",
			looks:  4,
			server: func(s *server) {
				s.add("root", "slow", "universal").Status.Phase = corev1alpha1.PhaseInitializing
			},
			steps: []step{{
				line:   "ws create slow --ignore-existing",
				stdout: "Workspace \"slow\" (type root:universal) already exists. Waiting for it to be ready...\nWorkspace \"slow\" (type root:universal) is ready to use.\n",
			}},
		},
		"Context": {
			reason: "a context for the new workspace, without going there",
			steps: []step{
				{line: "ws create a --create-context ctx", stdout: "Workspace \"a\" (type root:universal) is ready to use.\nCreated context \"ctx\".\n"},
				{line: "ws .", stdout: "Current workspace is 'root'.\n"},
				{line: "ws . --context ctx", stdout: "Current workspace is 'root:a'.\n"},
				{line: "ws create b --create-context ctx", stdout: "Workspace \"b\" (type root:universal) is ready to use.\n", stderr: "error: failed to create context: context \"ctx\" already exists in the kubeconfig\n", fails: true},
				{line: "ws create b --create-context ctx --ignore-existing --enter", stdout: "Workspace \"b\" (type root:universal) already exists.\nWorkspace \"b\" (type root:universal) is ready to use.\nUpdated context \"ctx\" and switched to it.\n"},
				{line: "ws .", stdout: "Current workspace is 'root:b'.\n"},
			},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Log(tc.reason)
			s := newServer(t)
			s.looks = tc.looks
			if tc.server != nil {
				tc.server(s)
			}
			u := newUser(t, s)
			for _, step := range tc.steps {
				u.run(t.Context(), step)
			}
			if tc.want != nil {
				tc.want(t, s)
			}
		})
	}
}

func TestTree(t *testing.T) {
	s := newServer(t)
	acme(s)
	s.add("root:acme:payments", "us", "universal").Status.Phase = corev1alpha1.PhaseInitializing
	s.add("root:acme", "lab", "universal").Spec.Mount = &tenancyv1alpha1.Mount{}
	s.add("root:acme", "secret", "team")
	s.forbidden["root:acme:secret"] = true
	s.delete(s.add("root:acme", "dying", "team"))
	s.add("root:acme", "new", "team").Spec.URL = ""
	s.add("root:acme", "odd", "team").Spec.URL = "https://elsewhere.example.com"
	s.add("root:acme", "loop", "team").Spec.URL = s.URL + "/clusters/root"
	s.add("root", "gone", "universal")
	delete(s.clusters, "root:gone")
	u := newUser(t, s)

	u.run(t.Context(), step{line: "ws tree", stdout: `.
└── root
    ├── acme
    │   ├── payments
    │   │   ├── eu
    │   │   └── us
    │   ├── platform
    │   ├── lab [m]
    │   ├── secret (no access)
    │   ├── new
    │   ├── odd (error: the URL "https://elsewhere.example.com" is no workspace URL)
    │   └── loop (error: the URL "SERVER/clusters/root" leads back up)
    └── gone

`})
	u.run(t.Context(), step{line: "ws tree --full -w :root:acme:payments", stdout: `.
└── root:acme:payments
    ├── root:acme:payments:eu
    └── root:acme:payments:us

`})
	s.workspaces["root:acme"] = slices.DeleteFunc(s.workspaces["root:acme"], func(ws *tenancyv1alpha1.Workspace) bool {
		return ws.Name == "odd" || ws.Name == "loop"
	})
	u.run(t.Context(), step{line: "ws tree --wide -w acme", stdout: `.
└── acme                    ws=-             lc=Ready
    ├── payments            ws=Ready         lc=Ready
    │   ├── eu              ws=Ready         lc=Ready
    │   └── us              ws=Initializing  lc=Ready
    ├── platform            ws=Ready         lc=Ready
    ├── lab [m]             ws=Ready
    ├── secret (no access)  ws=Ready         lc=Unknown
    └── new                 ws=Ready         lc=Unknown
`})
	u.run(t.Context(), step{
		line:   "ws tree -w :root:acme:secret",
		stderr: "error: forbidden: workspace access not permitted\n", fails: true,
	})
}

func TestNoNetwork(t *testing.T) {
	s := newServer(t)
	u := newUser(t, s)
	for _, line := range []string{"ws .", "ws current", "ws . --short"} {
		u.run(t.Context(), step{line: line, stdout: map[bool]string{true: "root\n", false: "Current workspace is 'root'.\n"}[strings.HasSuffix(line, "--short")]})
	}
	u.run(t.Context(), step{line: "ws create-context here", stdout: "Created context \"here\" and switched to it.\n"})
	if requests := s.seen(); len(requests) > 0 {
		t.Errorf("requests were made: %v", requests)
	}
}

func TestSwitchRequests(t *testing.T) {
	s := newServer(t)
	acme(s)
	u := newUser(t, s)
	u.run(t.Context(), step{line: "ws acme", stdout: "Current workspace is 'root:acme' (type root:organization).\n"})
	got := slices.Sorted(slices.Values(s.seen()))
	want := []string{
		"GET /clusters/root/apis/tenancy.kcp.io/v1alpha1/workspaces/acme",
		"GET /clusters/root:acme/api",
		"GET /clusters/root:acme/apis",
		"GET /clusters/root:acme/apis/apis.kcp.io/v1alpha2/apibindings",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("a switch needs four requests (-want +got)\n%s", diff)
	}
}

func TestContextSuppliesEverything(t *testing.T) {
	s := newServer(t)
	acme(s)
	u := newUser(t, s)
	config, err := clientcmd.LoadFromFile(os.Getenv("KUBECONFIG"))
	if err != nil {
		t.Fatal(err)
	}
	config.Clusters["b"] = config.Clusters["root"].DeepCopy()
	config.Clusters["b"].TLSServerName = "b.example.com"
	config.Contexts["b"] = config.Contexts["kind"].DeepCopy()
	config.Contexts["b"].Cluster = "b"
	if err := clientcmd.WriteToFile(*config, os.Getenv("KUBECONFIG")); err != nil {
		t.Fatal(err)
	}

	u.run(t.Context(), step{line: "ws acme --context b", stdout: "Current workspace is 'root:acme' (type root:organization).\n"})
	config, err = clientcmd.LoadFromFile(os.Getenv("KUBECONFIG"))
	if err != nil {
		t.Fatal(err)
	}
	current := config.Contexts[config.CurrentContext]
	if current.AuthInfo != "kind" || current.Namespace != "team" || config.Clusters[current.Cluster].TLSServerName != "b.example.com" {
		t.Errorf("user, namespace and TLS name belong to the context that supplied the server, but are %+v and %+v", current, config.Clusters[current.Cluster])
	}
	if previous := config.Contexts["workspace.kcp.io/previous"]; previous.Cluster != "b" {
		t.Errorf("the previous context uses %q", previous.Cluster)
	}
}

func TestClaimWarnings(t *testing.T) {
	s := newServer(t)
	acme(s)
	s.bindings["root:acme"] = `{"items": [{"metadata": {"name": "widgets"},
		"spec": {"permissionClaims": [
			{"resource": "configmaps", "verbs": ["list", "get"], "state": "Accepted"},
			{"resource": "secrets", "verbs": ["get"], "state": "Accepted"},
			{"group": "acme.io", "resource": "things", "identityHash": "abc", "verbs": ["*"]}]},
		"status": {"exportPermissionClaims": [
			{"resource": "configmaps", "verbs": ["get", "list"]},
			{"resource": "secrets", "verbs": ["get", "list"]},
			{"group": "acme.io", "resource": "things", "identityHash": "abc", "verbs": ["*"]},
			{"group": "acme.io", "resource": "things", "identityHash": "def", "verbs": ["*"]}]}}]}`
	warnings := `Warning: claim secrets of APIBinding widgets is answered for the verbs [get], but the export asks for [get list]
Warning: claim things.acme.io:abc of APIBinding widgets is not accepted or rejected; answer with: kubectl kcp claims accept widgets --resource things.acme.io:abc
Warning: claim things.acme.io:def of APIBinding widgets is not in spec.permissionClaims; add it there, or answer with: kubectl kcp claims accept widgets --resource things.acme.io:def
`
	u := newUser(t, s)
	u.run(t.Context(), step{line: "ws acme", stdout: "Current workspace is 'root:acme' (type root:organization).\n", stderr: warnings})
	u.run(t.Context(), step{line: "ws -", stdout: "Current workspace is 'root'.\n"})
	u.run(t.Context(), step{line: "ws -", stdout: "Current workspace is 'root:acme'.\n", stderr: warnings})

	s.bindings["root:acme"] = "what?"
	u.run(t.Context(), step{line: "ws acme -s SERVER/clusters/root", stdout: "Current workspace is 'root:acme' (type root:organization).\n",
		stderr: "error checking APIBindings: the server's answer is not the JSON of a Kubernetes API: invalid character 'w' looking for beginning of value\n"})
}

func TestDeadServer(t *testing.T) {
	s := newServer(t)
	u := newUser(t, s)
	s.Close()
	address := strings.TrimPrefix(s.URL, "http://")
	for _, line := range []string{"ws acme", "ws tree", "ws create a", "ws ~"} {
		var errOut bytes.Buffer
		args := strings.Fields(line)[1:]
		code := run.Execute(t.Context(), run.Streams{Out: &errOut, ErrOut: &errOut}, NewPlugin, args)
		if got := errOut.String(); code != 1 || !strings.HasPrefix(got, "error: cannot reach the server http://"+address+": ") || strings.Count(got, "\n") != 1 {
			t.Errorf("%s: exit code %d, %q", line, code, got)
		}
	}
	u.run(t.Context(), step{line: "ws .", stdout: "Current workspace is 'root'.\n"})
}

func TestVersion(t *testing.T) {
	u := newUser(t, newServer(t))
	u.run(t.Context(), step{line: "ws --version", stdout: "workspace version <unknown>\n"})
	u.run(t.Context(), step{line: "create workspace --version", stdout: "create version <unknown>\n"})
}
