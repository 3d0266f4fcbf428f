package webhooks

import (
	"context"
	"net/http"
	"strings"
	"sync"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/forkless/kcp/internal/admission/webhooks/webhooktest"
	"github.com/forkless/kcp/internal/servertest"
	"github.com/forkless/kcp/internal/servertest/address"
)

// TestNoRequestSlipsPastARestart creates objects that a webhook denies while the server is
// being started, from before it listens until it is ready.
func TestNoRequestSlipsPastARestart(t *testing.T) {
	hooks, root, users := webhooktest.Start(t), t.TempDir(), servertest.WithUsers(t)
	hooks.Handle("/deny", webhooktest.Deny("no"))
	first := servertest.StartIn(t, root, users)
	w := newWorkspace(t, first, hooks)
	w.registerValidating(t, "deny", w.validating("deny", "/deny"))
	_, err := w.create(t, "a", nil)
	denied(t, err, "no")
	first.Stop()

	port := address.FreePort(t)
	config := &rest.Config{
		Host: "https://127.0.0.1:" + port + "/clusters/" + w.name, BearerToken: "admin-token", QPS: -1,
		TLSClientConfig: rest.TLSClientConfig{Insecure: true},
	}
	client, err := kubernetes.NewForConfig(config)
	must(t, err)
	ctx, stop := context.WithCancel(t.Context())
	var wait sync.WaitGroup
	var mu sync.Mutex
	outcomes := map[string]int{}
	for range 4 {
		wait.Go(func() {
			for ctx.Err() == nil {
				_, err := client.CoreV1().ConfigMaps("default").Create(ctx, generated(), metav1.CreateOptions{})
				mu.Lock()
				outcomes[outcome(err)]++
				mu.Unlock()
			}
		})
	}
	second := servertest.StartIn(t, root, users, "--secure-port="+port)
	servertest.Eventually(t, "the webhook to be asked", func() (bool, any) {
		mu.Lock()
		defer mu.Unlock()
		return outcomes["denied"] > 0, outcomes
	})
	stop()
	wait.Wait()
	t.Log(outcomes)
	if outcomes["created"] > 0 {
		t.Errorf("%d requests slipped past the webhook", outcomes["created"])
	}
	list, err := inWorkspace(t, second, hooks, w.name).client.CoreV1().ConfigMaps("default").List(t.Context(), metav1.ListOptions{})
	must(t, err)
	for i := range list.Items {
		if strings.HasPrefix(list.Items[i].Name, "a-") {
			t.Errorf("%s was stored", list.Items[i].Name)
		}
	}
}

func outcome(err error) string {
	switch {
	case err == nil:
		return "created"
	case strings.Contains(err.Error(), "denied the request: no"):
		return "denied"
	case strings.Contains(err.Error(), "refused"):
		return "not listening"
	default:
		return http.StatusText(http.StatusServiceUnavailable)
	}
}
