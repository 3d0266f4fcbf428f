package doctor

import (
	"errors"
	"io/fs"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/forkless/kcp/pkg/cli/diagnosis"
	"github.com/forkless/kcp/pkg/cli/run"
)

var now = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

// healthy are the facts of somebody with nothing to complain about.
func healthy() facts {
	return facts{
		now:        now,
		version:    "v1.36.3+kcp-v0.1.0",
		kubeconfig: kubeconfigFacts{files: []string{"/home/me/.kube/config"}, context: "workspace.kcp.io/current", user: "me", server: "https://host:6443/clusters/root"},
		server: serverFacts{
			asked: true, latency: 12 * time.Millisecond, version: "v1.36.3+kcp-v0.1.0", expiry: now.Add(90 * 24 * time.Hour),
			user: "me", groups: []string{"team"}, home: "https://host:6443/clusters/2kb1y3r0q9x8w7v6",
		},
		programs:  []programFacts{{name: "kubectl-ws", files: []fileFacts{{file: "/bin/kubectl-ws", target: "/bin/kubectl-ws", platform: here(), version: "v1.36.3+kcp-v0.1.0"}}}},
		completes: map[string]bool{"ws": true},
		kubectl:   "v1.36.3",
	}
}

func TestHealthy(t *testing.T) {
	checks := judge(healthy())
	for _, c := range checks {
		if c.State != diagnosis.OK {
			t.Errorf("%s is %s: %s", c.Name, c.State, c.Message)
		}
	}
	if err := errFailed(checks); err != nil {
		t.Errorf("the answer is %v", err)
	}
}

func TestJudge(t *testing.T) {
	failed, warning, unknown := diagnosis.Failed, diagnosis.Warning, diagnosis.Unknown
	cases := map[string]struct {
		reason string
		change func(*facts)
		check  string
		want   diagnosis.State
	}{
		"NoVersion":     {"a program of one's own build says nothing", func(f *facts) { f.version = "" }, "client", unknown},
		"NoKubeconfig":  {"nothing works without", func(f *facts) { f.kubeconfig = kubeconfigFacts{err: fs.ErrNotExist}; f.server = serverFacts{} }, "kubeconfig", failed},
		"StalePrevious": {"it works, but for going back", func(f *facts) { f.kubeconfig.previous = errors.New("cluster is gone") }, "previous", warning},
		"Locked":        {"writing waits for it", func(f *facts) { f.kubeconfig.locks = []string{"/home/me/.kube/config.lock"} }, "locks", warning},
		"ClientExpired": {"the server will refuse it", func(f *facts) { f.kubeconfig.clientExpiry = now.Add(-time.Hour) }, "user certificate", failed},
		"Dead":          {"nobody answers", func(f *facts) { f.server.err = errors.New("connection refused") }, "server", failed},
		"Slow":          {"it answers, in its time", func(f *facts) { f.server.latency = 3 * time.Second }, "server", warning},
		"Skew":          {"two minor versions are too many", func(f *facts) { f.server.version = "v1.34.0" }, "versions", warning},
		"NextMinor":     {"one is fine", func(f *facts) { f.server.version = "v1.37.0" }, "versions", diagnosis.OK},
		"NoServerVers":  {"not every server says", func(f *facts) { f.server.version = "something" }, "versions", unknown},
		"Expires":       {"there is time to renew it", func(f *facts) { f.server.expiry = now.Add(24 * time.Hour) }, "certificate", warning},
		"Unauthorized":  {"credentials are not taken", func(f *facts) { f.server.userErr = apierrors.NewUnauthorized("no") }, "user", failed},
		"NoReview":      {"an older server", func(f *facts) { f.server.userErr = apierrors.NewNotFound(schema.GroupResource{}, "x") }, "user", unknown},
		"NoHomes":       {"not every server has homes", func(f *facts) { f.server.homeErr = apierrors.NewNotFound(schema.GroupResource{}, "~") }, "home", diagnosis.OK},
		"HomeForbidden": {"that is unusual", func(f *facts) { f.server.homeErr = errors.New("forbidden") }, "home", warning},
		"NotInstalled":  {"it may not be needed", func(f *facts) { f.programs[0].files = nil }, "kubectl-ws", warning},
		"DeadLink":      {"kubectl says it is not there", func(f *facts) { f.programs[0].files[0].target = "" }, "kubectl-ws", failed},
		"OtherPlatform": {"it does not start", func(f *facts) { f.programs[0].files[0].platform = "plan9/mips" }, "kubectl-ws", failed},
		"Shadowed": {"which one is meant", func(f *facts) {
			f.programs[0].files = append(f.programs[0].files, fileFacts{file: "/usr/bin/kubectl-ws", target: "/usr/bin/kubectl-ws"})
		}, "kubectl-ws", warning},
		"SameFile": {"two names of one file", func(f *facts) {
			f.programs[0].files = append(f.programs[0].files, fileFacts{file: "/usr/bin/kubectl-ws", target: "/bin/kubectl-ws"})
		}, "kubectl-ws", diagnosis.OK},
		"OldKubectl":   {"some forms of commands are not there", func(f *facts) { f.kubectl = "v1.30.2" }, "kubectl", warning},
		"NoKubectl":    {"our programs can be called without", func(f *facts) { f.kubectl = "" }, "kubectl", warning},
		"NoCompletion": {"setup was not run", func(f *facts) { f.completes["ws"] = false }, "completion", warning},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			f := healthy()
			tc.change(&f)
			checks := judge(f)
			for _, c := range checks {
				if c.Name == tc.check {
					if c.State != tc.want {
						t.Errorf("%s: %s is %s (%s), want %s", tc.reason, tc.check, c.State, c.Message, tc.want)
					}
					if isNo := errors.Is(errFailed(checks), run.ErrNo); isNo != (tc.want == failed) {
						t.Errorf("%s: the answer is no: %v", tc.reason, isNo)
					}
					return
				}
			}
			t.Errorf("%s: there is no check %s in %v", tc.reason, tc.check, checks)
		})
	}
}

func TestRedactAddress(t *testing.T) {
	if diff := cmp.Diff("https://me:xxxxx@host/clusters/root", redact("https://me:secret@host/clusters/root")); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
