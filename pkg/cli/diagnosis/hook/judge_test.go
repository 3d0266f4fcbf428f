package hook_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	authorizationv1 "k8s.io/api/authorization/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	corev1alpha1 "github.com/forkless/kcp/pkg/apis/core/v1alpha1"
	tenancyv1alpha1 "github.com/forkless/kcp/pkg/apis/tenancy/v1alpha1"
	"github.com/forkless/kcp/pkg/cli/diagnosis"
	"github.com/forkless/kcp/pkg/cli/diagnosis/hook"
	"github.com/forkless/kcp/pkg/logicalcluster"
)

var (
	now       = time.Date(2026, 5, 4, 10, 30, 0, 0, time.UTC)
	home      = logicalcluster.MustParsePath("root:acme")
	forbidden = apierrors.NewForbidden(tenancyv1alpha1.Resource("workspacetypes"), "team", errors.New("access denied"))
	notFound  = apierrors.NewNotFound(tenancyv1alpha1.Resource("workspacetypes"), "team")
)

// findings are those of a terminator that nobody waits for, with changes.
func findings(edit func(f *hook.Findings)) *hook.Findings {
	f := &hook.Findings{
		Described: hook.Described{Kind: hook.Terminator, ID: "xyz:team", Name: "root:acme:team", Path: home, TypeName: "team", Type: &tenancyv1alpha1.WorkspaceType{}},
		Commands:  diagnosis.Commands{Here: home, URL: func(p logicalcluster.Path) string { return "https://server/clusters/" + p.String() }},
		Now:       now, OlderThan: hook.DefaultOlderThan, Asked: 1,
		Allowed: authorizationv1.SubjectAccessReviewStatus{Allowed: true},
	}
	f.Type.Status.VirtualWorkspaces = []tenancyv1alpha1.VirtualWorkspace{{URL: "https://a", Type: "terminating"}, {URL: "https://a", Type: "initializing"}}
	if edit != nil {
		edit(f)
	}
	return f
}

// waits returns a logical cluster that has waited for so long.
func waits(name string, age time.Duration) corev1alpha1.LogicalCluster {
	deleted := metav1.NewTime(now.Add(-age))
	return corev1alpha1.LogicalCluster{
		ObjectMeta: metav1.ObjectMeta{DeletionTimestamp: &deleted, Annotations: map[string]string{"kcp.io/cluster": "c" + name, "kcp.io/path": "root:acme:" + name}},
		Status:     corev1alpha1.LogicalClusterStatus{Phase: corev1alpha1.PhaseTerminating},
	}
}

