package claims

import (
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/forkless/kcp/internal/servertest"
	apisv1alpha2 "github.com/forkless/kcp/pkg/apis/apis/v1alpha2"
)

// TestHiddenObjectsTellNothing: whatever is tried with an object that is not given, the
// answer is that of one that is not there.
func TestHiddenObjectsTellNothing(t *testing.T) {
	server := servertest.Start(t)
	claimed := claim(configMaps, "*")
	provider, consumer := newProvider(t, server, claimed), newWorkspace(t, server)
	hidden := configMap("hidden", objects["blue"])
	hidden.Data = map[string]string{"password": "1234"}
	stored := consumer.create(configMaps, hidden)
	consumer.bind("sharing", provider, exportName, accept(claimed, red))
	consumer.awaitClaims("sharing")
	view := through(t, server, provider, consumer.cluster)
	client := view.resource(configMaps)
	update := func(name, version, uid string) error {
		u := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "ConfigMap"}}
		u.SetName(name)
		u.SetNamespace(home)
		u.SetLabels(objects["red"])
		u.SetResourceVersion(version)
		u.SetUID(types.UID(uid))
		_, err := client.Update(t.Context(), u, metav1.UpdateOptions{})
		return err
	}
	remove := func(name string, preconditions *metav1.Preconditions) error {
		return client.Delete(t.Context(), name, metav1.DeleteOptions{Preconditions: preconditions})
	}
	patch := func(name string, kind types.PatchType, text string) error {
		_, err := client.Patch(t.Context(), name, kind, []byte(text), metav1.PatchOptions{})
		return err
	}
	uid, version := stored.GetUID(), stored.GetResourceVersion()
	other, zero := types.UID("other"), "1"
	for name, try := range map[string]func(name string) error{
		"Get": func(name string) error {
			_, err := client.Get(t.Context(), name, metav1.GetOptions{})
			return err
		},
		"CachedGet": func(name string) error {
			_, err := client.Get(t.Context(), name, metav1.GetOptions{ResourceVersion: "0"})
			return err
		},
		"Update":             func(name string) error { return update(name, "", "") },
		"UpdateAtVersion":    func(name string) error { return update(name, version, "") },
		"UpdateAtOldVersion": func(name string) error { return update(name, zero, "") },
		"UpdateOfUID":        func(name string) error { return update(name, "", string(uid)) },
		"UpdateOfOtherUID":   func(name string) error { return update(name, "", string(other)) },
		"RightGuess": func(name string) error {
			return patch(name, types.JSONPatchType, `[{"op":"test","path":"/data/password","value":"1234"}]`)
		},
		"WrongGuess": func(name string) error {
			return patch(name, types.JSONPatchType, `[{"op":"test","path":"/data/password","value":"0000"}]`)
		},
		"StrategicPatch": func(name string) error { return patch(name, types.StrategicMergePatchType, `{"data":{"a":"b"}}`) },
		"Claiming": func(name string) error {
			return patch(name, types.MergePatchType, `{"metadata":{"labels":{"color":"red"}}}`)
		},
		"Delete":             func(name string) error { return remove(name, nil) },
		"DeleteOfUID":        func(name string) error { return remove(name, &metav1.Preconditions{UID: &uid}) },
		"DeleteOfOtherUID":   func(name string) error { return remove(name, &metav1.Preconditions{UID: &other}) },
		"DeleteAtOldVersion": func(name string) error { return remove(name, &metav1.Preconditions{ResourceVersion: &zero}) },
		"DryRunDelete": func(name string) error {
			return client.Delete(t.Context(), name, metav1.DeleteOptions{DryRun: []string{metav1.DryRunAll}})
		},
		"DryRunUpdate": func(name string) error {
			_, err := client.Patch(t.Context(), name, types.MergePatchType, []byte(`{"data":{"a":"b"}}`), metav1.PatchOptions{DryRun: []string{metav1.DryRunAll}})
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			if err := try("hidden"); !apierrors.IsNotFound(err) || err.Error() != `configmaps "hidden" not found` {
				t.Errorf("got error %v", err)
			}
		})
	}
	same(t, "and nothing has happened to it", version, consumer.get(configMaps, "hidden").GetResourceVersion())
}

