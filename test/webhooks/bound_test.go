package webhooks

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apiserver/pkg/storage/names"

	"github.com/forkless/kcp/internal/admission/webhooks/webhooktest"
	"github.com/forkless/kcp/internal/servertest"
)

// cowboy creates a cowboy in a namespace.
func (w *workspace) cowboy(t testing.TB, namespace, name string) (*unstructured.Unstructured, error) {
	t.Helper()
	cowboy := servertest.Cowboy(name)
	cowboy.SetNamespace(namespace)
	return w.dynamic.Resource(servertest.Cowboys).Namespace(namespace).Create(t.Context(), cowboy, metav1.CreateOptions{})
}

// newConsumer makes a workspace that has bound the export of provider, and has a namespace
// called team with a label.
func newConsumer(t testing.TB, provider *workspace, label string) *workspace {
	t.Helper()
	w := newWorkspace(t, provider.server, provider.hooks)
	servertest.Bind(t, w.config, provider.name, "wildwest")
	_, err := w.client.CoreV1().Namespaces().Create(t.Context(), &corev1.Namespace{
		ObjectMeta: metav1.ObjectMeta{Name: "team", Labels: map[string]string{"watched": label}},
	}, metav1.CreateOptions{})
	must(t, err)
	return w
}

// TestBoundObjects: the provider of an API configures webhooks for it, and its consumers do
// not.
func TestBoundObjects(t *testing.T) {
	server, hooks := servertest.Start(t), webhooktest.Start(t)
	provider := newWorkspace(t, server, hooks)
	servertest.Export(t, provider.config, "wildwest", nil, servertest.CowboySchema())
	watched, unwatched := newConsumer(t, provider, "yes"), newConsumer(t, provider, "no")
	cowboys := rule("wildwest.dev/v1alpha1/cowboys", admissionregistrationv1.Create, admissionregistrationv1.Update)

	hooks.Handle("/consumer", webhooktest.Deny("a consumer does not decide about this"))
	for _, w := range []*workspace{watched, unwatched} {
		w.registerValidating(t, "mine", w.validating("mine", "/consumer", func(h *admissionregistrationv1.ValidatingWebhook) { h.Rules = cowboys }))
		w.registerMutating(t, "mine", w.mutating("mine", "/consumer", func(h *admissionregistrationv1.MutatingWebhook) { h.Rules = cowboys }))
	}
	if _, err := watched.cowboy(t, "default", "early"); err != nil {
		t.Fatalf("webhooks of the consumer are not asked about what it has bound: %v", err)
	}
	if reviews := hooks.Reviews("/consumer"); len(reviews) > 0 {
		t.Errorf("a consumer saw %d reviews", len(reviews))
	}

	hooks.Handle("/mutate", webhooktest.Patch(webhooktest.Add("/metadata/labels", map[string]string{"by": "provider"})))
	provider.registerMutating(t, "theirs", provider.mutating("theirs", "/mutate", func(h *admissionregistrationv1.MutatingWebhook) { h.Rules = cowboys }))
	hooks.Handle("/validate", webhooktest.Deny("the provider does not like this"))
	provider.registerValidating(t, "theirs", provider.validating("theirs", "/validate", func(h *admissionregistrationv1.ValidatingWebhook) {
		h.Rules = cowboys
		h.NamespaceSelector = &metav1.LabelSelector{MatchLabels: map[string]string{"watched": "yes"}}
	}))

	created, err := watched.cowboy(t, "default", "fine")
	must(t, err)
	if created.GetLabels()["by"] != "provider" {
		t.Errorf("the webhook of the provider was not asked: %v", created.GetLabels())
	}
	_, err = watched.cowboy(t, "team", "watched")
	denied(t, err, "the provider does not like this")
	if _, err := unwatched.cowboy(t, "team", "unwatched"); err != nil {
		t.Errorf("the namespace of this consumer is not selected: %v", err)
	}
	_, err = unwatched.client.CoreV1().Namespaces().Patch(t.Context(), "team", types.MergePatchType, []byte(`{"metadata":{"labels":{"watched":"yes"}}}`), metav1.PatchOptions{})
	must(t, err)
	// Labels of namespaces reach the webhooks through a watch, as everywhere.
	servertest.Eventually(t, "objects of the labelled namespace are denied", func() (bool, any) {
		_, err := unwatched.cowboy(t, "team", names.SimpleNameGenerator.GenerateName("later-"))
		return err != nil && strings.Contains(err.Error(), "the provider does not like this"), err
	})

	var clusters []string
	for _, review := range hooks.Reviews("/mutate") {
		object := webhooktest.Object(t, review.Request)
		clusters = append(clusters, object.GetAnnotations()["kcp.io/cluster"])
		if review.Request.UserInfo.Username != "kcp-admin" {
			t.Errorf("the request is by %q", review.Request.UserInfo.Username)
		}
	}
	for _, w := range []*workspace{watched, unwatched} {
		if !slices.Contains(clusters, w.name) {
			t.Errorf("no review says that an object is in %s: %v", w.name, clusters)
		}
	}
	if _, err := watched.create(t, "not-bound", nil); err != nil {
		t.Errorf("what is not bound is the consumer's own business: %v", err)
	}
}

// TestManyConsumers: what a provider configures is in force for all consumers at once, each
// with its own namespaces and the permissions that its own callers have.
func TestManyConsumers(t *testing.T) {
	server, hooks := servertest.Start(t), webhooktest.Start(t)
	provider := newWorkspace(t, server, hooks)
	servertest.Export(t, provider.config, "wildwest", nil, servertest.CowboySchema())
	hooks.Handle("/deny", webhooktest.Deny("not here"))
	const consumers = 6
	var all []*workspace
	for i := range consumers {
		all = append(all, newConsumer(t, provider, fmt.Sprint(i%2 == 0)))
	}
	provider.registerValidating(t, "theirs", provider.validating("theirs", "/deny", func(h *admissionregistrationv1.ValidatingWebhook) {
		h.Rules = rule("wildwest.dev/v1alpha1/cowboys", admissionregistrationv1.Create)
		h.NamespaceSelector = &metav1.LabelSelector{MatchLabels: map[string]string{"watched": "true"}}
		h.MatchConditions = []admissionregistrationv1.MatchCondition{{
			Name: "may", Expression: "authorizer.group('wildwest.dev').resource('cowboys').namespace('team').check('create').allowed()",
		}}
	}))
	results := make(chan error)
	for i, w := range all {
		go func() {
			for n := range 20 {
				_, err := w.cowboy(t, "team", fmt.Sprint("cowboy-", n))
				if watched := i%2 == 0; watched != (err != nil) {
					results <- fmt.Errorf("consumer %d, watched %t: %w", i, watched, err)
					return
				}
			}
			results <- nil
		}()
	}
	for range all {
		if err := <-results; err != nil {
			t.Error(err)
		}
	}
}