func TestJudge(t *testing.T) {
	controller := []rbacv1.Subject{{Kind: "ServiceAccount", Namespace: "default", Name: "c"}}
	for name, c := range map[string]struct {
		reason          string
		edit            func(f *hook.Findings)
		states          []string
		blocker, next   string
		message, detail string
	}{
		"Idle": {reason: "nobody waits", states: []string{"you may terminate=ok"}, message: "virtual workspace answers on 1 of 1 shards"},
		"Late": {
			reason: "who has waited the longest is the first to be helped",
			edit: func(f *hook.Findings) {
				f.Grants = controller
				f.Waiting = []corev1alpha1.LogicalCluster{waits("old", 72*time.Hour), waits("new", 12*time.Minute), waits("now", time.Second)}
			},
			states:  []string{"you may terminate=ok", "controllers=ok", "3 logical clusters=waiting"},
			blocker: "2 waiting longer than 5m", next: "kubectl kcp debug terminator root:acme:team --done :root:acme:old", detail: "root:acme:now",
		},
		"InTime": {
			reason: "who has not waited for long is no problem, but can be helped all the same",
			edit: func(f *hook.Findings) {
				f.Grants = controller
				f.Waiting = []corev1alpha1.LogicalCluster{waits("new", time.Minute)}
			},
			states: []string{"you may terminate=ok", "controllers=ok", "1 logical cluster=waiting"}, detail: "root:acme:new",
		},
		"Nobody": {
			reason: "where nobody may act accounts that might are suggested",
			edit: func(f *hook.Findings) {
				f.Accounts = []string{"system:serviceaccount:default:c"}
				f.Waiting = []corev1alpha1.LogicalCluster{waits("old", time.Hour)}
			},
			states:  []string{"you may terminate=ok", "controllers=warning", "1 logical cluster=waiting"},
			blocker: "1 waiting longer than 5m, and nobody was granted verb terminate", next: "kubectl kcp debug terminator root:acme:team --as system:serviceaccount:default:c",
		},
		"RolesUnread": {
			reason: "who may act is not known to everybody",
			edit: func(f *hook.Findings) {
				f.GrantsErr = forbidden
				f.Waiting = []corev1alpha1.LogicalCluster{waits("old", time.Hour)}
			},
			states: []string{"you may terminate=ok", "controllers=unknown", "1 logical cluster=waiting"}, blocker: "1 waiting longer than 5m", next: "--done :root:acme:old",
		},
		"TypeGone": {
			reason: "without its type nobody can act",
			edit: func(f *hook.Findings) {
				f.Type, f.Err = nil, notFound
				f.Waiting = []corev1alpha1.LogicalCluster{waits("old", time.Hour)}
			},
			states:  []string{"you may terminate=ok", "1 logical cluster=waiting"},
			blocker: "the WorkspaceType is gone", next: "--done :root:acme:old", message: "virtual workspace answers",
		},
		"NotPermitted": {
			reason: "who may not act is told of workspaces that can be listed, and which ones these are",
			edit: func(f *hook.Findings) {
				f.Allowed.Allowed, f.WaitingErr, f.Looked = false, forbidden, []string{"root:acme"}
				deleted := metav1.NewTime(now.Add(-time.Hour))
				f.Workspaces = []tenancyv1alpha1.Workspace{{ObjectMeta: metav1.ObjectMeta{Name: "root:acme:x", DeletionTimestamp: &deleted}, Spec: tenancyv1alpha1.WorkspaceSpec{Cluster: "cx"}}}
				f.Grants = controller
			},
			states:  []string{"you may terminate=warning", "controllers=ok", "1 logical cluster=waiting"},
			blocker: "1 waiting longer than 5m", next: "--done :root:acme:x", message: "looked at the workspaces in root:acme only",
		},
		"Blind": {
			reason: "who may do neither knows nothing",
			edit:   func(f *hook.Findings) { f.Allowed.Allowed, f.WaitingErr = false, forbidden },
			states: []string{"you may terminate=unknown"}, message: "nor may you list workspaces",
		},
		"OtherLacksVerb": {
			reason: "somebody else who lacks the verb gets a role",
			edit: func(f *hook.Findings) {
				f.Other = &hook.Other{User: "system:serviceaccount:default:c", Access: authorizationv1.SubjectAccessReviewStatus{Allowed: true}}
			},
			states:  []string{"you may terminate=ok", "access=ok", "verb terminate=failed"},
			blocker: "system:serviceaccount:default:c may not terminate on workspacetypes/team in root:acme",
			next:    "kubectl create clusterrole terminate-team --verb=terminate --resource=workspacetypes.tenancy.kcp.io --resource-name=team",
		},
		"OtherLacksAccess": {
			reason:  "a user has to get in first",
			edit:    func(f *hook.Findings) { f.Other = &hook.Other{User: "bob"} },
			states:  []string{"you may terminate=ok", "access=failed", "verb terminate=failed"},
			blocker: "bob may not", next: "kubectl create clusterrolebinding access-bob --clusterrole=system:kcp:workspace:access --user=bob",
		},
		"OtherMay": {
			reason: "rules without discovery surprise most clients",
			edit: func(f *hook.Findings) {
				yes := authorizationv1.SubjectAccessReviewStatus{Allowed: true}
				f.Other = &hook.Other{User: "bob", Access: yes, Allowed: yes}
				f.Type.Spec.TerminatorPermissions = []rbacv1.PolicyRule{{Verbs: []string{"get"}, APIGroups: []string{"a.b"}, Resources: []string{"xs"}}}
			},
			states: []string{"you may terminate=ok", "access=ok", "verb terminate=ok", "virtual workspace=ok", "rules=warning"}, detail: "get",
		},
		"OtherUnknown": {
			reason: "who may not ask for others is not told that they may not",
			edit:   func(f *hook.Findings) { f.Other = &hook.Other{User: "bob", Err: forbidden} },
			states: []string{"you may terminate=ok", "permissions=unknown"}, blocker: "what bob may is not known", next: "kubectl auth can-i",
		},
	} {
		t.Run(name, func(t *testing.T) {
			d := hook.Judge(findings(c.edit))
			var states []string
			for _, check := range d.Checks {
				states = append(states, check.Name+"="+string(check.State))
			}
			if !slices.Equal(states, c.states) {
				t.Fatalf("%s: checks are %q, want %q", c.reason, states, c.states)
			}
			if !strings.Contains(d.Checks[0].Message, c.message) {
				t.Errorf("%s: it says %q, want %q", c.reason, d.Checks[0].Message, c.message)
			}
			last := d.Checks[len(d.Checks)-1]
			if c.detail != "" && (len(last.Details) == 0 || last.Details[0].Name != c.detail) {
				t.Errorf("%s: details are %+v, want %s first", c.reason, last.Details, c.detail)
			}
			if c.blocker == "" {
				if len(d.Blockers) > 0 {
					t.Errorf("%s: %+v block", c.reason, d.Blockers)
				}
				return
			}
			if len(d.Blockers) != 1 || !strings.Contains(d.Blockers[0].Message, c.blocker) || !strings.Contains(d.Blockers[0].Next[0], c.next) {
				t.Errorf("%s: blockers are %+v, want %q with %q", c.reason, d.Blockers, c.blocker, c.next)
			}
		})
	}
}

func TestSplit(t *testing.T) {
	for id, want := range map[string][2]string{
		"root:acme:team": {"root:acme", "team"}, "1x2abc:team": {"1x2abc", "team"}, "system:apibindings": {}, "team": {}, "team:": {}, ":team": {},
	} {
		in, name, ok := hook.Split(id)
		if in != want[0] || name != want[1] || ok != (want[0] != "") {
			t.Errorf("%q was split into %q and %q, %t", id, in, name, ok)
		}
	}
}

func TestLastWrite(t *testing.T) {
	lc := &corev1alpha1.LogicalCluster{}
	for reason, c := range map[string]struct {
		annotation string
		want       string
	}{
		"nobody has written":                          {"", ""},
		"the initializer has":                         {`{"i:x:t":{"by":"bob","at":"2026-05-04T10:00:00Z"}}`, "bob"},
		"a terminator of the same name is another":    {`{"t:x:t":{"by":"bob","at":"2026-05-04T10:00:00Z"}}`, ""},
		"what somebody has broken says nothing of it": {`{`, ""},
	} {
		lc.Annotations = map[string]string{tenancyv1alpha1.HooksAnnotationKey: c.annotation}
		if last, ok := hook.Initializer.LastWrite(lc, "x:t"); last.By != c.want || ok != (c.want != "") {
			t.Errorf("%s: got %+v, %t", reason, last, ok)
		}
	}
}
