package authz

import (
	"context"
	"errors"
	"strings"
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/audit"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/authorization/authorizer"

	bootstrap "github.com/forkless/kcp/config/rbac"
	"github.com/forkless/kcp/internal/authn/identity"
	corev1alpha1 "github.com/forkless/kcp/pkg/apis/core/v1alpha1"
	"github.com/forkless/kcp/pkg/logicalcluster"
)

var provider = logicalcluster.MustParseName("provider")

// bound is what teamA has bound of provider: widgets of an export with a policy, gadgets
// of one without, things of one that nobody can read.
type bound struct{}

func (bound) BoundFrom(in logicalcluster.Name, resource schema.GroupResource) (logicalcluster.Name, string, bool) {
	if in != teamA || resource.Group != "example.com" {
		return logicalcluster.Name{}, "", false
	}
	return provider, resource.Resource, true
}

func (bound) HasPolicy(_ context.Context, cluster logicalcluster.Name, name string) (bool, error) {
	if name == "things" {
		return false, errors.New("cannot be read")
	}
	return cluster == provider && name == "widgets", nil
}

// consumerMay returns what lets a consumer by that subject do with widgets.
func consumerMay(subject rbacv1.Subject, verbs ...string) *cluster {
	subject.Name = identity.BindingPrefix + subject.Name
	rules := rbacv1.PolicyRule{APIGroups: []string{"example.com"}, Resources: []string{"widgets"}, Verbs: verbs}
	return inPhase(corev1alpha1.PhaseReady, clusterRole("consumer", rules), bind("consumer", "consumer", subject))
}

