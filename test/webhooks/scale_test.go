package webhooks

import (
	"fmt"
	"os"
	"runtime"
	"sync"
	"testing"
	"time"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/forkless/kcp/internal/admission/webhooks/webhooktest"
	"github.com/forkless/kcp/internal/servertest"
	"github.com/forkless/kcp/internal/servertest/heap"
	tenancyv1alpha1 "github.com/forkless/kcp/pkg/apis/tenancy/v1alpha1"
)

const (
	// fewer and many are how many workspaces there are, in the short and in the long run,
	// of which few have webhooks.
	fewer, many, few = 200, 1000, 10
	// goroutinesEach and bytesEach are what each of the few may cost, with a mutating and
	// a validating webhook, both ends of their connections included.
	goroutinesEach = 12
	bytesEach      = 3 << 20
	// tolerance is how many goroutines may come and go for other reasons.
	tolerance = 8
)

// TestManyWorkspacesAFewWithWebhooks shows that only those that have webhooks pay for
// them, and only as long as they do.
func TestManyWorkspacesAFewWithWebhooks(t *testing.T) {
	server, hooks := servertest.Start(t), webhooktest.Start(t)
	workspaces := makeMany(t, server)
	hooks.Handle("/mutate", webhooktest.Patch(webhooktest.Add("/data", map[string]string{"seen": "yes"})))
	hooks.Handle("/validate", webhooktest.Allow)
	// Each has been written to.
	for _, name := range workspaces {
		_, err := inWorkspace(t, server, hooks, name).create(t, "before", nil)
		must(t, err)
	}
	goroutines, bytes := settled(t), heap.InUse()

	for i, name := range workspaces[:few] {
		w := inWorkspace(t, server, hooks, name)
		_, err := w.client.AdmissionregistrationV1().MutatingWebhookConfigurations().Create(t.Context(), &admissionregistrationv1.MutatingWebhookConfiguration{
			ObjectMeta: metav1.ObjectMeta{Name: "same"}, Webhooks: []admissionregistrationv1.MutatingWebhook{w.mutating("same", "/mutate")},
		}, metav1.CreateOptions{})
		must(t, err)
		w.registerValidating(t, "same", w.validating("same", "/validate"))
		created, err := w.create(t, fmt.Sprint("after-", i), nil)
		must(t, err)
		if created.Data["seen"] != "yes" {
			t.Error("the webhook was not asked")
		}
	}
	for _, name := range workspaces[few:] {
		if _, err := inWorkspace(t, server, hooks, name).create(t, "after", nil); err != nil {
			t.Fatal(err)
		}
	}
	more, grown := settled(t)-goroutines, heap.InUse()-bytes
	t.Logf("%d of %d workspaces have webhooks: %d goroutines and %d KB more", few, len(workspaces), more, grown>>10)
	if more > few*goroutinesEach+tolerance {
		t.Errorf("%d goroutines more, want at most %d for each workspace with webhooks", more, goroutinesEach)
	}
	if grown > few*bytesEach {
		t.Errorf("%d bytes more, want at most %d for each workspace with webhooks", grown, bytesEach)
	}

	// Half of them lose their configurations, half of them end.
	for i, name := range workspaces[:few] {
		w := inWorkspace(t, server, hooks, name)
		if i%2 == 0 {
			must(t, w.client.AdmissionregistrationV1().MutatingWebhookConfigurations().Delete(t.Context(), "same", metav1.DeleteOptions{}))
			must(t, w.client.AdmissionregistrationV1().ValidatingWebhookConfigurations().Delete(t.Context(), "same", metav1.DeleteOptions{}))
			continue
		}
		must(t, inWorkspace(t, server, hooks, "root").dynamic.Resource(tenancyv1alpha1.GroupVersion.WithResource("workspaces")).
			Delete(t.Context(), fmt.Sprint("ws-", i), metav1.DeleteOptions{}))
	}
	servertest.Eventually(t, "the goroutines to end", func() (bool, any) {
		left := runtime.NumGoroutine() - goroutines
		return left <= tolerance, left
	})
}

// makeMany makes workspaces and returns the names of their clusters.
func makeMany(t *testing.T, server *servertest.Server) []string {
	t.Helper()
	count := fewer
	if os.Getenv("KCP_TEST_LONG") != "" {
		count = many
	}
	names := make([]string, count)
	var wait sync.WaitGroup
	const clients = 8
	for c := range clients {
		wait.Go(func() {
			for i := c; i < count; i += clients {
				names[i] = server.Workspace(t, "root", fmt.Sprint("ws-", i)).Spec.Cluster
			}
		})
	}
	wait.Wait()
	return names
}

// settled returns the number of goroutines when it has stopped to fall.
func settled(t *testing.T) int {
	t.Helper()
	least, since := runtime.NumGoroutine(), time.Now()
	servertest.Eventually(t, "the goroutines to settle", func() (bool, any) {
		if now := runtime.NumGoroutine(); now < least {
			least, since = now, time.Now()
		}
		return time.Since(since) > time.Second, least
	})
	return least
}
