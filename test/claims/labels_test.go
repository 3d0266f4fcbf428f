package claims

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/forkless/kcp/internal/apihash"
	"github.com/forkless/kcp/internal/servertest"
	apisv1alpha1 "github.com/forkless/kcp/pkg/apis/apis/v1alpha1"
	apisv1alpha2 "github.com/forkless/kcp/pkg/apis/apis/v1alpha2"
	"github.com/forkless/kcp/pkg/apis/conditions"
)

func TestLabelsFollowAnswers(t *testing.T) {
	server := servertest.Start(t)
	maps := claim(configMaps, "*")
	provider, consumer := newProvider(t, server, maps), newWorkspace(t, server)
	key, value := label(t, provider, maps)
	claimed := map[string]string{key: value}

	consumer.create(configMaps, configMap("early", nil))
	before := consumer.create(secrets, &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: home, Name: "mine"}}).GetResourceVersion()
	consumer.bind("sharing", provider, exportName)
	consumer.awaitClaims("sharing")
	same(t, "an export may ask, and gets nothing without an answer", map[string]string(nil), claimLabels(consumer.get(configMaps, "early")))

	consumer.answer("sharing", accept(maps, everything))
	consumer.awaitLabels(configMaps, "early", claimed)
	consumer.awaitClaims("sharing")
	late := consumer.create(configMaps, configMap("late", map[string]string{"a": "b"}))
	same(t, "what is created is labeled at once", map[string]string{"a": "b", key: value}, late.GetLabels())
	applied := consumer.binding("sharing").Status.AppliedPermissionClaims
	same(t, "the binding says what is in force", []apisv1alpha2.ScopedPermissionClaim{{PermissionClaim: maps, Selector: everything}}, applied)
	same(t, "and what is asked", []apisv1alpha2.PermissionClaim{maps}, consumer.binding("sharing").Status.ExportPermissionClaims)
	same(t, "what is not claimed is not touched", before, consumer.get(secrets, "mine").GetResourceVersion())

	// The namespace is there once more than its objects: what the server puts into it does
	// not go through admission.
	consumer.create(namespaces, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "team"}})
	servertest.Eventually(t, "what the server makes to be labeled", func() (bool, any) {
		u, err := consumer.client.Resource(configMaps).Namespace("team").Get(t.Context(), "kube-root-ca.crt", metav1.GetOptions{})
		return err == nil && u.GetLabels()[key] == value, u
	})

	consumer.answer("sharing", reject(maps))
	consumer.awaitLabels(configMaps, "early", nil)
	consumer.awaitLabels(configMaps, "late", nil)
	consumer.awaitBinding("sharing", "nothing in force", func(b *apisv1alpha2.APIBinding) bool {
		return len(b.Status.AppliedPermissionClaims) == 0 && conditions.IsTrue(b, apisv1alpha1.PermissionClaimsApplied)
	})

	consumer.answer("sharing", accept(maps, everything))
	consumer.awaitLabels(configMaps, "early", claimed)
	consumer.delete(bindings, "sharing")
	consumer.awaitLabels(configMaps, "early", nil)
	consumer.awaitLabels(configMaps, "late", nil)
}

func TestForgedLabels(t *testing.T) {
	server := servertest.Start(t)
	maps := claim(configMaps, "*")
	provider, consumer, bystander := newProvider(t, server, maps), newWorkspace(t, server), newWorkspace(t, server)
	key, value := label(t, provider, maps)
	consumer.bind("sharing", provider, exportName, accept(maps, red))
	consumer.awaitClaims("sharing")
	forged := map[string]string{key: value, apisv1alpha1.APIExportPermissionClaimLabelPrefix + "x": "y", "a": "b"}

	same(t, "nobody makes claimed what his workspace does not give", map[string]string{"a": "b"},
		consumer.create(configMaps, configMap("forged", forged)).GetLabels())
	same(t, "nor where nothing is claimed", map[string]string{"a": "b"},
		bystander.create(configMaps, configMap("forged", forged)).GetLabels())
	same(t, "nor later", map[string]string{"a": "b"},
		consumer.patch(configMaps, "forged", `{"metadata":{"labels":{"`+key+`":"`+value+`"}}}`).GetLabels())
	same(t, "nor of another kind", map[string]string(nil),
		claimLabels(consumer.create(secrets, &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: home, Name: "forged", Labels: forged}})))

	consumer.create(configMaps, configMap("given", map[string]string{"color": "red", key: "other"}))
	same(t, "the value is the claim's", map[string]string{key: value}, claimLabels(consumer.get(configMaps, "given")))
	same(t, "nobody takes it away but by the answer", map[string]string{key: value},
		claimLabels(consumer.patch(configMaps, "given", `{"metadata":{"labels":{"`+key+`":null}}}`)))
	same(t, "or by what is selected", map[string]string(nil),
		claimLabels(consumer.patch(configMaps, "given", `{"metadata":{"labels":{"color":"blue"}}}`)))
	same(t, "a dry run says the same", map[string]string{key: value}, dryRun(consumer, configMap("dry", map[string]string{"color": "red"})))
}

