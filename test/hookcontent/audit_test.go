package hookcontent

import (
	"bufio"
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	auditv1 "k8s.io/apiserver/pkg/apis/audit/v1"

	"github.com/forkless/kcp/internal/servertest"
)

// TestAudit is behavior 37 as the audit log has it: the user of an event is the controller,
// and the event says for which hook it acted, and as whom.
func TestAudit(t *testing.T) {
	directory := t.TempDir()
	policy, log := filepath.Join(directory, "policy.yaml"), filepath.Join(directory, "audit.log")
	must(t, os.WriteFile(policy, []byte("apiVersion: audit.k8s.io/v1\nkind: Policy\nrules: [{level: Metadata}]\n"), 0o600))
	s := newSuite(t, servertest.Start(t, servertest.WithUsers(t), "--audit-policy-file="+policy, "--audit-log-path="+log))
	cluster := s.newborn(t, "both").Spec.Cluster
	for _, workspaceType := range []string{"ruled", "trusted"} {
		_, err := s.hook(t, controller, initializing, workspaceType, cluster).CoreV1().Namespaces().
			Create(t.Context(), namespace("by-"+workspaceType), metav1.CreateOptions{})
		must(t, err)
	}
	s.send(t, controller, http.MethodDelete, s.at(initializing, "ruled", cluster)+"/api/v1/nodes/refused", "", nil).check(t, http.StatusForbidden)

	for name, tc := range map[string]struct {
		reason       string
		annotations  map[string]string
		impersonated string
	}{
		"by-ruled": {"by rules the controller acts as itself", map[string]string{
			"hook.auth.kcp.io/hook": "initializer " + s.id("ruled"), "hook.auth.kcp.io/mode": "permissions", "kcp.io/cluster": cluster,
			"request.auth.kcp.io/05-mandate-decision": "Allowed",
		}, ""},
		"by-trusted": {"otherwise as the creator", map[string]string{
			"hook.auth.kcp.io/hook": "initializer " + s.id("trusted"), "hook.auth.kcp.io/mode": "creator", "kcp.io/cluster": cluster,
			"request.auth.kcp.io/05-local-decision": "Allowed",
		}, creatorName},
		"refused": {"what was refused says why", map[string]string{"hook.auth.kcp.io/refusal": "no rule allows it", "kcp.io/cluster": cluster}, ""},
	} {
		var event *auditv1.Event
		servertest.Eventually(t, "there is an event of "+name, func() (bool, any) {
			event = eventOf(t, log, name)
			return event != nil, nil
		})
		if event.User.Username != controllerName {
			t.Errorf("%s: %s: the user is %s", name, tc.reason, event.User.Username)
		}
		for key, want := range tc.annotations {
			if got := event.Annotations[key]; got != want {
				t.Errorf("%s: %s: %s is %q, want %q", name, tc.reason, key, got, want)
			}
		}
		impersonated := ""
		if event.ImpersonatedUser != nil {
			impersonated = event.ImpersonatedUser.Username
		}
		if impersonated != tc.impersonated {
			t.Errorf("%s: %s: acted as %q, want %q", name, tc.reason, impersonated, tc.impersonated)
		}
	}
}

// eventOf returns the last event about a namespace or node of that name by the controller,
// nil if there is none.
func eventOf(t *testing.T, log, name string) *auditv1.Event {
	t.Helper()
	file, err := os.Open(log)
	must(t, err)
	defer func() { _ = file.Close() }()
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 1<<20)
	var found *auditv1.Event
	for lines.Scan() {
		var event auditv1.Event
		if json.Unmarshal(lines.Bytes(), &event) == nil && event.Stage == auditv1.StageResponseComplete &&
			event.ObjectRef != nil && event.ObjectRef.Name == name {
			found = &event
		}
	}
	return found
}
