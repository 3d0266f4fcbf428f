package tenancy_test

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	corev1alpha1 "github.com/forkless/kcp/pkg/apis/core/v1alpha1"
	"github.com/forkless/kcp/pkg/tenancy"
)

func TestParseHook(t *testing.T) {
	cases := map[string]struct {
		reason, id, cluster, typeName string
		system, malformed             bool
	}{
		"InRoot":    {reason: "types of root", id: "root:universal", cluster: "root", typeName: "universal"},
		"Below":     {reason: "the cluster, not the path", id: "0123456789abcdef:app", cluster: "0123456789abcdef", typeName: "app"},
		"System":    {reason: "no type describes the server's own", id: "system:apibindings", system: true},
		"Path":      {reason: "a path is not the name of a cluster", id: "root:org:app", malformed: true},
		"NoCluster": {reason: "both parts are needed", id: "app", malformed: true},
		"NoName":    {reason: "both parts are needed", id: "root:", malformed: true},
		"Wildcard":  {reason: "a type is in one place", id: "*:app", malformed: true},
		"Empty":     {reason: "nothing is nobody", id: "", malformed: true},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			hook, err := tenancy.ParseHook(tenancy.Initializing, c.id)
			if (err != nil) != c.malformed {
				t.Fatalf("%s: got error %v", c.reason, err)
			}
			if c.malformed {
				return
			}
			if hook.ID != c.id || hook.Cluster.String() != c.cluster || hook.Type != c.typeName || hook.System() != c.system {
				t.Errorf("%s: got %+v", c.reason, hook)
			}
		})
	}
}

func TestHookActiveIn(t *testing.T) {
	initializer := tenancy.Hook{Kind: tenancy.Initializing, ID: "root:a"}
	terminator := tenancy.Hook{Kind: tenancy.Terminating, ID: "root:a"}
	cluster := func(phase corev1alpha1.Phase, deleted bool, hooks ...string) *corev1alpha1.LogicalCluster {
		lc := &corev1alpha1.LogicalCluster{Status: corev1alpha1.LogicalClusterStatus{Phase: phase}}
		if deleted {
			now := metav1.Now()
			lc.DeletionTimestamp = &now
		}
		for _, hook := range hooks {
			lc.Status.Initializers = append(lc.Status.Initializers, corev1alpha1.Initializer(hook))
			lc.Status.Terminators = append(lc.Status.Terminators, corev1alpha1.Terminator(hook))
		}
		return lc
	}
	cases := map[string]struct {
		reason                  string
		cluster                 *corev1alpha1.LogicalCluster
		initializes, terminates bool
	}{
		"Initializing": {reason: "its turn", cluster: cluster(corev1alpha1.PhaseInitializing, false, "root:a"), initializes: true},
		"Done":         {reason: "it has removed itself", cluster: cluster(corev1alpha1.PhaseInitializing, false, "root:b")},
		"Ready":        {reason: "terminators are there before their time", cluster: cluster(corev1alpha1.PhaseReady, false, "root:a")},
		"Terminating":  {reason: "the end has begun", cluster: cluster(corev1alpha1.PhaseTerminating, true, "root:a"), terminates: true},
		"Marked":       {reason: "the phase follows the deletion with a delay", cluster: cluster(corev1alpha1.PhaseReady, true, "root:a"), terminates: true},
		"Deleting":     {reason: "it has removed itself", cluster: cluster(corev1alpha1.PhaseDeleting, true)},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			if got := initializer.ActiveIn(c.cluster); got != c.initializes {
				t.Errorf("%s: the initializer is active: %v", c.reason, got)
			}
			if got := terminator.ActiveIn(c.cluster); got != c.terminates {
				t.Errorf("%s: the terminator is active: %v", c.reason, got)
			}
		})
	}
}

func TestHookLabel(t *testing.T) {
	initializer, terminator := tenancy.Hook{Kind: tenancy.Initializing, ID: "root:a"}, tenancy.Hook{Kind: tenancy.Terminating, ID: "root:a"}
	if key, _ := initializer.Label(); key[:len(corev1alpha1.InitializerLabelPrefix)] != corev1alpha1.InitializerLabelPrefix {
		t.Errorf("the label of the initializer is %s", key)
	}
	if key, _ := terminator.Label(); key[:len(corev1alpha1.TerminatorLabelPrefix)] != corev1alpha1.TerminatorLabelPrefix {
		t.Errorf("the label of the terminator is %s", key)
	}
}
