package policies

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	auditv1 "k8s.io/apiserver/pkg/apis/audit/v1"

	"github.com/forkless/kcp/internal/servertest"
)

// warn: a binding that warns lets through and says why it would rather not.
func warn(t *testing.T, w *workspace) {
	bound := binding("policy")
	bound.Spec.ValidationActions = []admissionregistrationv1.ValidationAction{admissionregistrationv1.Warn}
	w.create(t, validating("policy", admissionregistrationv1.Validation{Expression: "false", Message: "better not"}), bound)
	want := "Validation failed for ValidatingAdmissionPolicy 'policy' with binding 'policy': better not"
	servertest.Eventually(t, "the server warns", func() (bool, any) {
		w.warnings.take()
		if _, err := w.kube.CoreV1().ConfigMaps("default").Create(t.Context(), configMap(markerName), metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}}); err != nil {
			t.Fatal(err)
		}
		seen := w.warnings.take()
		return seen == want, seen
	})
}

// dryRun: what is not stored is decided on all the same.
func dryRun(t *testing.T, w *workspace) {
	w.create(t, validating("policy", admissionregistrationv1.Validation{Expression: "!request.dryRun", Message: "in earnest only"}), binding("policy"))
	dry := metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}}
	maps := w.kube.CoreV1().ConfigMaps("default")
	refused(t, "a dry run", func() error {
		_, err := maps.Create(t.Context(), configMap(markerName), dry)
		return err
	}, func() error { return nil })
	if _, err := w.createConfigMap(t, "earnest"); err != nil {
		t.Error(err)
	}
	if _, err := maps.Get(t.Context(), markerName, metav1.GetOptions{}); !apierrors.IsNotFound(err) {
		t.Errorf("a dry run has left something: %v", err)
	}
}

// callers: expressions ask what the caller may do, in this workspace.
func callers(t *testing.T, w *workspace) {
	other := newWorkspace(t, w.server)
	for _, at := range []*workspace{w, other} {
		at.grant(t, "user-2", "writer", grantOf("", "configmaps", "create", "delete"))
		at.create(t, validating("policy", admissionregistrationv1.Validation{
			Expression: `authorizer.group("example.com").resource("widgets").namespace("default").check("paint").allowed()
				&& !authorizer.path("/paint").check("get").allowed()`,
			MessageExpression: "'not ' + request.userInfo.username",
		}), binding("policy"))
	}
	other.grant(t, "user-2", "painter", grantOf("example.com", "widgets", "paint"))
	user := other.as(t, "user-2-token")
	servertest.Eventually(t, "the painter may write", func() (bool, any) {
		_, err := user.kube.CoreV1().ConfigMaps("default").Create(t.Context(), configMap("a"), metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
		return err == nil, err
	})
	here := w.as(t, "user-2-token")
	refusal := refused(t, "one who is no painter here", func() error {
		_, err := here.createConfigMap(t, markerName)
		return err
	}, func() error {
		return here.kube.CoreV1().ConfigMaps("default").Delete(t.Context(), markerName, metav1.DeleteOptions{})
	})
	if !strings.HasSuffix(refusal.Message, "not user-2") {
		t.Errorf("refused because of %v", refusal.Message)
	}
}

// TestAudit: what policies say for the record is in the audit event, with the workspace.
func TestAudit(t *testing.T) {
	t.Parallel()
	directory := t.TempDir()
	policyFile, logFile := filepath.Join(directory, "policy.yaml"), filepath.Join(directory, "audit.log")
	err := os.WriteFile(policyFile, []byte("apiVersion: audit.k8s.io/v1\nkind: Policy\nomitStages: [RequestReceived]\nrules:\n- level: Metadata\n"), 0o600)
	if err != nil {
		t.Fatal(err)
	}
	server := servertest.Start(t, "--audit-policy-file="+policyFile, "--audit-log-path="+logFile)
	w := newWorkspace(t, server)
	policy := validating("policy", admissionregistrationv1.Validation{Expression: "object.metadata.name == ''", Message: "for the record"})
	policy.Spec.AuditAnnotations = []admissionregistrationv1.AuditAnnotation{{Key: "name", ValueExpression: "'it is ' + object.metadata.name"}}
	bound := binding("policy")
	bound.Spec.ValidationActions = []admissionregistrationv1.ValidationAction{admissionregistrationv1.Audit}
	w.create(t, policy, bound)
	servertest.Eventually(t, "the audit log has what the policy says", func() (bool, any) {
		if _, err := w.kube.CoreV1().ConfigMaps("default").Create(t.Context(), configMap(markerName), metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}}); err != nil {
			t.Fatal(err)
		}
		log, err := os.ReadFile(logFile)
		if err != nil {
			t.Fatal(err)
		}
		var last map[string]string
		for line := range bytes.Lines(log) {
			event := &auditv1.Event{}
			if json.Unmarshal(line, event) != nil || event.ObjectRef == nil || event.ObjectRef.Resource != "configmaps" {
				continue
			}
			last = event.Annotations
			failure := event.Annotations["validation.policy.admission.k8s.io/validation_failure"]
			if event.Annotations["policy/name"] == "it is marker" && strings.Contains(failure, `"message":"for the record","policy":"policy","binding":"policy"`) {
				return true, nil
			}
		}
		return false, last
	})
}
