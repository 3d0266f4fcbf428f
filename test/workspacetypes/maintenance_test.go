package workspacetypes

import (
	"fmt"
	"slices"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/forkless/kcp/internal/servertest"
	apisv1alpha2 "github.com/forkless/kcp/pkg/apis/apis/v1alpha2"
	"github.com/forkless/kcp/pkg/apis/conditions"
	corev1alpha1 "github.com/forkless/kcp/pkg/apis/core/v1alpha1"
)

var maintenance = map[string]behavior{
	"ClaimAppears":    {"row 65: a new claim of an export is accepted where bindings are maintained, and nowhere else", claimAppears},
	"ResourceAppears": {"row 65: a new resource of an export is served in workspaces that live", resourceAppears},
	"ExportAppears":   {"row 65: an export that a type names later is bound in workspaces that live, and nowhere else", exportAppears},
	"Inherited":       {"a type that extends one that maintains passes it on, and each decides for what it names itself", inheritedMaintenance},
	"Overwritten":     {"what somebody has refused or deleted comes back", overwritten},
	"SystemBinds":     {"the server binds: that the creator may not is no matter any more", systemBinds},
	"MissingExport":   {"an export that is missing is named, and bound when it comes", missingLater},
	"TurnedOn":        {"maintenance can be turned on and off while there are workspaces", turnedOnAndOff},
	"TypeGone":        {"when the type goes nothing is taken away, and the workspace says so", typeGone},
	"OthersLeft":      {"bindings that no type names are nobody's business", othersLeft},
	"NearerBase":      {"a base that is found nearer than before is the one that counts", nearerBase},
	"ManyWorkspaces":  {"a change reaches many workspaces, and others are served meanwhile", manyWorkspaces},
}

const (
	maintain = `"defaultAPIBindingLifecycle":"Maintain"`
	once     = `"defaultAPIBindingLifecycle":"InitializeOnly"`
	// configMaps is a claim as exports make it.
	configMaps = `{"resource":"configmaps","verbs":["get","list"]}`
	secrets    = `{"resource":"secrets","verbs":["get"],"defaultSelector":{"matchLabels":{"for":"cowboys"}}}`
)

// ranches makes a provider of cowboys with the types "kept", which maintains its binding,
// and "left", which does not.
func (s *suite) ranches(t *testing.T) workspace {
	t.Helper()
	w := s.universal(t)
	servertest.Export(t, w.config, "cowboys", nil, servertest.CowboySchema())
	for name, lifecycle := range map[string]string{"kept": maintain, "left": once} {
		w.newType(name, `{`+extendsUniversal+`,`+lifecycle+`,"defaultAPIBindings":[{"path":"`+w.path+`","export":"cowboys"}]}`)
	}
	return w
}

// export makes an export of cowboys in a group of its own.
func (w workspace) export(name string) {
	w.Helper()
	described := servertest.CowboySchema()
	described.Spec.Group = name + ".dev"
	described.Name = "today.cowboys." + described.Spec.Group
	servertest.Export(w, w.config, name, nil, described)
}

// accepts says whether a binding has accepted exactly the claims to these resources.
func accepts(resources ...string) func(*apisv1alpha2.APIBinding) bool {
	return func(b *apisv1alpha2.APIBinding) bool {
		var got []string
		for i := range b.Spec.PermissionClaims {
			if c := &b.Spec.PermissionClaims[i]; c.State == apisv1alpha2.ClaimAccepted {
				got = append(got, c.Resource)
			}
		}
		slices.Sort(got)
		return slices.Equal(resources, got)
	}
}

// reconciled waits until the LogicalCluster says that all is as it should be.
func (w workspace) reconciled() {
	w.Helper()
	w.says(corev1alpha1.APIBindingsReconciled, "its bindings are reconciled", func(c conditions.Condition) bool {
		return c.Status == "True" && c.Reason == "" && c.Message == ""
	})
}

