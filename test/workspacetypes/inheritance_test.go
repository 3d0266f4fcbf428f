package workspacetypes

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	corev1alpha1 "github.com/forkless/kcp/pkg/apis/core/v1alpha1"
)

var inheritance = map[string]behavior{
	"ByName":       {"a base without a path is looked for from the extending type upwards, not from the workspace to be", extendByName},
	"Transitive":   {"what is extended by what a type extends is inherited in order, each once", extendTransitively},
	"NotUniversal": {"row 12: without universal there are no namespaces and no workspaces", notUniversal},
	"Labels":       {"row 64: labels come from the type itself, not from what it extends, and replace none", labels},
	"MissingBase":  {"a base that is missing is named with who extends it, and a workspace that is there stays", missingBase},
	"Circle":       {"row 25: a circle across workspaces is named, step by step", circle},
	"InFlight":     {"what hooks a workspace has is decided when it is born: later changes are for later workspaces", inFlight},
}

func extendByName(t *testing.T, s *suite) {
	upper := s.universal(t)
	lower := upper.below(s, upper.workspace("root", "universal"))
	upper.newType("base", `{"initializer":true}`)
	upper.newType("derived", `{"extend":{"with":[{"name":"base"}]}}`)
	// Nearer to the new workspace, and none of the business of the type above.
	lower.newType("base", `{"extend":{"with":[{"name":"universal"}]}}`)
	ws := lower.begin(upper.path, "derived")
	got := lower.below(s, ws).logicalCluster().Spec.Initializers
	if diff := cmp.Diff([]corev1alpha1.Initializer{corev1alpha1.Initializer(upper.cluster + ":base")}, got); diff != "" {
		t.Errorf("initializers (-want +got):\n%s", diff)
	}
}

func extendTransitively(t *testing.T, s *suite) {
	w := s.universal(t)
	w.newType("a", `{"initializer":true,"terminator":true,"extend":{"with":[{"name":"b"},{"name":"c","path":"`+w.cluster+`"}]}}`)
	w.newType("b", `{"initializer":true,"extend":{"with":[{"name":"d","path":"`+w.path+`"}]}}`)
	w.newType("c", `{"terminator":true,"extend":{"with":[{"name":"d"}]}}`)
	w.newType("d", `{"initializer":true,"terminator":true,"defaultAPIBindings":[{"path":"root","export":"topology.kcp.io"}]}`)
	lc := w.below(s, w.begin(w.path, "a")).logicalCluster()
	own := func(name string) string { return w.cluster + ":" + name }
	var initializers, terminators []string
	for _, i := range lc.Spec.Initializers {
		initializers = append(initializers, string(i))
	}
	for _, i := range lc.Spec.Terminators {
		terminators = append(terminators, string(i))
	}
	if diff := cmp.Diff([]string{own("b"), own("d"), own("a"), "system:apibindings"}, initializers); diff != "" {
		t.Errorf("initializers (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{own("d"), own("c"), own("a")}, terminators); diff != "" {
		t.Errorf("terminators (-want +got):\n%s", diff)
	}
}

func notUniversal(t *testing.T, s *suite) {
	w := s.universal(t)
	w.newType("plain", `{}`)
	plain := w.below(s, w.workspace(w.path, "plain"))
	kube, err := kubernetes.NewForConfig(plain.config)
	if err != nil {
		t.Fatal(err)
	}
	_, err = kube.CoreV1().Namespaces().Get(t.Context(), "default", metav1.GetOptions{})
	refused(t, err, 404)
	_, err = plain.tryWorkspace("root", "universal")
	refused(t, err, 404)
}

func labels(t *testing.T, s *suite) {
	w := s.universal(t)
	w.newType("base", `{"additionalWorkspaceLabels":{"from":"base","base":"yes"}}`)
	w.newType("derived", `{"extend":{"with":[{"name":"base"}]},"additionalWorkspaceLabels":{"from":"derived","mine":"type's"}}`)
	created := w.mustCreate(workspaces, `{"metadata":{"generateName":"ws-","labels":{"mine":"own"}},"spec":{"type":{"name":"derived"}}}`)
	got := created.GetLabels()
	delete(got, "tenancy.kcp.io/phase")
	if diff := cmp.Diff(map[string]string{"mine": "own", "from": "derived"}, got); diff != "" {
		t.Errorf("labels (-want +got):\n%s", diff)
	}
	w.patch(types, "derived", `{"spec":{"additionalWorkspaceLabels":{"later":"yes"}}}`)
	if ws := w.ready(created.GetName()); ws.Labels["later"] != "" {
		t.Errorf("labels are put on at creation, and never later: %v", ws.Labels)
	}
}

func missingBase(t *testing.T, s *suite) {
	w := s.universal(t)
	w.newType("derived", `{"extend":{"with":[{"name":"universal"},{"name":"base"}]}}`)
	_, err := w.tryWorkspace(w.path, "derived")
	refused(t, err, 403, `workspace type `+w.path+`:derived extends "base"`, `"base" not found`)
	w.newType("base", `{}`)
	allowed(t, "the base has come", func() error { _, err := w.tryWorkspace(w.path, "derived"); return err })
	parent := w.below(s, w.workspace(w.path, "derived"))
	w.delete(types, "base")
	_, err = parent.tryWorkspace("root", "universal")
	refused(t, err, 403, `extends "base"`)
	if phase := parent.logicalCluster().Status.Phase; phase != corev1alpha1.PhaseReady {
		t.Errorf("the workspace is %s", phase)
	}
}

func circle(t *testing.T, s *suite) {
	one, two := s.universal(t), s.universal(t)
	one.newType("hen", `{"extend":{"with":[{"name":"egg","path":"`+two.path+`"}]}}`)
	two.newType("egg", `{"extend":{"with":[{"name":"hen","path":"`+one.cluster+`"}]}}`)
	one.newType("farm", `{"extend":{"with":[{"name":"hen"}]}}`)
	hen, egg := one.path+":hen", two.path+":egg"
	_, err := two.tryWorkspace(one.path, "farm")
	refused(t, err, 403, "workspace types extend each other in a circle: "+hen+" -> "+egg+" -> "+hen)
}

func inFlight(t *testing.T, s *suite) {
	w := s.universal(t)
	w.newType("slow", `{"initializer":true}`)
	first := w.begin(w.path, "slow")
	w.patch(types, "slow", `{"spec":{"initializer":false,"terminator":true,"limitAllowedParents":{"none":true}}}`)
	_, err := w.tryWorkspace(w.path, "slow")
	refused(t, err, 403, w.path+":slow allows no parents")
	lc := w.below(s, first).logicalCluster()
	if len(lc.Spec.Initializers) != 1 || len(lc.Status.Initializers) != 1 || len(lc.Spec.Terminators) != 0 {
		t.Errorf("the workspace under way has %+v and %+v", lc.Spec, lc.Status)
	}
	w.patch(types, "slow", `{"spec":{"limitAllowedParents":null}}`)
	second := w.workspace(w.path, "slow")
	if lc := w.below(s, second).logicalCluster(); len(lc.Spec.Initializers) != 0 || len(lc.Spec.Terminators) != 1 {
		t.Errorf("the one that came later has %+v", lc.Spec)
	}
}