func withExports(t testing.TB, of *cluster) *Authorizer {
	t.Helper()
	m := memory{
		teamA: inPhase(corev1alpha1.PhaseReady, bootstrap.WorkspaceAdmin("alice"), bootstrap.WorkspaceAdmin("bob"),
			bind("app", bootstrap.ClusterAdmin, serviceAccountSubject("default", "app"))),
		teamB: inPhase(corev1alpha1.PhaseReady, bootstrap.WorkspaceAdmin("alice")),
	}
	if of != nil {
		m[provider] = of
	}
	// The bindings of two administrators are called alike.
	m[teamA].objects[1].(*rbacv1.ClusterRoleBinding).Name = "other-admin"
	a, err := New(Config{Bootstrap: systemAdmin(t), Local: m, LogicalClusters: m, Exports: bound{}, Audited: true})
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func widgets(verb string) authorizer.AttributesRecord {
	return resource(verb, "example.com", "widgets", "", "w")
}

func TestMaximalPermissionPolicy(t *testing.T) {
	impersonated := with(somebody("alice", "vips"), identity.ScopesKey, "cluster:teama")
	for name, tc := range map[string]struct {
		reason     string
		provider   *cluster
		cluster    logicalcluster.Name
		user       user.Info
		attributes authorizer.AttributesRecord
		want       authorizer.Decision
	}{
		"NoRules":      {"without rules nobody may do anything, not even the admin", inPhase(corev1alpha1.PhaseReady), teamA, alice, widgets("get"), denied},
		"User":         {"a rule for the user lets him", consumerMay(userSubject("alice"), "get"), teamA, alice, widgets("get"), allowed},
		"OtherVerb":    {"for those verbs only", consumerMay(userSubject("alice"), "get"), teamA, alice, widgets("delete"), denied},
		"OtherUser":    {"for that user only", consumerMay(userSubject("alice"), "get"), teamA, bob, widgets("get"), denied},
		"Group":        {"a rule may be for a group", consumerMay(groupSubject(user.AllAuthenticated), "*"), teamA, bob, widgets("delete"), allowed},
		"Both":         {"the workspace has to agree", consumerMay(groupSubject(user.AllAuthenticated), "*"), teamA, carol, widgets("get"), undecided},
		"NoPrefix":     {"what the user may do in the workspace of the provider does not matter", inPhase(corev1alpha1.PhaseReady, bootstrap.WorkspaceAdmin("alice")), teamA, alice, widgets("get"), denied},
		"KcpAdmin":     {"the policy is for the admins of everything, too", inPhase(corev1alpha1.PhaseReady), teamA, kcpAdmin, widgets("get"), denied},
		"KcpAdmins":    {"as a group they can be let", consumerMay(groupSubject(identity.Admin), "*"), teamA, kcpAdmin, widgets("get"), allowed},
		"Masters":      {"it is not for those beyond authorization", inPhase(corev1alpha1.PhaseReady), teamA, masters, widgets("get"), allowed},
		"Elsewhere":    {"where the resource is not bound it means nothing", inPhase(corev1alpha1.PhaseReady), teamB, alice, widgets("get"), allowed},
		"Builtin":      {"nor for other resources", inPhase(corev1alpha1.PhaseReady), teamA, alice, configMap("delete"), allowed},
		"NoPolicy":     {"nor of exports without a policy", inPhase(corev1alpha1.PhaseReady), teamA, alice, resource("get", "example.com", "gadgets", "", "g"), allowed},
		"Path":         {"nor for paths", inPhase(corev1alpha1.PhaseReady), teamA, alice, url("/apis/example.com"), allowed},
		"Gone":         {"a provider that is gone grants nothing, while the export says so", nil, teamA, alice, widgets("get"), denied},
		"Impersonated": {"who was made a user or a group's member in the workspace is not one to the provider", consumerMay(groupSubject("vips"), "*"), teamA, impersonated, widgets("get"), denied},
		"ServiceAccount": {
			"a service account goes by its global name",
			consumerMay(userSubject("system:kcp:serviceaccount:teama:default:app"), "get"), teamA, serviceAccountOf("teama"), widgets("get"), allowed,
		},
		"ServiceAccountLocal": {
			"the one it has at home others have as well",
			consumerMay(userSubject(localServiceAccount), "get"), teamA, serviceAccountOf("teama"), widgets("get"), denied,
		},
		"Subresource": {
			"a subresource is a resource of its own",
			consumerMay(userSubject("alice"), "*"), teamA, alice, resource("get", "example.com", "widgets", "status", "w"), denied,
		},
	} {
		t.Run(name, func(t *testing.T) {
			a := withExports(t, tc.provider)
			checkDecisions(t, a, map[string]decision{"": {
				reason: tc.reason, cluster: tc.cluster, user: tc.user, attributes: tc.attributes, want: tc.want,
			}})
			checkDecisions(t, a.Reviews(), map[string]decision{"Review": {
				reason: "access reviews agree", cluster: tc.cluster, user: tc.user, attributes: tc.attributes, want: tc.want,
			}})
		})
	}
}

func TestUnknownPolicyGrantsNothing(t *testing.T) {
	a := withExports(t, inPhase(corev1alpha1.PhaseReady))
	attributes := resource("get", "example.com", "things", "", "t")
	attributes.User = alice
	if got, _, err := a.Authorize(in(t, teamA), &attributes); got == allowed || err == nil {
		t.Errorf("an export that cannot be read lets requests through: %v, %v", got, err)
	}
}

func TestTrailOfMaximalPermissionPolicy(t *testing.T) {
	const step = "request.auth.kcp.io/04-maxpermissionpolicy-"
	for name, tc := range map[string]struct {
		reason   string
		provider *cluster
		decision string
		says     string
	}{
		"Denied":  {"the step that denies says for which export", inPhase(corev1alpha1.PhaseReady), "Denied", `maximal permission policy of export "provider|widgets": `},
		"Allowed": {"the one that passes by which rule", consumerMay(userSubject("alice"), "get"), "Allowed", `delegating due to maximal permission policy of export "provider|widgets": RBAC: allowed by ClusterRoleBinding "consumer"`},
	} {
		t.Run(name, func(t *testing.T) {
			ctx := audit.WithAuditContext(in(t, teamA))
			attributes := widgets("get")
			attributes.User = alice
			if _, _, err := withExports(t, tc.provider).Authorize(ctx, &attributes); err != nil {
				t.Fatal(err)
			}
			got := audit.AuditContextFrom(ctx).GetEventAnnotations()
			if got[step+"decision"] != tc.decision || !strings.HasPrefix(got[step+"reason"], tc.says) {
				t.Errorf("%s: got %v", tc.reason, got)
			}
		})
	}
}

func TestMaximalPermissionOfOthers(t *testing.T) {
	a := withExports(t, consumerMay(userSubject("alice"), "get"))
	for name, tc := range map[string]struct {
		reason string
		user   user.Info
		verb   string
		want   bool
	}{
		"Granted":   {"the user of a virtual workspace is a consumer to the providers of others", alice, "get", true},
		"OtherVerb": {"for the verbs of the policy", alice, "list", false},
		"OtherUser": {"and the users", bob, "get", false},
		"Masters":   {"but for those beyond authorization", masters, "delete", true},
	} {
		// The attributes are of a request by somebody with more power.
		attributes := widgets(tc.verb)
		attributes.User = masters
		if got := a.MaximalPermission(in(t, teamB), provider, tc.user, &attributes); got != tc.want {
			t.Errorf("%s: %s: got %t", name, tc.reason, got)
		}
	}
}

// BenchmarkMaximalPermission decides about one request to a bound resource whose export
// has a policy: a second workspace's rules are looked at. It should stay below 20 µs, as
// others do.
func BenchmarkMaximalPermission(b *testing.B) {
	a := withExports(b, consumerMay(groupSubject(user.AllAuthenticated), "*"))
	ctx := in(b, teamA)
	attributes := widgets("get")
	attributes.User = alice
	b.ReportAllocs()
	for b.Loop() {
		if got, _, err := a.Authorize(ctx, &attributes); err != nil || got != allowed {
			b.Fatal(got, err)
		}
	}
}
