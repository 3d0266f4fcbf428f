package claims

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/forkless/kcp/internal/servertest"
	apisv1alpha1 "github.com/forkless/kcp/pkg/apis/apis/v1alpha1"
	apisv1alpha2 "github.com/forkless/kcp/pkg/apis/apis/v1alpha2"
	"github.com/forkless/kcp/pkg/apis/conditions"
)

// says waits until a condition of a binding is False for a reason, with a message.
func says(w workspace, of conditions.Type, reason, message string) {
	w.Helper()
	w.awaitBinding("sharing", string(of)+" to be "+reason, func(b *apisv1alpha2.APIBinding) bool {
		c := condition(b, of)
		return c.Status == corev1.ConditionFalse && c.Reason == reason && c.Message == message
	})
}

// isFine waits until nothing is said against the claims of a binding.
func isFine(w workspace) {
	w.Helper()
	w.awaitBinding("sharing", "nothing to be wrong with the claims", func(b *apisv1alpha2.APIBinding) bool {
		return conditions.IsTrue(b, apisv1alpha1.PermissionClaimsValid) && conditions.IsTrue(b, apisv1alpha1.PermissionClaimsApplied)
	})
}

func TestWrongAnswers(t *testing.T) {
	server := servertest.Start(t)
	maps, some := claim(configMaps, "*"), claim(secrets, "get", "list")
	some.DefaultSelector = &red
	provider, consumer := newProvider(t, server, maps, some), newWorkspace(t, server)
	consumer.create(configMaps, configMap("plain", nil))
	identified := maps
	identified.IdentityHash = "e9cee71ab932fde863338d08be4de9dfe39ea049bdafb342ce659ec5450b69ae"
	consumer.bind("sharing", provider, exportName, accept(identified, everything))
	says(consumer, apisv1alpha1.PermissionClaimsValid, apisv1alpha1.ReasonInvalidPermissionClaims,
		`1 unexpected and/or invalid permission claims (showing first 1): unexpected/invalid claim for configmaps (identity "`+identified.IdentityHash+`")`)
	same(t, "another identity is another resource", map[string]string(nil), claimLabels(consumer.get(configMaps, "plain")))
	consumer.answer("sharing", accept(maps, everything))
	isFine(consumer)
	key, value := label(t, provider, maps)
	consumer.awaitLabels(configMaps, "plain", map[string]string{key: value})

	consumer.answer("sharing", accept(claim(accounts, "*"), everything))
	says(consumer, apisv1alpha1.PermissionClaimsValid, apisv1alpha1.ReasonInvalidPermissionClaims,
		`1 unexpected and/or invalid permission claims (showing first 1): unexpected/invalid claim for serviceaccounts (identity "")`)

	less := claim(secrets, "get")
	consumer.answer("sharing", accept(less, everything))
	says(consumer, apisv1alpha1.PermissionClaimsValid, apisv1alpha1.ReasonPermissionClaimsMismatch,
		`1 permission claim(s) have mismatched verbs or selectors (showing first 1): `+
			`secrets (verbs: accepted [get], exported [get list]; selector differs from defaultSelector)`)
	b := consumer.binding("sharing")
	same(t, "it is in force all the same", []apisv1alpha2.ScopedPermissionClaim{{PermissionClaim: less, Selector: everything}},
		b.Status.AppliedPermissionClaims)
	same(t, "and the binding is bound, whatever its claims", apisv1alpha2.APIBindingPhaseBound, b.Status.Phase)
	consumer.answer("sharing", accept(claim(secrets, "get", "list"), red))
	isFine(consumer)

	// An export that asks for less has its claim answered in vain.
	provider.patch(exports, exportName, `{"spec":{"permissionClaims":null}}`)
	says(consumer, apisv1alpha1.PermissionClaimsValid, apisv1alpha1.ReasonInvalidPermissionClaims,
		`1 unexpected and/or invalid permission claims (showing first 1): unexpected/invalid claim for secrets (identity "")`)
	same(t, "and it is not in force", 0, len(consumer.binding("sharing").Status.AppliedPermissionClaims))
}

// widgetSchema describes widgets, as an export offers them.
func widgetSchema() *apisv1alpha1.APIResourceSchema {
	s := &apisv1alpha1.APIResourceSchema{ObjectMeta: metav1.ObjectMeta{Name: "v1.widgets.example.com"}}
	s.Spec.Group, s.Spec.Scope = widgets.Group, "Namespaced"
	s.Spec.Names.Plural, s.Spec.Names.Singular, s.Spec.Names.Kind, s.Spec.Names.ListKind = "widgets", "widget", "Widget", "WidgetList"
	s.Spec.Versions = []apisv1alpha1.APIResourceVersion{{
		Name: "v1", Served: true, Storage: true,
		Schema: runtime.RawExtension{Raw: []byte(`{"type":"object","x-kubernetes-preserve-unknown-fields":true}`)},
	}}
	return s
}

