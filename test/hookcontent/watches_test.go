package hookcontent

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	admissionv1 "k8s.io/api/admission/v1"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/utils/ptr"

	"github.com/forkless/kcp/internal/admission/webhooks/webhooktest"
	"github.com/forkless/kcp/internal/servertest"
)

var watchBehavior = map[string]behavior{
	"Initializer": {"36: a watch ends with the turn of its initializer", watchOfInitializer},
	"Terminator":  {"42: and with that of its terminator, while another goes on", watchOfTerminator},
	"Rules":       {"37: rules that do not allow it any more end it, others do not", watchAndRules},
	"HeldUp":      {"a write that is held up is not made after the turn of its hook", heldUp},
	"Deletion":    {"a workspace that is deleted while it initializes has no initializers any more", watchAndDeletion},
}

// watching makes a namespace in a new workspace, by way of a hook, and watches ConfigMaps.
func (s *suite) watching(t *testing.T, kind, workspaceType, cluster string) watch.Interface {
	t.Helper()
	w, err := s.hook(t, controller, kind, workspaceType, cluster).CoreV1().ConfigMaps("").Watch(t.Context(), metav1.ListOptions{})
	must(t, err)
	t.Cleanup(w.Stop)
	return w
}

// fill makes a ConfigMap, and its namespace, as the creator.
func (s *suite) fill(t *testing.T, cluster, name string) {
	t.Helper()
	inside := s.kube(t, s.server.As(t, creator, cluster)).CoreV1()
	if _, err := inside.Namespaces().Get(t.Context(), "work", metav1.GetOptions{}); err != nil {
		_, err := inside.Namespaces().Create(t.Context(), namespace("work"), metav1.CreateOptions{})
		must(t, err)
	}
	_, err := inside.ConfigMaps("work").Create(t.Context(), configMap(name), metav1.CreateOptions{})
	must(t, err)
}

func watchOfInitializer(t *testing.T, s *suite) {
	for _, workspaceType := range []string{"ruled", "trusted"} {
		ws := s.newborn(t, workspaceType)
		w := s.watching(t, initializing, workspaceType, ws.Spec.Cluster)
		s.fill(t, ws.Spec.Cluster, "a")
		sees(t, w, "a")
		s.release(t, initializing, workspaceType, ws.Spec.Cluster)
		ended(t, w)
	}
}

func watchOfTerminator(t *testing.T, s *suite) {
	ws := s.grown(t, "both", "ruled", "trusted")
	s.fill(t, ws.Spec.Cluster, "a")
	s.remove(t, ws.Name)
	ruled := s.watching(t, ending, "ruled", ws.Spec.Cluster)
	trusted := s.watching(t, ending, "trusted", ws.Spec.Cluster)
	s.release(t, ending, "trusted", ws.Spec.Cluster)
	ended(t, trusted)
	s.release(t, ending, "ruled", ws.Spec.Cluster)
	ended(t, ruled)
	s.awaitGone(t, ws.Name)
}

func watchAndRules(t *testing.T, s *suite) {
	s.create(t, s.types, `
- apiVersion: tenancy.kcp.io/v1alpha1
  kind: WorkspaceType
  metadata: {name: changing}
  spec:
    initializer: true
    initializerPermissions: [{apiGroups: [""], resources: [configmaps], verbs: [watch]}]
`)
	ws := s.newborn(t, "changing")
	w := s.watching(t, initializing, "changing", ws.Spec.Cluster)
	s.patchType(t, "changing", `{"spec":{"initializerPermissions":[{"apiGroups":[""],"resources":["configmaps"],"verbs":["list","watch"]}]}}`)
	s.fill(t, ws.Spec.Cluster, "a")
	sees(t, w, "a")
	s.patchType(t, "changing", `{"spec":{"initializerPermissions":[{"apiGroups":[""],"resources":["configmaps"],"verbs":["list"]}]}}`)
	ended(t, w)
}

func watchAndDeletion(t *testing.T, s *suite) {
	ws := s.newborn(t, "ruled")
	w := s.watching(t, initializing, "ruled", ws.Spec.Cluster)
	s.remove(t, ws.Name)
	ended(t, w)
}

// heldUp tells the story of a controller that outlives its turn: it has a write held up by a
// webhook of its own, and lets it go when the workspace is somebody else's.
func heldUp(t *testing.T, s *suite) {
	ws := s.newborn(t, "trusted")
	cluster := ws.Spec.Cluster
	webhooks, asked, answer := webhooktest.Start(t), make(chan string, 10), make(chan struct{})
	defer close(answer)
	webhooks.Handle("/hold", func(review *admissionv1.AdmissionRequest) *admissionv1.AdmissionResponse {
		asked <- review.UserInfo.Username
		<-answer
		return webhooktest.Allow(review)
	})
	hook := s.hook(t, controller, initializing, "trusted", cluster)
	none := admissionregistrationv1.SideEffectClassNone
	_, err := hook.AdmissionregistrationV1().ValidatingWebhookConfigurations().Create(t.Context(), &admissionregistrationv1.ValidatingWebhookConfiguration{
		ObjectMeta: metav1.ObjectMeta{Name: "hold"},
		Webhooks: []admissionregistrationv1.ValidatingWebhook{{
			Name: "hold.example.com", ClientConfig: webhooks.Client("/hold"), SideEffects: &none, AdmissionReviewVersions: []string{"v1"},
			TimeoutSeconds: ptr.To[int32](30),
			Rules: []admissionregistrationv1.RuleWithOperations{{
				Operations: []admissionregistrationv1.OperationType{admissionregistrationv1.Create},
				Rule:       admissionregistrationv1.Rule{APIGroups: []string{""}, APIVersions: []string{"v1"}, Resources: []string{"namespaces"}},
			}},
		}},
	}, metav1.CreateOptions{})
	must(t, err)
	done := make(chan error, 1)
	servertest.Eventually(t, "the webhook is asked", func() (bool, any) {
		// It may take a moment until the configuration is known.
		name := fmt.Sprintf("held-%d", time.Now().UnixNano())
		go func() {
			_, err := hook.CoreV1().Namespaces().Create(context.WithoutCancel(t.Context()), namespace(name), metav1.CreateOptions{})
			done <- err
		}()
		select {
		case who := <-asked:
			if who != creatorName {
				t.Errorf("webhooks see who acts, which is not %s", who)
			}
			return true, nil
		case err := <-done:
			return false, err
		}
	})
	s.release(t, initializing, "trusted", cluster)
	s.await(t, ws.Name, "it is ready", isReady)
	select {
	case err := <-done:
		if err == nil || strings.Contains(err.Error(), "deadline exceeded") {
			t.Errorf("it was to be ended, not %v", err)
		}
	case <-time.After(servertest.Patience):
		t.Error("the write is still held up")
	}
}
