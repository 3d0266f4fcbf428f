package webhooks

import (
	"bufio"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	admissionv1 "k8s.io/api/admission/v1"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	auditv1 "k8s.io/apiserver/pkg/apis/audit/v1"
	"k8s.io/utils/ptr"

	"github.com/forkless/kcp/internal/admission/webhooks/webhooktest"
	"github.com/forkless/kcp/internal/servertest"
)

// TestAudit: what webhooks did to a request is in its audit event.
func TestAudit(t *testing.T) {
	directory := t.TempDir()
	policy, log := filepath.Join(directory, "policy.yaml"), filepath.Join(directory, "audit.log")
	must(t, os.WriteFile(policy, []byte("apiVersion: audit.k8s.io/v1\nkind: Policy\nrules: [{level: Request, resources: [{resources: [configmaps]}]}]\n"), 0o600))
	hooks := webhooktest.Start(t)
	w := newWorkspace(t, servertest.Start(t, "--audit-policy-file="+policy, "--audit-log-path="+log), hooks)

	hooks.Handle("/change", webhooktest.Patch(webhooktest.Add("/data", map[string]string{"a": "b"})))
	hooks.Handle("/note", func(*admissionv1.AdmissionRequest) *admissionv1.AdmissionResponse {
		return &admissionv1.AdmissionResponse{Allowed: true, AuditAnnotations: map[string]string{"note": "seen"}}
	})
	w.registerMutating(t, "change", w.mutating("change", "/change"))
	w.registerValidating(t, "note", w.validating("note", "/note"), w.validating("absent", "/absent", func(h *admissionregistrationv1.ValidatingWebhook) {
		h.FailurePolicy = ptr.To(admissionregistrationv1.Ignore)
	}))
	_, err := w.create(t, "audited", nil)
	must(t, err)

	for key, want := range map[string]string{
		"note.webhooks.test/note":                                         "seen",
		"mutation.webhook.admission.k8s.io/round_0_index_0":               `"mutated":true`,
		"patch.webhook.admission.k8s.io/round_0_index_0":                  `"patchType":"JSONPatch"`,
		"failed-open.validating.webhook.admission.k8s.io/round_0_index_1": "absent.webhooks.test",
		"kcp.io/cluster": w.name,
	} {
		servertest.Eventually(t, key, func() (bool, any) {
			annotations := auditOf(t, log, "audited")
			return strings.Contains(annotations[key], want), annotations
		})
	}
}

// auditOf returns the annotations of the event about the creation of a ConfigMap.
func auditOf(t *testing.T, log, name string) map[string]string {
	t.Helper()
	file, err := os.Open(log)
	must(t, err)
	defer func() { _ = file.Close() }()
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var event auditv1.Event
		if json.Unmarshal(lines.Bytes(), &event) == nil && event.Stage == "ResponseComplete" && event.Verb == "create" && event.ObjectRef.Name == name {
			return event.Annotations
		}
	}
	return nil
}
