package phase_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/forkless/kcp/internal/tenancy/phase"
	"github.com/forkless/kcp/pkg/apis/conditions"
	corev1alpha1 "github.com/forkless/kcp/pkg/apis/core/v1alpha1"
	"github.com/forkless/kcp/pkg/tenancy"
)

const hooksAnnotation = "internal.tenancy.kcp.io/hooks"

func hook(t *testing.T, kind tenancy.HookKind, id string) tenancy.Hook {
	t.Helper()
	hook, err := tenancy.ParseHook(kind, id)
	if err != nil {
		t.Fatal(err)
	}
	return hook
}

// initializing is a logical cluster that waits for two initializers, with a record.
func initializing(recorded string) *lc {
	l := inPhase(corev1alpha1.PhaseInitializing, "root:a", "system:apibindings")
	l.CreationTimestamp = now
	if recorded != "" {
		l.Annotations = map[string]string{hooksAnnotation: recorded}
	}
	return l
}

// terminating is a logical cluster that is being deleted and waits for a terminator.
func terminating() *lc {
	l := inPhase(corev1alpha1.PhaseTerminating)
	l.ObjectMeta = deleted("core.kcp.io/logicalcluster-deletion", "kcp.io/has-terminators")
	l.Status.Terminators = []corev1alpha1.Terminator{"root:a"}
	return l
}

func TestRecordWrite(t *testing.T) {
	alive := inPhase(corev1alpha1.PhaseReady)
	alive.Status.Terminators = []corev1alpha1.Terminator{"root:a"}
	cases := map[string]struct {
		reason   string
		observed *lc
		kind     tenancy.HookKind
		id       string
		user     string
		want     string
	}{
		"First":  {reason: "the first write is remembered", observed: initializing(""), id: "root:a", user: "ctl", want: `{"i:root:a":{"by":"ctl","at":"2026-01-02T03:04:05Z"}}`},
		"Recent": {reason: "a controller that writes a lot costs one write a minute", observed: initializing(`{"i:root:a":{"by":"ctl","at":"2026-01-02T03:03:06Z"}}`), id: "root:a", user: "other"},
		"Later": {
			reason:   "a minute later it is remembered again, and by whom",
			observed: initializing(`{"i:root:a":{"by":"ctl","at":"2026-01-02T03:03:05Z"}}`), id: "root:a", user: "other",
			want: `{"i:root:a":{"by":"other","at":"2026-01-02T03:04:05Z"}}`,
		},
		"Future": {
			reason:   "a time that is yet to come was written by somebody else, and keeps nobody from writing",
			observed: initializing(`{"i:root:a":{"by":"ctl","at":"2036-01-02T03:03:05Z"}}`), id: "root:a", user: "ctl",
			want: `{"i:root:a":{"by":"ctl","at":"2026-01-02T03:04:05Z"}}`,
		},
		"Broken": {
			reason:   "what cannot be read is replaced",
			observed: initializing(`{"i:root:a":`), id: "root:a", user: "ctl", want: `{"i:root:a":{"by":"ctl","at":"2026-01-02T03:04:05Z"}}`,
		},
		"Done":     {reason: "who is not waited for has nothing to write", observed: initializing(""), id: "root:b", user: "ctl"},
		"TooEarly": {reason: "a terminator's turn comes with the deletion", observed: alive, kind: tenancy.Terminating, id: "root:a", user: "ctl"},
		"Terminator": {
			reason: "terminators are told from initializers of the same name", observed: terminating(), kind: tenancy.Terminating, id: "root:a", user: "ctl",
			want: `{"t:root:a":{"by":"ctl","at":"2026-01-02T03:04:05Z"}}`,
		},
		"LongName": {
			reason: "a name of any length is kept to a bound", observed: initializing(""), id: "root:a", user: strings.Repeat("x", 1000),
			want: `{"i:root:a":{"by":"` + strings.Repeat("x", 256) + `…","at":"2026-01-02T03:04:05Z"}}`,
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			if c.kind == "" {
				c.kind = tenancy.Initializing
			}
			before := c.observed.DeepCopy()
			got, changed := phase.RecordWrite(c.observed, hook(t, c.kind, c.id), c.user, now)
			if diff := cmp.Diff(before, c.observed); diff != "" {
				t.Fatalf("the input was changed (-before +after):\n%s", diff)
			}
			if changed != (c.want != "") || changed == (got == c.observed) {
				t.Fatalf("%s: changed is %t", c.reason, changed)
			}
			if changed && got.Annotations[hooksAnnotation] != c.want {
				t.Errorf("%s: got %s, want %s", c.reason, got.Annotations[hooksAnnotation], c.want)
			}
		})
	}
}

