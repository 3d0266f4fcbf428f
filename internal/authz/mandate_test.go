package authz

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/authorization/authorizer"

	bootstrap "github.com/forkless/kcp/config/rbac"
	"github.com/forkless/kcp/internal/authn/identity"
	corev1alpha1 "github.com/forkless/kcp/pkg/apis/core/v1alpha1"
	"github.com/forkless/kcp/pkg/logicalcluster"
)

const hookGroup = identity.InitializerPrefix + "provider:shop"

// mandate lets its bearer create ConfigMaps and widgets in teamA, and read a status that
// is the server's.
var mandate = &Mandate{Cluster: teamA, Group: hookGroup, Rules: []rbacv1.PolicyRule{
	{APIGroups: []string{""}, Resources: []string{"configmaps"}, Verbs: []string{"create"}},
	{APIGroups: []string{"example.com"}, Resources: []string{"widgets"}, Verbs: []string{"create"}},
	{APIGroups: []string{"apis.kcp.io"}, Resources: []string{"apibindings/status"}, Verbs: []string{"get"}},
	{NonResourceURLs: []string{"*"}, Verbs: []string{"get"}},
}}

func TestMandate(t *testing.T) {
	controller := somebody("controller", hookGroup)
	foreign := serviceAccountOf("provider")
	foreign.Groups = append([]string{hookGroup}, foreign.Groups...)
	required := requiring("vip")
	required.logicalCluster.Status.Phase = corev1alpha1.PhaseInitializing
	m := memory{
		teamA: inPhase(corev1alpha1.PhaseInitializing, bootstrap.WorkspaceAdmin("alice"),
			bind("group", bootstrap.ClusterAdmin, groupSubject(hookGroup))),
		teamB:               inPhase(corev1alpha1.PhaseInitializing, bootstrap.WorkspaceAdmin("controller")),
		provider:            inPhase(corev1alpha1.PhaseReady, clusterRole("nothing")),
		logicalcluster.Root: rootCluster(),
	}
	withPolicy := memory{teamA: m[teamA], provider: m[provider]}
	requiringGroups := memory{teamA: required}
	for name, tc := range map[string]struct {
		reason     string
		in         memory
		cluster    logicalcluster.Name
		user       user.Info
		attributes authorizer.AttributesRecord
		want       authorizer.Decision
	}{
		"Rule":             {"what a rule allows needs no policy in the workspace", m, teamA, controller, configMap("create"), allowed},
		"NoRule":           {"what none allows is not allowed", m, teamA, controller, configMap("get"), undecided},
		"NotByPolicies":    {"not even if a policy says so: the rules are all there is", m, teamA, somebody("alice", hookGroup), configMap("get"), undecided},
		"NotByAdmins":      {"nor for an admin of everything", m, teamA, somebody("admin", hookGroup, identity.Admin), configMap("get"), undecided},
		"ServiceAccount":   {"a service account of the provider acts in a cluster where it is nobody", m, teamA, foreign, configMap("create"), allowed},
		"SomebodyElse":     {"who is not in the group is judged by policies", m, teamA, alice, configMap("get"), allowed},
		"Nobody":           {"and gets nothing of it", m, teamA, bob, configMap("create"), undecided},
		"ElsewhereByRule":  {"it is good for one cluster", m, provider, controller, configMap("create"), undecided},
		"ElsewhereHimself": {"in others the caller is who he is", m, teamB, controller, configMap("get"), allowed},
		"SystemStatus":     {"what the server alone writes stays closed", m, teamA, controller, resource("get", "apis.kcp.io", "apibindings", "status", "b"), denied},
		"ProcessPath":      {"the process is not in the workspace", m, teamA, controller, url("/debug/pprof/heap"), undecided},
		"OtherPath":        {"paths in it are", m, teamA, controller, url("/apis"), allowed},
		"MaximalPolicy":    {"what a provider grants at most is the bound of everybody", withPolicy, teamA, controller, widgets("create"), denied},
		"RequiredGroups":   {"who is not in the required groups stays outside", requiringGroups, teamA, controller, configMap("create"), denied},
		"RequiredInGroup":  {"who is in them may act", requiringGroups, teamA, somebody("c", hookGroup, "vip"), configMap("create"), allowed},
		"RequiredOfNobody": {"service accounts are exempt as always", requiringGroups, teamA, foreign, configMap("create"), allowed},
		"Gone":             {"there is no acting in a cluster that has gone", memory{}, teamA, controller, configMap("create"), undecided},
	} {
		t.Run(name, func(t *testing.T) {
			a, err := New(Config{Bootstrap: systemAdmin(t), Local: tc.in, LogicalClusters: tc.in, Exports: bound{}, Audited: true})
			if err != nil {
				t.Fatal(err)
			}
			tc.attributes.User = tc.user
			got, _, err := a.Authorize(WithMandate(in(t, tc.cluster), mandate), &tc.attributes)
			if err != nil {
				t.Fatalf("%s: %v", tc.reason, err)
			}
			if got != tc.want {
				t.Errorf("%s: want %s, got %s", tc.reason, tc.want, got)
			}
		})
	}
}

// TestMandateRules: who acts under a mandate has, and may hand out, its rules and no others.
func TestMandateRules(t *testing.T) {
	m := memory{teamA: inPhase(corev1alpha1.PhaseInitializing, bootstrap.WorkspaceAdmin("controller"))}
	rules := NewRules(systemAdmin(t), m)
	ctx := WithMandate(in(t, teamA), mandate)
	got, err := rules.RulesFor(ctx, somebody("controller", hookGroup), "")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(mandate.Rules, got); diff != "" {
		t.Errorf("an admin of the workspace does not hand out as an initializer what he has as admin (-want +got):\n%s", diff)
	}
	got, err = rules.RulesFor(ctx, somebody("controller"), "")
	if err != nil {
		t.Fatal(err)
	}
	if cmp.Equal(mandate.Rules, got) || len(got) == 0 {
		t.Errorf("out of the group he has what policies give him, not %v", got)
	}
}