// TestProvidersKeepTheirLabels: what is selected by labels stays selected by all that the
// provider does to it.
func TestProvidersKeepTheirLabels(t *testing.T) {
	server := servertest.Start(t)
	claimed := claim(configMaps, "*")
	provider, consumer := newProvider(t, server, claimed), newWorkspace(t, server)
	key, value := label(t, provider, claimed)
	consumer.bind("sharing", provider, exportName, accept(claimed, red))
	consumer.awaitClaims("sharing")
	view := through(t, server, provider, consumer.cluster)
	both := map[string]string{"color": "red", key: value}
	same(t, "created", both, view.create(configMaps, configMap("a", nil)).GetLabels())
	same(t, "taken away", both, view.patch(configMaps, "a", `{"metadata":{"labels":null}}`).GetLabels())
	same(t, "with others", map[string]string{"color": "red", key: value, "a": "b"},
		view.patch(configMaps, "a", `{"metadata":{"labels":{"color":null,"a":"b","`+key+`":null}}}`).GetLabels())
	_, err := view.tryPatch(configMaps, "a", `{"metadata":{"labels":{"color":"blue"}}}`)
	isRefused(t, "changed", err, metav1.StatusReasonForbidden, "protected label color must have value red")
	same(t, "the owner does as he likes", map[string]string{"color": "blue", "a": "b"},
		consumer.patch(configMaps, "a", `{"metadata":{"labels":{"color":"blue"}}}`).GetLabels())
	_, err = view.tryPatch(configMaps, "a", `{"data":{"a":"b"}}`)
	isRefused(t, "and it is not the provider's any more", err, metav1.StatusReasonNotFound, "")
}

// TestVerbsOfMissingObjects: an object is created by whoever may create one, whatever the
// request that does it.
func TestVerbsOfMissingObjects(t *testing.T) {
	const forbidden, missing = metav1.StatusReasonForbidden, metav1.StatusReasonNotFound
	server := servertest.Start(t)
	for name, tc := range map[string]struct {
		exported, accepted []string
		// The reasons of refusals; nothing where there is none.
		apply, merge, get, all metav1.StatusReason
	}{
		"All":           {[]string{"*"}, []string{"*"}, "", missing, missing, ""},
		"PatchOnly":     {[]string{"patch", "get"}, []string{"patch", "get"}, forbidden, missing, missing, forbidden},
		"PatchCreate":   {[]string{"patch", "create"}, []string{"patch", "create"}, "", missing, forbidden, forbidden},
		"Literally":     {[]string{"*"}, []string{"patch", "create", "get"}, forbidden, forbidden, forbidden, ""},
		"InBothOnly":    {[]string{"get", "list"}, []string{"get", "create"}, forbidden, forbidden, missing, ""},
		"CreateMissing": {[]string{"patch", "create"}, []string{"patch"}, forbidden, missing, forbidden, forbidden},
	} {
		t.Run(name, func(t *testing.T) {
			exported := claim(configMaps, tc.exported...)
			provider, consumer := newProvider(t, server, exported), newWorkspace(t, server)
			consumer.bind("sharing", provider, exportName, accept(claim(configMaps, tc.accepted...), everything))
			consumer.awaitClaims("sharing")
			view := through(t, server, provider, consumer.cluster)
			u := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "ConfigMap"}}
			u.SetName("applied")
			u.SetNamespace(home)
			_, err := view.resource(configMaps).Apply(t.Context(), "applied", u, metav1.ApplyOptions{FieldManager: "provider"})
			reasonIs(t, "apply", err, tc.apply)
			_, err = view.tryPatch(configMaps, "merged", `{"data":{"a":"b"}}`)
			reasonIs(t, "merge", err, tc.merge)
			_, err = view.resource(configMaps).Get(t.Context(), "got", metav1.GetOptions{})
			reasonIs(t, "get", err, tc.get)
			_, err = through(t, server, provider, "*").client.Resource(configMaps).List(t.Context(), metav1.ListOptions{})
			reasonIs(t, "list of all", err, tc.all)
		})
	}
}