func claimAppears(t *testing.T, s *suite) {
	w := s.ranches(t)
	kept, left := w.below(s, w.workspace("", "kept")), w.below(s, w.workspace("", "left"))
	kept.reconciled()
	w.patch(exports, "cowboys", `{"spec":{"permissionClaims":[`+configMaps+`,`+secrets+`]}}`)
	b := kept.binds("cowboys", "the claims are accepted", func(b *apisv1alpha2.APIBinding) bool {
		return accepts("configmaps", "secrets")(b) && conditions.IsTrue(b, "PermissionClaimsApplied") && len(b.Status.AppliedPermissionClaims) == 2
	})
	for i := range b.Spec.PermissionClaims {
		c := &b.Spec.PermissionClaims[i]
		if byLabel := len(c.Selector.MatchLabels) == 1; byLabel != (c.Resource == "secrets") || c.Selector.MatchAll == byLabel {
			t.Errorf("the answer to %s has selector %+v", c.Resource, c.Selector)
		}
	}
	kept.reconciled()
	if b := left.bound()["cowboys"]; len(b.Spec.PermissionClaims) != 0 {
		t.Errorf("with InitializeOnly the binding got %v", b.Spec.PermissionClaims)
	}
	if lc := left.logicalCluster(); conditions.Has(&lc, corev1alpha1.APIBindingsReconciled) {
		t.Errorf("nothing is maintained there: %v", lc.Status.Conditions)
	}
	// What is not claimed any more is not granted any more.
	w.patch(exports, "cowboys", `{"spec":{"permissionClaims":[`+configMaps+`]}}`)
	kept.binds("cowboys", "one claim is left", accepts("configmaps"))
}

func resourceAppears(t *testing.T, s *suite) {
	w := s.ranches(t)
	kept := w.below(s, w.workspace("", "kept"))
	w.export("horses")
	w.patch(exports, "cowboys", `{"spec":{"resources":[
		{"group":"wildwest.dev","name":"cowboys","schema":"today.cowboys.wildwest.dev","storage":{"crd":{}}},
		{"group":"horses.dev","name":"cowboys","schema":"today.cowboys.horses.dev","storage":{"crd":{}}}]}}`)
	kept.binds("cowboys", "both are bound", func(b *apisv1alpha2.APIBinding) bool { return len(b.Status.BoundResources) == 2 })
	if _, err := kept.client.Resource(servertest.Cowboys).List(t.Context(), metav1.ListOptions{}); err != nil {
		t.Error(err)
	}
	horses := servertest.Cowboys
	horses.Group = "horses.dev"
	if _, err := kept.client.Resource(horses).List(t.Context(), metav1.ListOptions{}); err != nil {
		t.Errorf("what reads as bound is not served: %v", err)
	}
	kept.reconciled()
}

func exportAppears(t *testing.T, s *suite) {
	w := s.ranches(t)
	w.export("horses")
	kept, left := w.below(s, w.workspace("", "kept")), w.below(s, w.workspace("", "left"))
	for _, name := range []string{"left", "kept"} {
		w.patch(types, name, `{"spec":{"defaultAPIBindings":[{"path":"`+w.path+`","export":"cowboys"},{"path":"`+w.path+`","export":"horses"}]}}`)
	}
	b := kept.binds("horses", "it is bound", isBound)
	if len(b.Name) != len("horses-")+5 {
		t.Errorf("it is called %s", b.Name)
	}
	kept.reconciled()
	if _, ok := left.bound()["horses"]; ok {
		t.Error("with InitializeOnly what comes later is for workspaces that come later")
	}
	// An export that is named no more is not taken away: nobody knows who has come to need it.
	w.patch(types, "kept", `{"spec":{"defaultAPIBindings":[{"path":"`+w.path+`","export":"cowboys"}]}}`)
	w.patch(exports, "cowboys", `{"spec":{"permissionClaims":[`+configMaps+`]}}`)
	kept.binds("cowboys", "the change has come", accepts("configmaps"))
	kept.binds("horses", "it stays", isBound)
}