func widget(name string, labels map[string]string) *unstructured.Unstructured {
	u := &unstructured.Unstructured{Object: map[string]any{}}
	u.SetNamespace(home)
	u.SetName(name)
	u.SetLabels(labels)
	return u
}

// newWidgetProvider makes a workspace that exports widgets, and returns the identity of the
// export.
func newWidgetProvider(t testing.TB, server *servertest.Server) (w workspace, identityHash string) {
	t.Helper()
	w = newWorkspace(t, server)
	w.create(schemas, widgetSchema())
	export := &apisv1alpha2.APIExport{ObjectMeta: metav1.ObjectMeta{Name: "widgets"}}
	export.Spec.Resources = []apisv1alpha2.ResourceSchema{{Name: "widgets", Group: widgets.Group, Schema: "v1.widgets.example.com"}}
	w.create(exports, export)
	servertest.Eventually(t, "the identity of widgets", func() (bool, any) {
		u := w.get(exports, "widgets")
		identityHash, _, _ = unstructured.NestedString(u.Object, "status", "identityHash")
		return identityHash != "", u.Object["status"]
	})
	return w, identityHash
}

// TestClaimsByIdentity: who claims what another provider offers gets it where that one is
// bound, and nothing of others who call theirs alike.
func TestClaimsByIdentity(t *testing.T) {
	server := servertest.Start(t)
	owner, identity := newWidgetProvider(t, server)
	namesake, _ := newWidgetProvider(t, server)
	claimed := claim(widgets, "*")
	claimed.IdentityHash = identity
	provider := newProvider(t, server, claimed)
	key, value := label(t, provider, claimed)
	consumer, other := newWorkspace(t, server), newWorkspace(t, server)
	consumer.bind("widgets", owner, "widgets")
	other.bind("widgets", namesake, "widgets")
	for _, w := range []workspace{consumer, other} {
		w.awaitClaims("widgets")
		w.create(widgets, widget("early", nil))
		w.bind("sharing", provider, exportName, accept(claimed, everything))
		isFine(w)
	}
	consumer.awaitLabels(widgets, "early", map[string]string{key: value})
	same(t, "what is created is labeled at once", map[string]string{key: value}, claimLabels(consumer.create(widgets, widget("late", nil))))
	same(t, "the widgets of others are not claimed", map[string]string(nil), claimLabels(other.get(widgets, "early")))
	same(t, "nor later", map[string]string(nil), claimLabels(other.create(widgets, widget("late", nil))))

	consumer.delete(bindings, "sharing")
	consumer.awaitLabels(widgets, "early", nil)
	consumer.awaitLabels(widgets, "late", nil)
}

// TestClaimsBeforeTheResource: a claim may be accepted before its resource is bound.
func TestClaimsBeforeTheResource(t *testing.T) {
	server := servertest.Start(t)
	owner, identity := newWidgetProvider(t, server)
	claimed := claim(widgets, "*")
	claimed.IdentityHash = identity
	provider, consumer := newProvider(t, server, claimed), newWorkspace(t, server)
	key, value := label(t, provider, claimed)
	consumer.bind("sharing", provider, exportName, accept(claimed, everything))
	isFine(consumer)
	consumer.bind("widgets", owner, "widgets")
	consumer.awaitClaims("widgets")
	same(t, "the claim counts from then on", map[string]string{key: value}, claimLabels(consumer.create(widgets, widget("a", nil))))
}

// TestClaimsOfNothing: a claim of what no export serves is not in force, says so, and is
// looked at again when one does.
func TestClaimsOfNothing(t *testing.T) {
	server := servertest.Start(t)
	owner := newWorkspace(t, server)
	// The key is chosen by the provider, so that the identity is known before the export.
	key := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: home, Name: "identity"}, Data: map[string][]byte{"key": []byte("abcd1234")}}
	owner.create(secrets, key)
	const identity = "e9cee71ab932fde863338d08be4de9dfe39ea049bdafb342ce659ec5450b69ae"
	claimed := claim(widgets, "*")
	claimed.IdentityHash = identity
	provider, consumer := newProvider(t, server, claimed), newWorkspace(t, server)
	consumer.bind("sharing", provider, exportName, accept(claimed, everything))
	says(consumer, apisv1alpha1.PermissionClaimsApplied, apisv1alpha1.ReasonInternalError,
		`Permission claims have not been fully applied: no APIExport with identity hash "`+identity+`" serves widgets.example.com`)
	same(t, "it is not in force", 0, len(consumer.binding("sharing").Status.AppliedPermissionClaims))

	owner.create(schemas, widgetSchema())
	export := &apisv1alpha2.APIExport{ObjectMeta: metav1.ObjectMeta{Name: "widgets"}}
	export.Spec.Resources = []apisv1alpha2.ResourceSchema{{Name: "widgets", Group: widgets.Group, Schema: "v1.widgets.example.com"}}
	export.Spec.Identity = &apisv1alpha2.Identity{SecretRef: &corev1.SecretReference{Namespace: home, Name: "identity"}}
	owner.create(exports, export)
	isFine(consumer)
}
