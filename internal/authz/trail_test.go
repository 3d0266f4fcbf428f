package authz

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apiserver/pkg/audit"
	"k8s.io/apiserver/pkg/authentication/user"

	bootstrap "github.com/forkless/kcp/config/rbac"
	corev1alpha1 "github.com/forkless/kcp/pkg/apis/core/v1alpha1"
)

func TestTrail(t *testing.T) {
	m := memory{teamA: inPhase(corev1alpha1.PhaseReady, bootstrap.WorkspaceAdmin("alice"))}
	a := newAuthorizer(t, m)
	table := map[string]struct {
		reason string
		by     *Authorizer
		user   user.Info
		want   map[string]string
	}{
		"Local": {"each step that ran is in the event, gates with the final decision", a, alice, map[string]string{
			"request.auth.kcp.io/01-requiredgroups-decision":      "Allowed",
			"request.auth.kcp.io/01-requiredgroups-reason":        "delegating due to logical cluster does not require groups",
			"request.auth.kcp.io/02-content-decision":             "Allowed",
			"request.auth.kcp.io/02-content-reason":               "delegating due to user logical cluster access",
			"request.auth.kcp.io/03-systemcrd-decision":           "Allowed",
			"request.auth.kcp.io/03-systemcrd-reason":             "delegating due to no system CRD violation",
			"request.auth.kcp.io/04-maxpermissionpolicy-decision": "Allowed",
			"request.auth.kcp.io/04-maxpermissionpolicy-reason":   "delegating due to request is not to a bound resource",
			"request.auth.kcp.io/05-bootstrap-decision":           "NoOpinion",
			"request.auth.kcp.io/05-bootstrap-reason":             "bootstrap policy: ",
			"request.auth.kcp.io/05-local-decision":               "Allowed",
			"request.auth.kcp.io/05-local-reason":                 `local cluster "teama" policy: RBAC: allowed by ClusterRoleBinding "workspace-admin" of ClusterRole "cluster-admin" to User "alice"`,
		}},
		"Bootstrap": {"steps behind the one that allowed are not", a, kcpAdmin, map[string]string{
			"request.auth.kcp.io/01-requiredgroups-decision":      "Allowed",
			"request.auth.kcp.io/01-requiredgroups-reason":        "delegating due to logical cluster does not require groups",
			"request.auth.kcp.io/02-content-decision":             "Allowed",
			"request.auth.kcp.io/02-content-reason":               "delegating due to user logical cluster access",
			"request.auth.kcp.io/03-systemcrd-decision":           "Allowed",
			"request.auth.kcp.io/03-systemcrd-reason":             "delegating due to no system CRD violation",
			"request.auth.kcp.io/04-maxpermissionpolicy-decision": "Allowed",
			"request.auth.kcp.io/04-maxpermissionpolicy-reason":   "delegating due to request is not to a bound resource",
			"request.auth.kcp.io/05-bootstrap-decision":           "Allowed",
			"request.auth.kcp.io/05-bootstrap-reason":             `bootstrap policy: RBAC: allowed by ClusterRoleBinding "system:kcp:admin:cluster-admin" of ClusterRole "cluster-admin" to Group "system:kcp:admin"`,
		}},
		"Review": {"reviews have their own names", a.Reviews(), bob, map[string]string{
			"sar.auth.kcp.io/01-requiredgroups-decision": "NoOpinion",
			"sar.auth.kcp.io/01-requiredgroups-reason":   "delegating due to logical cluster does not require groups",
			"sar.auth.kcp.io/02-content-decision":        "NoOpinion",
			"sar.auth.kcp.io/02-content-reason":          "no verb=access permission on /",
		}},
		"Silent":  {"questions of the server itself are not in the event", a.Silent(), alice, map[string]string{}},
		"Masters": {"masters take no steps", a, masters, map[string]string{}},
	}
	for name, tc := range table {
		t.Run(name, func(t *testing.T) {
			ctx := audit.WithAuditContext(in(t, teamA))
			attributes := configMap("get")
			attributes.User = tc.user
			for range 2 { // the second time says nothing new
				if _, _, err := tc.by.Authorize(ctx, &attributes); err != nil {
					t.Fatal(err)
				}
			}
			got := audit.AuditContextFrom(ctx).GetEventAnnotations()
			if got == nil {
				got = map[string]string{}
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}
