package webhooks_test

import (
	"context"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	admissionv1 "k8s.io/api/admission/v1"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	"k8s.io/kubernetes/pkg/api/legacyscheme"
	"k8s.io/kubernetes/pkg/apis/admissionregistration"
	convert "k8s.io/kubernetes/pkg/apis/admissionregistration/v1"
	"k8s.io/kubernetes/pkg/apis/core"

	"github.com/forkless/kcp/internal/admission/admissiontest"
	"github.com/forkless/kcp/internal/admission/configurations"
	"github.com/forkless/kcp/internal/admission/informers"
	"github.com/forkless/kcp/internal/admission/webhooks"
	"github.com/forkless/kcp/internal/admission/webhooks/webhooktest"
	"github.com/forkless/kcp/internal/servertest/heap"
	"github.com/forkless/kcp/pkg/logicalcluster"

	// The types of requests.
	_ "k8s.io/kubernetes/pkg/apis/core/install"
)

var here = logicalcluster.MustParseName("here")

// noNamespaces reads namespaces where there are none.
type noNamespaces struct{}

// Get returns a NotFound Status error.
func (noNamespaces) Get(_ context.Context, _ logicalcluster.Name, name string) (*core.Namespace, error) {
	return nil, apierrors.NewNotFound(corev1.Resource("namespaces"), name)
}

// GetCurrent returns a NotFound Status error.
func (n noNamespaces) GetCurrent(ctx context.Context, cluster logicalcluster.Name, name string) (*core.Namespace, error) {
	return n.Get(ctx, cluster, name)
}

func config(index *configurations.Index) webhooks.Config {
	return webhooks.Config{
		Sources: informers.Sources{Index: index, Namespaces: noNamespaces{}},
		Authorizer: authorizer.AuthorizerFunc(func(context.Context, authorizer.Attributes) (authorizer.Decision, string, error) {
			return authorizer.DecisionDeny, "", nil
		}),
	}
}

// validating returns a configuration as its store holds it.
func validating(t testing.TB, place logicalcluster.Name, hook admissionregistrationv1.ValidatingWebhook) *admissionregistration.ValidatingWebhookConfiguration {
	t.Helper()
	in := &admissionregistrationv1.ValidatingWebhookConfiguration{
		ObjectMeta: metav1.ObjectMeta{Name: "a", Annotations: map[string]string{logicalcluster.AnnotationKey: place.String()}},
		Webhooks:   []admissionregistrationv1.ValidatingWebhook{hook},
	}
	none := admissionregistrationv1.SideEffectClassNone
	in.Webhooks[0].Name, in.Webhooks[0].SideEffects, in.Webhooks[0].AdmissionReviewVersions = "a.webhooks.test", &none, []string{"v1"}
	in.Webhooks[0].NamespaceSelector, in.Webhooks[0].ObjectSelector = &metav1.LabelSelector{}, &metav1.LabelSelector{}
	out := &admissionregistration.ValidatingWebhookConfiguration{}
	if err := convert.Convert_v1_ValidatingWebhookConfiguration_To_admissionregistration_ValidatingWebhookConfiguration(in, out, nil); err != nil {
		t.Fatal(err)
	}
	return out
}

func everything(operation admissionregistrationv1.OperationType, resource string) []admissionregistrationv1.RuleWithOperations {
	return []admissionregistrationv1.RuleWithOperations{{
		Operations: []admissionregistrationv1.OperationType{operation},
		Rule:       admissionregistrationv1.Rule{APIGroups: []string{"*"}, APIVersions: []string{"*"}, Resources: []string{resource}},
	}}
}