func inheritedMaintenance(t *testing.T, s *suite) {
	w := s.ranches(t)
	w.export("horses")
	w.newType("heir", `{"extend":{"with":[{"name":"kept"}]},`+once+`,"defaultAPIBindings":[{"export":"horses"}]}`)
	heir := w.below(s, w.workspace("", "heir"))
	heir.reconciled()
	for _, name := range []string{"horses", "cowboys"} {
		w.patch(exports, name, `{"spec":{"permissionClaims":[`+configMaps+`]}}`)
	}
	heir.binds("cowboys", "what the base names is maintained", accepts("configmaps"))
	if b := heir.bound()["horses"]; len(b.Spec.PermissionClaims) != 0 {
		t.Errorf("what the type names itself is not, and got %v", b.Spec.PermissionClaims)
	}
	// Universal is extended as well, and does not maintain: what it has bound may be deleted.
	name := heir.bound()["topology.kcp.io"].Name
	heir.delete(bindings, name)
	servertest.Eventually(t, "it is gone", func() (bool, any) {
		_, err := heir.client.Resource(bindings).Get(t.Context(), name, metav1.GetOptions{})
		return apierrors.IsNotFound(err), err
	})
	// Something that is maintained and comes later has had its turn later.
	w.patch(exports, "cowboys", `{"spec":{"permissionClaims":[`+secrets+`]}}`)
	heir.binds("cowboys", "the next change has come", accepts("secrets"))
	if _, ok := heir.bound()["topology.kcp.io"]; ok {
		t.Error("what is not maintained came back")
	}
}

func overwritten(t *testing.T, s *suite) {
	w := s.ranches(t)
	w.patch(exports, "cowboys", `{"spec":{"permissionClaims":[`+configMaps+`]}}`)
	kept := w.below(s, w.workspace("", "kept"))
	b := kept.binds("cowboys", "the claim is accepted", accepts("configmaps"))
	kept.patch(bindings, b.Name, `{"metadata":{"labels":{"mine":"yes"}},"spec":{"permissionClaims":[{"resource":"configmaps","verbs":["get","list"],"state":"Rejected","selector":{"matchAll":true}}]}}`)
	b = kept.binds("cowboys", "it is accepted again", func(now *apisv1alpha2.APIBinding) bool {
		return now.Generation > b.Generation && accepts("configmaps")(now)
	})
	if b.Labels["mine"] != "yes" {
		t.Errorf("what is not the type's to say is gone: %v", b.Labels)
	}
	kept.delete(bindings, b.Name)
	again := kept.binds("cowboys", "it is made again", func(now *apisv1alpha2.APIBinding) bool { return now.UID != b.UID && isBound(now) })
	if again.Name != b.Name {
		t.Errorf("it was called %s, and is called %s", b.Name, again.Name)
	}
	kept.reconciled()
}

func systemBinds(t *testing.T, s *suite) {
	w, home := s.ranches(t), s.universal(t)
	w.export("horses")
	w.allow(bob, use("kept"))
	w.allow(bob, bind("cowboys"))
	home.admin(bob)
	mine := home.as(s, bobToken)
	var name string
	allowed(t, "bob may use the type", func() error {
		ws, err := mine.tryWorkspace(w.path, "kept")
		name = ws.Name
		return err
	})
	kept := mine.below(s, mine.ready(name)).as(s, bobToken)
	w.patch(types, "kept", `{"spec":{"defaultAPIBindings":[{"path":"`+w.path+`","export":"cowboys"},{"path":"`+w.path+`","export":"horses"}]}}`)
	kept.binds("horses", "it is bound, although bob may not bind it", isBound)
}

func missingLater(t *testing.T, s *suite) {
	w := s.ranches(t)
	kept := w.below(s, w.workspace("", "kept"))
	kept.reconciled()
	w.patch(types, "kept", `{"spec":{"defaultAPIBindings":[{"path":"`+w.path+`","export":"cowboys"},{"path":"`+w.path+`","export":"horses"}]}}`)
	condition := kept.says(corev1alpha1.APIBindingsReconciled, "it says what is missing", reason(corev1alpha1.ReasonAPIBindingErrors))
	if want := "Unable to make APIBindings: APIExport " + w.path + "|horses not found, which workspace type " + w.path + ":kept binds by default"; condition.Message != want {
		t.Errorf("the message is %q, want %q", condition.Message, want)
	}
	if phase := kept.logicalCluster().Status.Phase; phase != corev1alpha1.PhaseReady {
		t.Errorf("it was ready and is %s", phase)
	}
	w.export("horses")
	kept.binds("horses", "it is bound", isBound)
	kept.reconciled()
}

