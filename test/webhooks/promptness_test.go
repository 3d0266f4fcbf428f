package webhooks

import (
	"fmt"
	"slices"
	"testing"
	"time"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/forkless/kcp/internal/admission/webhooks/webhooktest"
	"github.com/forkless/kcp/internal/servertest"
)

// promptly is how soon a configuration has to be in force, in the median: machines are
// busy at times. Upstream's promise is about a second.
const promptly = time.Second

// TestConfigurationsAreInForcePromptly measures how long requests pass by a configuration
// that has been created, and how long they are held up by one that has been deleted.
func TestConfigurationsAreInForcePromptly(t *testing.T) {
	const rounds = 30
	server, hooks := servertest.Start(t), webhooktest.Start(t)
	w := newWorkspace(t, server, hooks)
	hooks.Handle("/deny", webhooktest.Deny("no"))
	configurations := w.client.AdmissionregistrationV1().ValidatingWebhookConfigurations()
	since := func(begun time.Time, want bool) time.Duration {
		w.untilCreatedDry(t, want)
		return time.Since(begun)
	}
	var created, deleted []time.Duration
	for i := range rounds {
		name := fmt.Sprintf("deny-%d", i)
		_, err := configurations.Create(t.Context(), &admissionregistrationv1.ValidatingWebhookConfiguration{
			ObjectMeta: metav1.ObjectMeta{Name: name}, Webhooks: []admissionregistrationv1.ValidatingWebhook{w.validating("deny", "/deny")},
		}, metav1.CreateOptions{})
		must(t, err)
		created = append(created, since(time.Now(), false))
		must(t, configurations.Delete(t.Context(), name, metav1.DeleteOptions{}))
		deleted = append(deleted, since(time.Now(), true))
	}
	slices.Sort(created)
	slices.Sort(deleted)
	t.Logf("in force after %s in the median, %s at most; out of force after %s, %s at most, each with the request that shows it",
		created[rounds/2], created[rounds-1], deleted[rounds/2], deleted[rounds-1])
	if created[rounds/2] > promptly || deleted[rounds/2] > promptly {
		t.Errorf("want at most %s in the median", promptly)
	}
}

// untilCreatedDry tries to create until that is allowed or not, without a pause.
func (w *workspace) untilCreatedDry(t *testing.T, allowed bool) {
	t.Helper()
	for deadline := time.Now().Add(servertest.Patience); time.Now().Before(deadline); {
		_, err := w.client.CoreV1().ConfigMaps("default").Create(t.Context(), generated(), metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
		if (err == nil) == allowed {
			return
		}
	}
	t.Fatalf("creating was not to be allowed: %t", allowed)
}