// TestUpstream has the test of upstream's that cannot be shown through the API: no
// workspace has pods.
func TestUpstream(t *testing.T) {
	t.Run("should be able to deny attaching pod", func(t *testing.T) {
		hooks, index := webhooktest.Start(t), admissiontest.NoConfigurations()
		defer index.Close()
		hooks.Handle("/attach", webhooktest.Deny("attaching to pod 'to-be-attached-pod' is not allowed"))
		index.Listener().Changed(configurations.ValidatingWebhooks, validating(t, here, admissionregistrationv1.ValidatingWebhook{
			ClientConfig: hooks.Client("/attach"), Rules: everything(admissionregistrationv1.Connect, "pods/attach"),
		}))
		plugin := webhooks.NewValidating(config(index))
		if !plugin.Handles(admission.Connect) {
			t.Fatal("the plugin is not asked about connections")
		}
		attributes := admissiontest.Request{
			Resource: corev1.SchemeGroupVersion.WithResource("pods"), Kind: "PodAttachOptions", Subresource: "attach", Namespace: "default", Name: "to-be-attached-pod",
			Operation: admission.Connect, Object: &core.PodAttachOptions{Container: "container1"},
		}.Attributes()
		err := plugin.Validate(admissiontest.In(t, here), attributes, admission.NewObjectInterfacesFromScheme(legacyscheme.Scheme))
		if err == nil || !strings.Contains(err.Error(), "attaching to pod 'to-be-attached-pod' is not allowed") {
			t.Errorf("got %v", err)
		}
	})
}

// create is a request that creates a ConfigMap.
func create(annotations map[string]string) admission.Attributes {
	return admissiontest.Request{
		Resource: corev1.SchemeGroupVersion.WithResource("configmaps"), Kind: "ConfigMap", Namespace: "default", Name: "a",
		Operation: admission.Create, Object: &core.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "a", Annotations: annotations}},
	}.Attributes()
}

func validate(t testing.TB, plugin *webhooks.Validating, place logicalcluster.Name, a admission.Attributes) error {
	t.Helper()
	return plugin.Validate(admissiontest.In(t, place), a, admission.NewObjectInterfacesFromScheme(legacyscheme.Scheme))
}