func turnedOnAndOff(t *testing.T, s *suite) {
	w := s.ranches(t)
	left := w.below(s, w.workspace("", "left"))
	w.patch(exports, "cowboys", `{"spec":{"permissionClaims":[`+configMaps+`]}}`)
	w.patch(types, "left", `{"spec":{"defaultAPIBindingLifecycle":"Maintain"}}`)
	left.binds("cowboys", "what it has missed it gets", accepts("configmaps"))
	left.reconciled()
	w.patch(types, "left", `{"spec":{"defaultAPIBindingLifecycle":null}}`)
	left.says(corev1alpha1.APIBindingsReconciled, "nobody says any more that they are maintained", func(c conditions.Condition) bool { return c.Type == "" })
	b := left.binds("cowboys", "it stays", isBound)
	left.patch(bindings, b.Name, `{"spec":{"permissionClaims":[]}}`)
	kept := w.below(s, w.workspace("", "kept"))
	w.patch(exports, "cowboys", `{"spec":{"permissionClaims":[`+secrets+`]}}`)
	kept.binds("cowboys", "the change has come elsewhere", accepts("secrets"))
	if b := left.bound()["cowboys"]; len(b.Spec.PermissionClaims) != 0 {
		t.Errorf("nobody maintains it any more, and it got %v", b.Spec.PermissionClaims)
	}
}

func typeGone(t *testing.T, s *suite) {
	w := s.ranches(t)
	kept := w.below(s, w.workspace("", "kept"))
	kept.reconciled()
	spec, err := w.client.Resource(types).Get(t.Context(), "kept", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	w.delete(types, "kept")
	condition := kept.says(corev1alpha1.APIBindingsReconciled, "it says so", reason(corev1alpha1.ReasonWorkspaceTypesInvalid))
	if want := fmt.Sprintf("workspace type %q not found in workspace %q", "kept", w.path); condition.Message != want {
		t.Errorf("the message is %q, want %q", condition.Message, want)
	}
	kept.binds("cowboys", "it stays", isBound)
	spec.SetResourceVersion("")
	spec.SetUID("")
	if _, err := w.client.Resource(types).Create(t.Context(), spec, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	kept.reconciled()
}

func othersLeft(t *testing.T, s *suite) {
	w := s.ranches(t)
	w.export("other")
	kept := w.below(s, w.workspace("", "kept"))
	kept.mustCreate(bindings, `{"metadata":{"name":"mine"},"spec":{"reference":{"export":{"path":"`+w.path+`","name":"other"}}}}`)
	for _, name := range []string{"other", "cowboys"} {
		w.patch(exports, name, `{"spec":{"permissionClaims":[`+configMaps+`]}}`)
	}
	kept.binds("cowboys", "the change has come", accepts("configmaps"))
	if b := kept.bound()["other"]; len(b.Spec.PermissionClaims) != 0 {
		t.Errorf("a binding that its owner has made got %v", b.Spec.PermissionClaims)
	}
}

func nearerBase(t *testing.T, s *suite) {
	upper := s.ranches(t)
	lower := upper.below(s, upper.workspace("root", "universal"))
	lower.newType("heir", `{"extend":{"with":[{"name":"kept"}]}}`)
	heir := lower.below(s, lower.workspace("", "heir"))
	heir.reconciled()
	lower.export("oxen")
	lower.newType("kept", `{`+extendsUniversal+`,`+maintain+`,"defaultAPIBindings":[{"export":"oxen"}]}`)
	heir.binds("oxen", "the nearer type counts", isBound)
	lower.delete(types, "kept")
	upper.patch(exports, "cowboys", `{"spec":{"permissionClaims":[`+configMaps+`]}}`)
	heir.binds("cowboys", "the one above counts again", accepts("configmaps"))
}

// manyWorkspaces has to be a few at least more than a portion of a sweep.
func manyWorkspaces(t *testing.T, s *suite) {
	w := s.ranches(t)
	const many = 80
	all := make([]workspace, 0, many)
	for range many {
		all = append(all, w.below(s, w.begin("", "kept")))
	}
	w.patch(exports, "cowboys", `{"spec":{"permissionClaims":[`+configMaps+`]}}`)
	w.workspace("root", "universal")
	for _, kept := range all {
		kept.binds("cowboys", "the change has come", accepts("configmaps"))
	}
	all[many-1].reconciled()
}