func dryRun(w workspace, obj *corev1.ConfigMap) map[string]string {
	w.Helper()
	u := w.create(configMaps, configMap("template", nil))
	w.delete(configMaps, "template")
	u.SetName(obj.Name)
	u.SetLabels(obj.Labels)
	u.SetResourceVersion("")
	u.SetUID("")
	got, err := w.resource(configMaps).Create(w.Context(), u, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
	if err != nil {
		w.Fatal(err)
	}
	return claimLabels(got)
}

func TestSelectorChanges(t *testing.T) {
	server := servertest.Start(t)
	maps := claim(configMaps, "*")
	provider, consumer := newProvider(t, server, maps), newWorkspace(t, server)
	key, value := label(t, provider, maps)
	claimed := map[string]string{key: value}
	consumer.create(configMaps, configMap("red", map[string]string{"color": "red"}))
	consumer.create(configMaps, configMap("plain", nil))
	notOld := apisv1alpha2.PermissionClaimSelector{LabelSelector: metav1.LabelSelector{
		MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "color", Operator: metav1.LabelSelectorOpDoesNotExist}},
	}}
	consumer.bind("sharing", provider, exportName, accept(maps, everything))
	for _, step := range []struct {
		reason     string
		selector   apisv1alpha2.PermissionClaimSelector
		red, plain map[string]string
	}{
		{"all", everything, claimed, claimed},
		{"by a label", red, claimed, nil},
		{"by an expression", notOld, nil, claimed},
		{"all again", everything, claimed, claimed},
	} {
		t.Log(step.reason)
		consumer.answer("sharing", accept(maps, step.selector))
		consumer.awaitLabels(configMaps, "red", step.red)
		consumer.awaitLabels(configMaps, "plain", step.plain)
		consumer.awaitBinding("sharing", "the selector in force", func(b *apisv1alpha2.APIBinding) bool {
			applied := b.Status.AppliedPermissionClaims
			return len(applied) == 1 && applied[0].Selector.String() == step.selector.String()
		})
	}
	unchanged := consumer.get(configMaps, "plain").GetResourceVersion()
	consumer.answer("sharing", accept(maps, everything), accept(claim(accounts, "*"), everything))
	consumer.awaitBinding("sharing", "another answer", func(b *apisv1alpha2.APIBinding) bool {
		return conditions.Reason(b, apisv1alpha1.PermissionClaimsValid) == apisv1alpha1.ReasonInvalidPermissionClaims
	})
	same(t, "what has its labels is not written", unchanged, consumer.get(configMaps, "plain").GetResourceVersion())
}

func TestLabelsOfBindings(t *testing.T) {
	server := servertest.Start(t)
	all := claim(bindings, "*")
	provider, other, consumer := newProvider(t, server, all), newProvider(t, server), newWorkspace(t, server)
	key, value := label(t, provider, all)
	otherKey, _ := label(t, other, all)
	consumer.bind("other", other, exportName)
	consumer.bind("sharing", provider, exportName, accept(all, everything))
	consumer.awaitLabels(bindings, "other", map[string]string{key: value, otherKey: apihash.Reflexive})
	consumer.awaitLabels(bindings, "sharing", map[string]string{key: apihash.Reflexive})
	consumer.answer("sharing", reject(all))
	consumer.awaitLabels(bindings, "other", map[string]string{otherKey: apihash.Reflexive})
	consumer.awaitLabels(bindings, "sharing", map[string]string{key: apihash.Reflexive})
}

// TestLabeledEventsExpire: what is written anew for its label is kept no longer than it
// would have been.
func TestLabeledEventsExpire(t *testing.T) {
	etcd := servertest.StartEtcd(t)
	server := servertest.Start(t, "--etcd-servers="+etcd.Server)
	newer := claim(events, "*")
	newer.Group = "events.k8s.io"
	provider, consumer := newProvider(t, server, newer), newWorkspace(t, server)
	key, value := label(t, provider, claim(events))
	consumer.create(events, &corev1.Event{
		ObjectMeta:     metav1.ObjectMeta{Namespace: home, Name: "happened"},
		InvolvedObject: corev1.ObjectReference{Namespace: home, Name: "a", Kind: "ConfigMap"},
	})
	if !etcd.Expires(t, "/happened") {
		t.Fatal("an event does not expire in the first place")
	}
	consumer.bind("sharing", provider, exportName, accept(newer, everything))
	consumer.awaitLabels(events, "happened", map[string]string{key: value})
	if !etcd.Expires(t, "/happened") {
		t.Error("a labeled event is kept for ever")
	}
	got, err := through(t, server, provider, "*").client.Resource(schema.GroupVersionResource{Group: "events.k8s.io", Version: "v1", Resource: "events"}).List(t.Context(), metav1.ListOptions{})
	if err != nil || len(got.Items) != 1 {
		t.Errorf("the provider does not find it: %v, error %v", got, err)
	}
}

// TestLabelsAfterRestart: nothing is forgotten, and nothing written anew.
func TestLabelsAfterRestart(t *testing.T) {
	root := t.TempDir()
	server := servertest.StartIn(t, root)
	maps := claim(configMaps, "*")
	provider, consumer := newProvider(t, server, maps), newWorkspace(t, server)
	key, value := label(t, provider, maps)
	consumer.create(configMaps, configMap("given", nil))
	consumer.bind("sharing", provider, exportName, accept(maps, everything))
	consumer.awaitLabels(configMaps, "given", map[string]string{key: value})
	consumer.awaitClaims("sharing")
	version, bound := consumer.get(configMaps, "given").GetResourceVersion(), consumer.get(bindings, "sharing").GetResourceVersion()
	server.Stop()

	server = servertest.StartIn(t, root)
	consumer = as(t, server.In(t, "base", consumer.cluster), consumer.cluster)
	same(t, "a label that is right stays", version, consumer.get(configMaps, "given").GetResourceVersion())
	same(t, "and so does what is said of it", bound, consumer.get(bindings, "sharing").GetResourceVersion())
	same(t, "what is created is labeled as before", map[string]string{key: value},
		claimLabels(consumer.create(configMaps, configMap("new", nil))))
	consumer.delete(bindings, "sharing")
	consumer.awaitLabels(configMaps, "given", nil)
}
