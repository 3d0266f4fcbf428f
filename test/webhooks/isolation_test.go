package webhooks

import (
	"net"
	"slices"
	"sync"
	"testing"
	"time"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/forkless/kcp/internal/admission/webhooks/webhooktest"
	"github.com/forkless/kcp/internal/servertest"
)

// TestEachActsOnItsOwn: two workspaces have configurations of the same names, with
// webhooks of the same names, for definitions of the same names.
func TestEachActsOnItsOwn(t *testing.T) {
	server, hooks := servertest.Start(t), webhooktest.Start(t)
	both := map[string]*workspace{}
	for _, side := range []string{"left", "right"} {
		w := newWorkspace(t, server, hooks)
		both[side] = w
		w.define(t, version("v1", true, nil))
		hooks.Handle("/"+side+"/mutate", webhooktest.Patch(webhooktest.Add("/metadata/labels", map[string]string{"by": side})))
		hooks.Handle("/"+side+"/validate", webhooktest.Deny(side+" does not like this"))
		w.registerMutating(t, "same", w.mutating("same", "/"+side+"/mutate", func(h *admissionregistrationv1.MutatingWebhook) {
			h.Rules = append(h.Rules, rule("webhooks.test/v1/things", admissionregistrationv1.Create)...)
		}))
		w.registerValidating(t, "same", w.validating("same", "/"+side+"/validate", func(h *admissionregistrationv1.ValidatingWebhook) {
			h.Rules = append(h.Rules, rule("webhooks.test/v1/things", admissionregistrationv1.Create)...)
			h.MatchConditions = []admissionregistrationv1.MatchCondition{{Name: "bad", Expression: "object.metadata.name == 'bad-in-" + side + "'"}}
		}))
	}
	bystander := newWorkspace(t, server, hooks)
	bystander.define(t, version("v1", true, nil))
	for side, w := range both {
		for _, name := range []string{"fine", "bad-in-left", "bad-in-right"} {
			created, err := w.create(t, name, nil)
			if name == "bad-in-"+side {
				denied(t, err, side+" does not like this")
				_, err = w.things().Create(t.Context(), thing(name, nil), metav1.CreateOptions{})
				denied(t, err, side+" does not like this")
				continue
			}
			must(t, err)
			if created.Labels["by"] != side {
				t.Errorf("%s of %s was changed by %q", name, side, created.Labels["by"])
			}
			custom, err := w.things().Create(t.Context(), thing(name, nil), metav1.CreateOptions{})
			must(t, err)
			if custom.GetLabels()["by"] != side {
				t.Errorf("%s of %s was changed by %q", name, side, custom.GetLabels()["by"])
			}
		}
	}
	for _, name := range []string{"bad-in-left", "bad-in-right"} {
		created, err := bystander.create(t, name, nil)
		must(t, err)
		if created.Labels["by"] != "" {
			t.Errorf("%s was changed by %q", name, created.Labels["by"])
		}
		_, err = bystander.things().Create(t.Context(), thing(name, nil), metav1.CreateOptions{})
		must(t, err)
	}
	for side := range both {
		for _, review := range slices.Concat(hooks.Reviews("/"+side+"/mutate"), hooks.Reviews("/"+side+"/validate")) {
			if got := webhooktest.Object(t, review.Request).GetAnnotations()["kcp.io/cluster"]; got != both[side].name {
				t.Errorf("the webhook of %s was asked about an object of %s", side, got)
			}
		}
	}
}

// blackhole is a server that takes connections and says nothing.
type blackhole struct {
	listener net.Listener

	mu    sync.Mutex
	taken []net.Conn
}

func newBlackhole(t *testing.T) *blackhole {
	t.Helper()
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	must(t, err)
	b := &blackhole{listener: listener}
	go func() {
		for {
			connection, err := listener.Accept()
			if err != nil {
				return
			}
			b.mu.Lock()
			b.taken = append(b.taken, connection)
			b.mu.Unlock()
		}
	}()
	t.Cleanup(b.close)
	return b
}

// waiting returns how many connections there are.
func (b *blackhole) waiting() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.taken)
}

// close ends all connections.
func (b *blackhole) close() {
	_ = b.listener.Close()
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, connection := range b.taken {
		_ = connection.Close()
	}
}

const (
	// stuck is how many requests wait for a webhook that does not answer.
	stuck = 100
	// passing is how many requests are measured beside them.
	passing = 200
)

// TestADeadWebhookKeepsNobodyElse measures a workspace with a webhook that answers, first
// alone and then while another workspace waits for one that does not.
func TestADeadWebhookKeepsNobodyElse(t *testing.T) {
	server, hooks := servertest.Start(t), webhooktest.Start(t)
	dead, alive := newWorkspace(t, server, hooks), newWorkspace(t, server, hooks)
	hole := newBlackhole(t)
	address := "https://" + hole.listener.Addr().String()
	hooks.Handle("/alive", webhooktest.Allow)
	alive.registerValidating(t, "same", alive.validating("same", "/alive"))
	dead.registerValidating(t, "same", dead.validating("same", "/dead", func(h *admissionregistrationv1.ValidatingWebhook) {
		h.ClientConfig.URL, h.TimeoutSeconds = &address, ptr.To(int32(30))
	}))
	alone := alive.measure(t)

	var wait sync.WaitGroup
	answered := make(chan error, stuck)
	for range stuck {
		wait.Go(func() {
			_, err := dead.client.CoreV1().ConfigMaps("default").Create(t.Context(), generated(), metav1.CreateOptions{})
			answered <- err
		})
	}
	servertest.Eventually(t, "all to wait", func() (bool, any) { return hole.waiting() >= stuck, hole.waiting() })
	beside := alive.measure(t)
	select {
	case err := <-answered:
		t.Fatalf("nobody was to be answered: %v", err)
	default:
	}
	t.Logf("median of %d creates: %s alone, %s beside %d requests that wait", passing, alone, beside, stuck)
	if beside > 10*alone+time.Second {
		t.Errorf("it is slowed down from %s to %s", alone, beside)
	}
	// With the configuration nobody waits for it any more, only those that do already.
	must(t, dead.client.AdmissionregistrationV1().ValidatingWebhookConfigurations().Delete(t.Context(), "same", metav1.DeleteOptions{}))
	dead.untilCreated(t, nil, isAllowed)
	hole.close()
	wait.Wait()
}

func generated() *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{GenerateName: "a-"}}
}

// measure returns how long the creation of a ConfigMap takes in the median.
func (w *workspace) measure(t *testing.T) time.Duration {
	t.Helper()
	took := make([]time.Duration, passing)
	for i := range took {
		begun := time.Now()
		_, err := w.client.CoreV1().ConfigMaps("default").Create(t.Context(), generated(), metav1.CreateOptions{})
		must(t, err)
		took[i] = time.Since(begun)
	}
	slices.Sort(took)
	return took[passing/2]
}