func reasonIs(t *testing.T, what string, err error, want metav1.StatusReason) {
	t.Helper()
	if want == "" && err != nil || want != "" && apierrors.ReasonForError(err) != want {
		t.Errorf("%s: got error %v, want %q", what, err, want)
	}
}

// TestClaimsThatAreDropped: what an export does not ask for any more it does not serve, and
// what it has never asked for neither, however much of it is given.
func TestClaimsThatAreDropped(t *testing.T) {
	server := servertest.Start(t)
	maps := claim(configMaps, "*")
	provider, consumer := newProvider(t, server, maps), newWorkspace(t, server)
	consumer.bind("sharing", provider, exportName, accept(maps, everything), accept(claim(secrets, "*"), everything))
	consumer.create(configMaps, configMap("a", nil))
	consumer.create(secrets, &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: home, Name: "a"}})
	servertest.Eventually(t, "the claim to be in force", func() (bool, any) {
		_, err := through(t, server, provider, consumer.cluster).resource(configMaps).Get(t.Context(), "a", metav1.GetOptions{})
		return err == nil, err
	})
	all := through(t, server, provider, "*")
	_, err := all.client.Resource(secrets).List(t.Context(), metav1.ListOptions{})
	isRefused(t, "it was never asked for", err, metav1.StatusReasonNotFound, "")

	provider.patch(exports, exportName, `{"spec":{"permissionClaims":null}}`)
	servertest.Eventually(t, "the claim to be dropped", func() (bool, any) {
		_, err := all.client.Resource(configMaps).List(t.Context(), metav1.ListOptions{})
		return apierrors.IsNotFound(err), err
	})
	_, err = through(t, server, provider, consumer.cluster).resource(configMaps).Get(t.Context(), "a", metav1.GetOptions{})
	isRefused(t, "also in one workspace", err, metav1.StatusReasonForbidden, "")
}

// TestClaimedBindings: a provider sees who has bound him, and other bindings if that is
// claimed and given.
func TestClaimedBindings(t *testing.T) {
	server := servertest.Start(t)
	claimed := claim(bindings, "*")
	provider, other, consumer := newProvider(t, server, claimed), newProvider(t, server), newWorkspace(t, server)
	consumer.bind("other", other, exportName)
	consumer.bind("sharing", provider, exportName, reject(claimed))
	consumer.awaitClaims("sharing")
	all := through(t, server, provider, "*")
	servertest.Eventually(t, "the provider to see who has bound him", func() (bool, any) {
		names := all.names(bindings)
		return slices.Equal(names, []string{"sharing"}), names
	})
	consumer.answer("sharing", accept(claimed, everything))
	view := through(t, server, provider, consumer.cluster)
	servertest.Eventually(t, "the provider to see the other binding", func() (bool, any) {
		_, err := view.resource(bindings).Get(t.Context(), "other", metav1.GetOptions{})
		return err == nil, err
	})
	servertest.Eventually(t, "and to find it", func() (bool, any) {
		names := view.names(bindings)
		return slices.Contains(names, "other") && slices.Contains(names, "sharing"), names
	})
	view.patch(bindings, "other", `{"metadata":{"labels":{"seen":"yes"}}}`)
	consumer.answer("sharing", accept(claimed, apisv1alpha2.PermissionClaimSelector{
		LabelSelector: metav1.LabelSelector{MatchLabels: map[string]string{"seen": "no"}},
	}))
	servertest.Eventually(t, "the provider to be left with his own", func() (bool, any) {
		names := view.names(bindings)
		return slices.Equal(names, []string{"sharing"}), names
	})
	_, err := view.resource(bindings).Get(t.Context(), "other", metav1.GetOptions{})
	isRefused(t, "the other one is not there", err, metav1.StatusReasonNotFound, "")
	_, err = view.resource(bindings).Get(t.Context(), "sharing", metav1.GetOptions{})
	reasonIs(t, "his own is", err, "")
}
