package operations

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	auditv1 "k8s.io/apiserver/pkg/apis/audit/v1"
	"k8s.io/client-go/rest"
)

func write(t *testing.T, name, content string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

const auditEverything = "apiVersion: audit.k8s.io/v1\nkind: Policy\nrules: [{level: Metadata}]\n"

// TestRequestsAreNotLogged: what is logged by default is what somebody should read.
func TestRequestsAreNotLogged(t *testing.T) {
	p := start(t, t.TempDir())
	config := p.config(t)
	c := client(t, config)
	unknown := rest.AnonymousClientConfig(config)
	unknown.BearerToken = "garbage"
	strangers := client(t, unknown)
	for range 50 {
		if _, err := c.CoreV1().Namespaces().List(t.Context(), metav1.ListOptions{}); err != nil {
			t.Fatal(err)
		}
		w, err := c.CoreV1().ConfigMaps("").Watch(t.Context(), metav1.ListOptions{})
		if err != nil {
			t.Fatal(err)
		}
		_, _ = c.CoreV1().ConfigMaps("default").Create(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{GenerateName: "x-"}}, metav1.CreateOptions{})
		w.Stop()
		if _, err := strangers.CoreV1().Namespaces().List(t.Context(), metav1.ListOptions{}); err == nil {
			t.Fatal("garbage is a token")
		}
	}
	p.terminate(t)
	if code := p.wait(t); code != 0 {
		t.Errorf("the exit code is %d", code)
	}
	lines := strings.Split(strings.TrimSpace(p.errOut.String()), "\n")
	if len(lines) != 2 || !strings.Contains(lines[0], "Ready") || !strings.Contains(lines[1], "Stopping") {
		t.Errorf("the log has %d lines:\n%s", len(lines), p.errOut.String())
	}
}

// TestRequestsAreLoggedWhenAsked: from the level on at which Kubernetes does.
func TestRequestsAreLoggedWhenAsked(t *testing.T) {
	p := start(t, t.TempDir(), "-v=3")
	if _, err := client(t, p.config(t)).CoreV1().ConfigMaps("default").Get(t.Context(), "asked-for", metav1.GetOptions{}); err == nil {
		t.Fatal("there is one")
	}
	p.says(t, `verb="GET" URI="/api/v1/namespaces/default/configmaps/asked-for"`)
}

// TestAuditToStandardOutput: events, and nothing else, a line each, to the last.
func TestAuditToStandardOutput(t *testing.T) {
	p := start(t, t.TempDir(), "--audit-policy-file="+write(t, "policy.yaml", auditEverything), "--audit-log-path=-")
	c := client(t, p.config(t))
	const written = 50
	for i := range written {
		configMap := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("x-%d", i)}}
		if _, err := c.CoreV1().ConfigMaps("default").Create(t.Context(), configMap, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	p.terminate(t)
	p.wait(t)
	created := map[string]bool{}
	lines := bufio.NewScanner(strings.NewReader(p.out.String()))
	for lines.Scan() {
		var event auditv1.Event
		if err := json.Unmarshal(lines.Bytes(), &event); err != nil {
			t.Fatalf("standard output has %q: %v", lines.Text(), err)
		}
		if event.Stage == auditv1.StageResponseComplete && event.Verb == "create" {
			created[event.ObjectRef.Name] = true
		}
	}
	for i := range written {
		if !created[fmt.Sprintf("x-%d", i)] {
			t.Errorf("x-%d was created and is not in the log", i)
		}
	}
}

// TestBadFiles: a file that cannot be used ends the start with one line that names it.
func TestBadFiles(t *testing.T) {
	missing := filepath.Join(t.TempDir(), "missing.yaml")
	cases := map[string]struct {
		reason string
		flags  []string
		says   string
	}{
		"PolicyMissing": {"nothing would be audited", []string{"--audit-policy-file=" + missing, "--audit-log-path=-"}, missing},
		"PolicyUnreadable": {
			"a policy that is half understood leaves out what matters",
			[]string{"--audit-policy-file=" + write(t, "bad.yaml", "apiVersion: audit.k8s.io/v1\nkind: Policy\nrules: [{level: Everything}]\n"), "--audit-log-path=-"},
			"Everything",
		},
		"PolicyNotAPolicy": {
			"another kind of file was given by mistake",
			[]string{"--audit-policy-file=" + write(t, "other.yaml", "just text"), "--audit-log-path=-"}, "other.yaml",
		},
		"WebhookMissing": {
			"events would go nowhere",
			[]string{"--audit-policy-file=" + write(t, "policy.yaml", auditEverything), "--audit-webhook-config-file=" + missing}, missing,
		},
		"TracingMissing": {"spans would go nowhere", []string{"--tracing-config-file=" + missing}, missing},
		"TracingUnreadable": {
			"a typing error would turn tracing off",
			[]string{"--tracing-config-file=" + write(t, "tracing.yaml", "apiVersion: apiserver.config.k8s.io/v1\nkind: TracingConfiguration\nsamplingRate: 1\n")},
			"samplingRate",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			p := launch(t, t.TempDir(), tc.flags...)
			if code := p.wait(t); code != 1 {
				t.Errorf("%s: the exit code is %d", tc.reason, code)
			}
			lines := strings.Split(strings.TrimSpace(p.errOut.String()), "\n")
			if len(lines) != 1 || !strings.HasPrefix(lines[0], "error: ") || !strings.Contains(lines[0], tc.says) {
				t.Errorf("%s: standard error is\n%s", tc.reason, p.errOut.String())
			}
		})
	}
}