func TestTheAnnotationIsForWebhooksOnly(t *testing.T) {
	hooks, index := webhooktest.Start(t), admissiontest.NoConfigurations()
	defer index.Close()
	hooks.Handle("/see", webhooktest.Allow)
	index.Listener().Changed(configurations.ValidatingWebhooks, validating(t, here, admissionregistrationv1.ValidatingWebhook{
		ClientConfig: hooks.Client("/see"), Rules: everything(admissionregistrationv1.Create, "configmaps"),
	}))
	alone := config(index)
	alone.Single = true
	for name, tc := range map[string]struct {
		reason      string
		config      webhooks.Config
		sent, shown map[string]string
	}{
		"None":   {"no annotations are left where there were none", config(index), nil, map[string]string{logicalcluster.AnnotationKey: "here"}},
		"Others": {"others stay", config(index), map[string]string{"a": "b"}, map[string]string{"a": "b", logicalcluster.AnnotationKey: "here"}},
		"Forged": {
			"what a client has sent is for others to correct", config(index),
			map[string]string{logicalcluster.AnnotationKey: "there"}, map[string]string{logicalcluster.AnnotationKey: "here"},
		},
		"Single":       {"who knows of one cluster only is not told of it", alone, nil, nil},
		"SingleStored": {"what is to be stored stays as it is", alone, map[string]string{"a": "b", logicalcluster.AnnotationKey: "here"}, map[string]string{"a": "b"}},
	} {
		t.Run(name, func(t *testing.T) {
			plugin := webhooks.NewValidating(tc.config)
			attributes := create(tc.sent)
			if err := validate(t, plugin, here, attributes); err != nil {
				t.Fatal(err)
			}
			reviews := hooks.Reviews("/see")
			shown := webhooktest.Object(t, reviews[len(reviews)-1].Request).GetAnnotations()
			if diff := cmp.Diff(tc.shown, shown); diff != "" {
				t.Errorf("the webhook is told where the object is (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tc.sent, attributes.GetObject().(*core.ConfigMap).Annotations); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

func TestNotReady(t *testing.T) {
	index := configurations.NewIndex(nil)
	defer index.Close()
	ctx, cancel := context.WithTimeout(admissiontest.In(t, here), time.Millisecond)
	defer cancel()
	plugin := webhooks.NewValidating(config(index))
	if err := plugin.Validate(ctx, create(nil), nil); err == nil {
		t.Error("a request slipped past configurations that are not known yet")
	}
	exempt := admissiontest.Request{
		Resource:  admissionregistrationv1.SchemeGroupVersion.WithResource("validatingwebhookconfigurations"),
		Kind:      "ValidatingWebhookConfiguration",
		Operation: admission.Delete,
	}.Attributes()
	if err := plugin.Validate(admissiontest.In(t, here), exempt, nil); err != nil {
		t.Errorf("configurations can always be removed: %v", err)
	}
	if err := plugin.Validate(t.Context(), create(nil), nil); !apierrors.IsInternalError(err) {
		t.Errorf("a request without a cluster is a mistake, got %v", err)
	}
}

// TestConnectionsEndWithTheConfiguration: a workspace that was busy leaves nothing open.
func TestConnectionsEndWithTheConfiguration(t *testing.T) {
	hooks, index := webhooktest.Start(t), admissiontest.NoConfigurations()
	defer index.Close()
	hooks.Handle("/allow", webhooktest.Allow)
	told, plugin := index.Listener(), webhooks.NewValidating(config(index))
	before := runtime.NumGoroutine()
	const clusters = 20
	stored := make([]*admissionregistration.ValidatingWebhookConfiguration, clusters)
	for i := range stored {
		place := logicalcluster.MustParseName("cluster-" + string(rune('a'+i)))
		stored[i] = validating(t, place, admissionregistrationv1.ValidatingWebhook{
			ClientConfig: hooks.Client("/allow"), Rules: everything(admissionregistrationv1.Create, "configmaps"),
		})
		told.Changed(configurations.ValidatingWebhooks, stored[i])
		if err := validate(t, plugin, place, create(nil)); err != nil {
			t.Fatal(err)
		}
	}
	if open := runtime.NumGoroutine() - before; open < clusters {
		t.Fatalf("each workspace has a connection of its own, but there are %d goroutines more", open)
	}
	for i := range stored {
		told.Gone(configurations.ValidatingWebhooks, stored[i])
	}
	var left int
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); runtime.Gosched() {
		if left = runtime.NumGoroutine() - before; left <= 2 {
			return
		}
	}
	t.Errorf("%d goroutines are left", left)
}

// TestAConnectionInUseIsClosedAfterItsAnswer: whoever waits for an answer gets it.
func TestAConnectionInUseIsClosedAfterItsAnswer(t *testing.T) {
	hooks, index := webhooktest.Start(t), admissiontest.NoConfigurations()
	defer index.Close()
	asked, answer := make(chan struct{}), make(chan struct{})
	hooks.Handle("/slow", func(r *admissionv1.AdmissionRequest) *admissionv1.AdmissionResponse {
		close(asked)
		<-answer
		return webhooktest.Deny("late")(r)
	})
	stored := validating(t, here, admissionregistrationv1.ValidatingWebhook{
		ClientConfig: hooks.Client("/slow"), Rules: everything(admissionregistrationv1.Create, "configmaps"),
	})
	told, plugin := index.Listener(), webhooks.NewValidating(config(index))
	told.Changed(configurations.ValidatingWebhooks, stored)
	before := runtime.NumGoroutine()
	result := make(chan error)
	go func() { result <- validate(t, plugin, here, create(nil)) }()
	<-asked
	told.Gone(configurations.ValidatingWebhooks, stored)
	close(answer)
	if err := <-result; err == nil || !strings.Contains(err.Error(), "late") {
		t.Errorf("got %v", err)
	}
	var left int
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); runtime.Gosched() {
		if left = runtime.NumGoroutine() - before; left <= 1 {
			return
		}
	}
	t.Errorf("%d goroutines are left", left)
}

// TestConfigurationsComeAndGo lets requests race with the configurations they are made
// under. Whatever comes first, each request is answered.
func TestConfigurationsComeAndGo(t *testing.T) {
	hooks, index := webhooktest.Start(t), admissiontest.NoConfigurations()
	defer index.Close()
	hooks.Handle("/deny", webhooktest.Deny("no"))
	told, plugin := index.Listener(), webhooks.NewValidating(config(index))
	stored := validating(t, here, admissionregistrationv1.ValidatingWebhook{
		ClientConfig: hooks.Client("/deny"), Rules: everything(admissionregistrationv1.Create, "configmaps"),
	})
	ctx, stop := context.WithCancel(t.Context())
	var wait sync.WaitGroup
	wait.Go(func() {
		for ctx.Err() == nil {
			told.Changed(configurations.ValidatingWebhooks, stored)
			runtime.Gosched()
			told.Gone(configurations.ValidatingWebhooks, stored)
		}
	})
	defer wait.Wait()
	defer stop()
	for range 200 {
		if err := validate(t, plugin, here, create(nil)); err != nil && !strings.Contains(err.Error(), "denied the request: no") {
			t.Fatalf("a request is refused by the webhook or not asked about, got %v", err)
		}
	}
}

// largestInstance bounds the memory of a workspace with a webhook that has been asked.
// Most of it are the environments of CEL that upstream's plugin makes.
const largestInstance = 768 << 10

func TestMemory(t *testing.T) {
	hooks, index := webhooktest.Start(t), admissiontest.NoConfigurations()
	defer index.Close()
	hooks.Handle("/allow", webhooktest.Allow)
	plugin := webhooks.NewValidating(config(index))
	use := func(from, to int) {
		for i := from; i < to; i++ {
			place := logicalcluster.MustParseName("cluster-" + string(rune('a'+i/26)) + string(rune('a'+i%26)))
			index.Listener().Changed(configurations.ValidatingWebhooks, validating(t, place, admissionregistrationv1.ValidatingWebhook{
				ClientConfig: hooks.Client("/allow"), Rules: everything(admissionregistrationv1.Create, "configmaps"),
				MatchConditions: []admissionregistrationv1.MatchCondition{{Name: "a", Expression: "object.metadata.name == 'a'"}},
			}))
			if err := validate(t, plugin, place, create(nil)); err != nil {
				t.Fatal(err)
			}
		}
	}
	use(0, 10) // what all instances share
	const instances = 100
	before := heap.InUse()
	use(10, 10+instances)
	each := (heap.InUse() - before) / instances
	t.Logf("%d KB for each workspace with a webhook, both ends of the connection included", each>>10)
	if each > largestInstance {
		t.Errorf("%d bytes for each, want at most %d", each, largestInstance)
	}
}

// TestServiceForm: a service is looked up in DNS under its name in a cluster.
func TestServiceForm(t *testing.T) {
	index := admissiontest.NoConfigurations()
	defer index.Close()
	port := int32(8443)
	index.Listener().Changed(configurations.ValidatingWebhooks, validating(t, here, admissionregistrationv1.ValidatingWebhook{
		ClientConfig: admissionregistrationv1.WebhookClientConfig{Service: &admissionregistrationv1.ServiceReference{Namespace: "nowhere", Name: "hook", Port: &port}},
		Rules:        everything(admissionregistrationv1.Create, "configmaps"),
	}))
	err := validate(t, webhooks.NewValidating(config(index)), here, create(nil))
	if err == nil || !strings.Contains(err.Error(), "hook.nowhere.svc:8443") {
		t.Errorf("got %v", err)
	}
}
