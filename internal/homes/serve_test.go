package homes

import (
	"errors"
	"strings"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apiserver/pkg/authentication/user"
	testclock "k8s.io/utils/clock/testing"

	"github.com/forkless/kcp/internal/authn/identity"
	"github.com/forkless/kcp/internal/tenancy/home"
	"github.com/forkless/kcp/pkg/apis/conditions"
	corev1alpha1 "github.com/forkless/kcp/pkg/apis/core/v1alpha1"
	tenancyv1alpha1 "github.com/forkless/kcp/pkg/apis/tenancy/v1alpha1"
	"github.com/forkless/kcp/pkg/logicalcluster"
)

func TestCheckReady(t *testing.T) {
	born := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for name, tc := range map[string]struct {
		reason string
		phase  corev1alpha1.Phase
		age    time.Duration
		wait   bool
		fail   bool
	}{
		"New":         {reason: "it has just come", phase: corev1alpha1.PhaseInitializing, wait: true},
		"NoPhase":     {reason: "not even that much is known", wait: true},
		"Scheduling":  {reason: "it has no place yet", phase: corev1alpha1.PhaseScheduling, age: 59 * time.Second, wait: true},
		"Late":        {reason: "nobody waits for ever", phase: corev1alpha1.PhaseInitializing, age: time.Minute, fail: true},
		"Ready":       {reason: "it can be used", phase: corev1alpha1.PhaseReady},
		"ReadyForAge": {reason: "however long that took", phase: corev1alpha1.PhaseReady, age: time.Hour},
		"Ending":      {reason: "it says itself that it ends", phase: corev1alpha1.PhaseDeleting, age: time.Hour},
	} {
		t.Run(name, func(t *testing.T) {
			h := &Homes{config: Config{Clock: testclock.NewFakePassiveClock(born.Add(tc.age))}}
			ws := &tenancyv1alpha1.Workspace{Spec: tenancyv1alpha1.WorkspaceSpec{Cluster: "v1u4alow0iv9"}}
			ws.Status.Phase = tc.phase
			conditions.MarkFalse(ws, corev1alpha1.WorkspaceInitialized, corev1alpha1.ReasonInitializerExists, conditions.SeverityInfo, "Initializers still exist: root:slow")
			err := h.checkReady(&found{workspace: ws, since: born})
			switch {
			case tc.wait && !errors.Is(err, errNotYet), !tc.wait && !tc.fail && err != nil:
				t.Errorf("%s: %v", tc.reason, err)
			case tc.fail && (!apierrors.IsInternalError(err) || !strings.Contains(err.Error(), "root:slow")):
				t.Errorf("%s, and whoever asks is told why: %v", tc.reason, err)
			}
		})
	}
}

func TestUnfit(t *testing.T) {
	for name, tc := range map[string]struct {
		reason string
		caller user.DefaultInfo
		want   string
	}{
		"User":            {"a user has a home", user.DefaultInfo{Name: "alice"}, ""},
		"System":          {"so has one of the system, if the policy lets him", user.DefaultInfo{Name: "system:admin"}, ""},
		"Account":         {"what runs somewhere has none", user.DefaultInfo{Name: "system:serviceaccount:default:robot"}, "service accounts"},
		"Anonymous":       {"nobody has none", user.DefaultInfo{Name: "system:anonymous"}, "without authentication"},
		"Unauthenticated": {"nor has who is known by a name that he has only claimed", user.DefaultInfo{Name: "alice", Groups: []string{"system:unauthenticated"}}, "without authentication"},
		"Elsewhere": {
			"nor who has the name in another workspace, where somebody may have given it to him",
			user.DefaultInfo{Name: "alice", Extra: map[string][]string{identity.ScopesKey: {"cluster:elsewhere"}}}, "in other workspaces only",
		},
		"InRoot": {
			"who counts as himself in root, where he asks, has one",
			user.DefaultInfo{Name: "alice", Extra: map[string][]string{identity.ScopesKey: {"cluster:root"}}}, "",
		},
		"NoName":  {"nor who has no name", user.DefaultInfo{}, "without a name"},
		"BadName": {"nor whose name cannot be stored", user.DefaultInfo{Name: "\xff"}, "not valid UTF-8"},
	} {
		t.Run(name, func(t *testing.T) {
			err := unfit(&tc.caller)
			if (err == nil) != (tc.want == "") || err != nil && !strings.Contains(err.Error(), tc.want) {
				t.Errorf("%s: %v", tc.reason, err)
			}
		})
	}
}

func TestIsHomeOf(t *testing.T) {
	lc := func(annotations map[string]string) *corev1alpha1.LogicalCluster {
		lc := &corev1alpha1.LogicalCluster{}
		lc.Annotations = annotations
		return lc
	}
	owner, path := tenancyv1alpha1.OwnerAnnotationKey, logicalcluster.PathAnnotationKey
	for name, tc := range map[string]struct {
		reason string
		lc     *corev1alpha1.LogicalCluster
		want   bool
	}{
		"Owner":   {"it says so", lc(map[string]string{owner: `{"username":"alice"}`}), true},
		"Other":   {"it is another's, whose name has the same hash", lc(map[string]string{owner: `{"username":"mallory"}`, path: "user:alice"}), false},
		"Path":    {"somebody privileged has made it for her", lc(map[string]string{path: "user:alice"}), true},
		"Nothing": {"nobody knows whose it is", lc(nil), false},
	} {
		if got := isHomeOf(tc.lc, "alice"); got != tc.want {
			t.Errorf("%s: %s: got %v", name, tc.reason, got)
		}
	}
}

func TestSteps(t *testing.T) {
	b := &bucketed{Buckets: home.Buckets{Root: logicalcluster.MustParsePath("root:users"), Levels: 2, Size: 2}}
	adam := &user.DefaultInfo{Name: "adam"}
	want := []step{
		{name: "users", typeName: "homeroot"}, {name: "sj", typeName: "homebucket"}, {name: "pq", typeName: "homebucket"},
		{name: "adam", typeName: "home", owner: adam},
	}
	path := b.Root
	for i, s := range want {
		if i > 0 {
			path = path.Join(s.name)
		}
		got := b.steps(adam, path)
		if len(got) != i+1 || got[i] != s {
			t.Errorf("the way to %s is %v", path, got)
		}
	}
}