// TestHookConditions: who waits is told who is waited for, since when, and whether its
// controller does anything.
func TestHookConditions(t *testing.T) {
	recorded, _ := phase.RecordWrite(terminating(), hook(t, tenancy.Terminating, "root:a"), "ctl", now)
	finished := recorded.DeepCopy()
	finished = phase.LogicalCluster(phase.LogicalClusterInput{Observed: finished, Now: now}).DeepCopy()
	finished.Status.Terminators = nil
	odd := initializing("")
	odd.Status.Initializers = []corev1alpha1.Initializer{"odd"}
	cases := map[string]struct {
		reason        string
		observed      *lc
		condition     conditions.Type
		want, records string
	}{
		"NeverWritten": {
			reason: "a controller that has never written may not run at all", observed: initializing(""), condition: "WorkspaceInitialized",
			want: "Initializers still exist: root:a (since 2026-01-02T03:04:05Z, never written), system:apibindings (since 2026-01-02T03:04:05Z, done by the server)",
		},
		"Written": {
			reason: "one that has is told with the time, not with how long that was ago", condition: "WorkspaceInitialized",
			observed: initializing(`{"i:root:a":{"by":"c\"l","at":"2026-01-02T03:03:06Z"},"i:root:b":{"by":"gone","at":"2026-01-02T03:03:06Z"},"t:root:a":{"by":"not yet","at":"2026-01-02T03:03:06Z"}}`),
			want:     `Initializers still exist: root:a (since 2026-01-02T03:04:05Z, last written by "c\"l" at 2026-01-02T03:03:06Z), system:apibindings (since 2026-01-02T03:04:05Z, done by the server)`,
			records:  `{"i:root:a":{"by":"c\"l","at":"2026-01-02T03:03:06Z"}}`,
		},
		"Odd": {
			reason: "an identifier of no known form is shown as it is", observed: odd, condition: "WorkspaceInitialized",
			want: "Initializers still exist: odd (since 2026-01-02T03:04:05Z, never written)",
		},
		"Terminator": {
			reason: "the same for terminators", observed: recorded, condition: "WorkspaceTerminated",
			want:    `Terminators still exist: root:a (since 2026-01-02T03:04:05Z, last written by "ctl" at 2026-01-02T03:04:05Z)`,
			records: `{"t:root:a":{"by":"ctl","at":"2026-01-02T03:04:05Z"}}`,
		},
		"Terminated": {reason: "once they are done nothing is left of it", observed: finished, condition: "WorkspaceTerminated"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			got := phase.LogicalCluster(phase.LogicalClusterInput{Observed: c.observed, Now: now})
			condition, ok := conditions.Get(got, c.condition)
			if !ok || condition.Message != c.want {
				t.Errorf("%s:\n got %s\nwant %s", c.reason, condition.Message, c.want)
			}
			if got.Annotations[hooksAnnotation] != c.records {
				t.Errorf("%s: remembered is %s, want %s", c.reason, got.Annotations[hooksAnnotation], c.records)
			}
			later := metav1.NewTime(now.Add(time.Hour))
			if again := phase.LogicalCluster(phase.LogicalClusterInput{Observed: got, Now: later}); again != got {
				t.Errorf("time alone changes something:\n%s", cmp.Diff(got, again))
			}
		})
	}
}

func TestNoTerminatorsNoCondition(t *testing.T) {
	dying := inPhase(corev1alpha1.PhaseReady)
	dying.ObjectMeta = deleted("core.kcp.io/logicalcluster-deletion")
	if got := phase.LogicalCluster(phase.LogicalClusterInput{Observed: dying, Now: now}); conditions.Has(got, corev1alpha1.WorkspaceTerminated) {
		t.Error("a logical cluster without terminators tells of them")
	}
}
