package workspacetypes

import (
	"strings"
	"testing"

	"github.com/forkless/kcp/internal/servertest"
	apisv1alpha2 "github.com/forkless/kcp/pkg/apis/apis/v1alpha2"
	"github.com/forkless/kcp/pkg/apis/conditions"
	corev1alpha1 "github.com/forkless/kcp/pkg/apis/core/v1alpha1"
	tenancyv1alpha1 "github.com/forkless/kcp/pkg/apis/tenancy/v1alpha1"
)

var waiting = map[string]behavior{
	"ForExport":       {"an export that is missing is named where one looks who waits: on the Workspace", waitingForExport},
	"ForPermission":   {"row 66: without bind the creator's workspace waits, and says for what; with bind it goes on", waitingForPermission},
	"ForNothing":      {"what a type does not name any more is not waited for", waitingForNothing},
	"ForType":         {"when its type goes while it waits, a workspace says so, and goes on when the type is back", waitingForType},
	"NoRuleForOthers": {"one workspace that waits keeps none of the same type from being born when it can be", waitingAlone},
}

// reason returns a check for the reason of a condition.
func reason(want string) func(conditions.Condition) bool {
	return func(c conditions.Condition) bool { return c.Reason == want }
}

func waitingForExport(t *testing.T, s *suite) {
	w := s.universal(t)
	w.newType("ranch", `{`+extendsUniversal+`,"defaultAPIBindings":[{"export":"cowboys"}]}`)
	ws := w.begin("", "ranch")
	const told = "which workspace type "
	ws = w.until(ws.Name, "it tells what is missing", func(ws *tenancyv1alpha1.Workspace) bool {
		condition, _ := conditions.Get(ws, corev1alpha1.APIBindingsInitialized)
		return condition.Reason == corev1alpha1.ReasonAPIBindingErrors &&
			strings.Contains(condition.Message, "APIExport "+w.cluster+"|cowboys not found, "+told+w.path+":ranch binds by default")
	})
	if ws.Status.Phase != corev1alpha1.PhaseInitializing {
		t.Errorf("it is %s", ws.Status.Phase)
	}
	servertest.Export(t, w.config, "cowboys", nil, servertest.CowboySchema())
	ws = w.ready(ws.Name)
	if conditions.Has(&ws, corev1alpha1.APIBindingsInitialized) {
		t.Errorf("it is ready and still says what it waits for: %v", ws.Status.Conditions)
	}
	w.below(s, ws).binds("cowboys", "it is bound", isBound)
}

func waitingForPermission(t *testing.T, s *suite) {
	provider, home := s.universal(t), s.universal(t)
	servertest.Export(t, provider.config, "cowboys", nil, servertest.CowboySchema())
	provider.newType("ranch", `{`+extendsUniversal+`,"defaultAPIBindings":[{"export":"cowboys"}]}`)
	provider.allow(bob, use("ranch"))
	home.admin(bob)
	mine := home.as(s, bobToken)
	var ws tenancyv1alpha1.Workspace
	allowed(t, "bob may use the type", func() (err error) { ws, err = mine.tryWorkspace(provider.path, "ranch"); return err })
	ws = mine.until(ws.Name, "it has a place", func(ws *tenancyv1alpha1.Workspace) bool { return ws.Spec.Cluster != "" })
	inside := mine.below(s, ws).as(s, bobToken)
	condition := inside.says(corev1alpha1.APIBindingsInitialized, "it says what is missing", reason(corev1alpha1.ReasonAPIBindingErrors))
	if !strings.Contains(condition.Message, "no permission to bind to export "+provider.cluster+":cowboys") {
		t.Errorf("the message is %q", condition.Message)
	}
	if ws, err := get[tenancyv1alpha1.Workspace](mine, workspaces, ws.Name); err != nil || ws.Status.Phase != corev1alpha1.PhaseInitializing {
		t.Errorf("the workspace is %s, %v", ws.Status.Phase, err)
	}
	provider.allow(bob, bind("cowboys"))
	mine.ready(ws.Name)
}

func waitingForNothing(t *testing.T, s *suite) {
	w := s.universal(t)
	w.newType("ranch", `{`+extendsUniversal+`,"defaultAPIBindings":[{"export":"cowboys"}]}`)
	ws := w.begin("", "ranch")
	inside := w.below(s, ws)
	inside.says(corev1alpha1.APIBindingsInitialized, "it waits", reason(corev1alpha1.ReasonAPIBindingErrors))
	w.patch(types, "ranch", `{"spec":{"defaultAPIBindings":[{"path":"root","export":"topology.kcp.io"}]}}`)
	w.ready(ws.Name)
	if all := inside.bound(); len(all) != 2 {
		t.Errorf("bound are %v", all)
	}
}

func waitingForType(t *testing.T, s *suite) {
	w := s.universal(t)
	const spec = `{` + extendsUniversal + `,"defaultAPIBindings":[{"export":"cowboys"}]}`
	w.newType("ranch", spec)
	ws := w.begin("", "ranch")
	inside := w.below(s, ws)
	inside.says(corev1alpha1.APIBindingsInitialized, "it waits", reason(corev1alpha1.ReasonAPIBindingErrors))
	w.delete(types, "ranch")
	condition := inside.says(corev1alpha1.APIBindingsInitialized, "its type is gone", reason(corev1alpha1.ReasonWorkspaceTypesInvalid))
	if !strings.Contains(condition.Message, `workspace type "ranch" not found in workspace "`+w.path+`"`) {
		t.Errorf("the message is %q", condition.Message)
	}
	servertest.Export(t, w.config, "cowboys", nil, servertest.CowboySchema())
	w.newType("ranch", spec)
	w.ready(ws.Name)
	inside.binds("cowboys", "it is bound", isBound)
}

func waitingAlone(t *testing.T, s *suite) {
	provider, home := s.universal(t), s.universal(t)
	servertest.Export(t, provider.config, "cowboys", nil, servertest.CowboySchema())
	provider.newType("ranch", `{`+extendsUniversal+`,"defaultAPIBindings":[{"export":"cowboys"}]}`)
	for _, name := range []string{alice, bob} {
		provider.allow(name, use("ranch"))
		home.admin(name)
	}
	provider.allow(alice, bind("cowboys"))
	var stuck tenancyv1alpha1.Workspace
	allowed(t, "bob may use the type", func() (err error) {
		stuck, err = home.as(s, bobToken).tryWorkspace(provider.path, "ranch")
		return err
	})
	var ws tenancyv1alpha1.Workspace
	allowed(t, "alice may use the type", func() (err error) {
		ws, err = home.as(s, aliceToken).tryWorkspace(provider.path, "ranch")
		return err
	})
	ready := home.ready(ws.Name)
	home.below(s, ready).binds("cowboys", "it is bound for who may", func(b *apisv1alpha2.APIBinding) bool { return isBound(b) })
	if ws, err := get[tenancyv1alpha1.Workspace](home, workspaces, stuck.Name); err != nil || ws.Status.Phase == corev1alpha1.PhaseReady {
		t.Errorf("bob got what he may not have: %v, %v", ws.Status, err)
	}
}
