package webhooks_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	"k8s.io/kubernetes/pkg/apis/core"

	"github.com/forkless/kcp/internal/admission/admissiontest"
	"github.com/forkless/kcp/internal/admission/configurations"
	"github.com/forkless/kcp/internal/admission/informers"
	"github.com/forkless/kcp/internal/admission/webhooks"
	"github.com/forkless/kcp/internal/admission/webhooks/webhooktest"
	"github.com/forkless/kcp/internal/servertest/heap"
	"github.com/forkless/kcp/pkg/logicalcluster"
)

var provider = logicalcluster.MustParseName("provider")

// boundByAll says that every cluster has its ConfigMaps from an export of provider, but
// for those called local.
type boundByAll struct{}

func (boundByAll) BoundFrom(in logicalcluster.Name, _ schema.GroupResource) (logicalcluster.Name, string, bool) {
	return provider, "configmaps", !strings.HasPrefix(in.String(), "local")
}

// teams are namespaces with a label that is the name of their cluster.
type teams struct{}

func (teams) Get(_ context.Context, cluster logicalcluster.Name, name string) (*core.Namespace, error) {
	return &core.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"of": cluster.String()}}}, nil
}

func (t teams) GetCurrent(ctx context.Context, cluster logicalcluster.Name, name string) (*core.Namespace, error) {
	return t.Get(ctx, cluster, name)
}

// boundConfig allows what is asked about in clusters whose names end in -b.
func boundConfig(index *configurations.Index) webhooks.Config {
	return webhooks.Config{
		Sources: informers.Sources{Index: index, Namespaces: teams{}},
		Authorizer: authorizer.AuthorizerFunc(func(ctx context.Context, _ authorizer.Attributes) (authorizer.Decision, string, error) {
			cluster, err := logicalcluster.Require(ctx)
			if err == nil && strings.HasSuffix(cluster.String(), "-b") {
				return authorizer.DecisionAllow, "", nil
			}
			return authorizer.DecisionDeny, "", err
		}),
	}
}

func consumer(i int) logicalcluster.Name {
	return logicalcluster.MustParseName(fmt.Sprintf("consumer-%d-%s", i, string("ab"[i%2])))
}

func TestWebhooksOfProviders(t *testing.T) {
	hooks, index := webhooktest.Start(t), admissiontest.NoConfigurationsWith(boundByAll{})
	defer index.Close()
	hooks.Handle("/deny", webhooktest.Deny("not so"))
	set := func(place logicalcluster.Name, selector *metav1.LabelSelector, conditions ...admissionregistrationv1.MatchCondition) {
		configuration := validating(t, place, admissionregistrationv1.ValidatingWebhook{
			ClientConfig: hooks.Client("/deny"), Rules: everything(admissionregistrationv1.Create, "configmaps"), MatchConditions: conditions,
		})
		configuration.Webhooks[0].NamespaceSelector = selector
		index.Listener().Changed(configurations.ValidatingWebhooks, configuration)
	}
	all := &metav1.LabelSelector{}
	plugin := webhooks.NewValidating(boundConfig(index))
	expect := func(reason string, place logicalcluster.Name, denied bool) {
		t.Helper()
		err := validate(t, plugin, place, create(nil))
		if denied != (err != nil && strings.Contains(err.Error(), "denied the request: not so")) || !denied && err != nil {
			t.Errorf("%s: got %v", reason, err)
		}
	}
	local := logicalcluster.MustParseName("local")
	set(consumer(0), all)
	expect("a webhook of the consumer is not asked about what is bound", consumer(0), false)
	set(local, all)
	expect("one in a workspace that defines the resource itself is", local, true)
	set(provider, all)
	expect("a webhook of the provider is asked about bound objects", consumer(0), true)
	expect("wherever they are", consumer(1), true)
	expect("if the provider has bound its own export, too", provider, true)

	set(provider, &metav1.LabelSelector{MatchLabels: map[string]string{"of": consumer(1).String()}})
	expect("namespaces are those of the consumer", consumer(0), false)
	expect("of each consumer its own", consumer(1), true)
	expect("and never those of the provider", provider, false)

	set(provider, all, admissionregistrationv1.MatchCondition{
		Name: "may", Expression: "authorizer.group('').resource('secrets').check('get').allowed()",
	}, admissionregistrationv1.MatchCondition{
		Name: "account-may", Expression: "authorizer.serviceAccount('default', 'x').group('').resource('secrets').check('get').allowed()",
	})
	expect("permissions are those in the consumer", consumer(0), false)
	expect("of each consumer, also when a plugin was used in another before", consumer(1), true)
	expect("and never those with the provider", provider, false)
}

// TestManyConsumersAtATime: whoever asks gets the answer for his own workspace.
func TestManyConsumersAtATime(t *testing.T) {
	hooks, index := webhooktest.Start(t), admissiontest.NoConfigurationsWith(boundByAll{})
	defer index.Close()
	hooks.Handle("/deny", webhooktest.Deny("not so"))
	configuration := validating(t, provider, admissionregistrationv1.ValidatingWebhook{
		ClientConfig: hooks.Client("/deny"), Rules: everything(admissionregistrationv1.Create, "configmaps"),
		MatchConditions: []admissionregistrationv1.MatchCondition{{
			Name: "may", Expression: "authorizer.group('').resource('secrets').check('get').allowed()",
		}},
	})
	configuration.Webhooks[0].NamespaceSelector = &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{
		{Key: "of", Operator: metav1.LabelSelectorOpNotIn, Values: []string{consumer(3).String()}},
	}}
	index.Listener().Changed(configurations.ValidatingWebhooks, configuration)
	plugin := webhooks.NewValidating(boundConfig(index))

	var wait sync.WaitGroup
	for worker := range 8 {
		wait.Go(func() {
			for i := range 50 {
				n := (worker*7 + i) % 10
				err := validate(t, plugin, consumer(n), create(nil))
				if asked := n%2 == 1 && n != 3; asked != (err != nil) {
					t.Errorf("%s: asked %t, got %v", consumer(n), asked, err)
				}
			}
		})
	}
	wait.Wait()
}

// TestMemoryOfConsumers: ten thousand consumers of one export take no plugin each.
func TestMemoryOfConsumers(t *testing.T) {
	hooks, index := webhooktest.Start(t), admissiontest.NoConfigurationsWith(boundByAll{})
	defer index.Close()
	hooks.Handle("/allow", webhooktest.Allow)
	index.Listener().Changed(configurations.ValidatingWebhooks, validating(t, provider, admissionregistrationv1.ValidatingWebhook{
		ClientConfig: hooks.Client("/allow"), Rules: everything(admissionregistrationv1.Create, "configmaps"),
	}))
	plugin := webhooks.NewValidating(boundConfig(index))
	use := func(from, to int) {
		for i := from; i < to; i++ {
			if err := validate(t, plugin, consumer(i), create(nil)); err != nil {
				t.Fatal(err)
			}
		}
	}
	use(0, 10)
	const consumers = 1000
	before := heap.InUse()
	use(10, 10+consumers)
	// What is left are the reviews that the webhook of this test remembers.
	if each := (heap.InUse() - before) / consumers; each > 2<<10 {
		t.Errorf("%d bytes for each consumer, want none", each)
	}
}
