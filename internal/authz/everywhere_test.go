package authz

import (
	"context"
	"errors"
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/authorization/authorizer"

	bootstrap "github.com/forkless/kcp/config/rbac"
	"github.com/forkless/kcp/internal/authn/identity"
	corev1alpha1 "github.com/forkless/kcp/pkg/apis/core/v1alpha1"
	tenancyv1alpha1 "github.com/forkless/kcp/pkg/apis/tenancy/v1alpha1"
	"github.com/forkless/kcp/pkg/logicalcluster"
)

func workspaces(verb string) authorizer.AttributesRecord {
	return resource(verb, "tenancy.kcp.io", "workspaces", "", "")
}

// everywhereGrants is a policy of system:admin with more in it than a new one has: auditors
// may enter all workspaces and read them, visitors may enter only, readers may read only.
func everywhereGrants() []runtime.Object {
	return []runtime.Object{
		clusterRole("workspace-reader", rbacv1.PolicyRule{
			APIGroups: []string{"tenancy.kcp.io"}, Resources: []string{"workspaces"}, Verbs: []string{"get", "list", "watch"},
		}),
		clusterRole("visitor", rbacv1.PolicyRule{NonResourceURLs: []string{"/"}, Verbs: []string{"access"}}),
		bind("auditors-enter", "visitor", groupSubject("auditors"), groupSubject("visitors")),
		bind("auditors-read", "workspace-reader", groupSubject("auditors"), groupSubject("readers")),
	}
}

// TestEverywhere tells who may read the workspaces of all logical clusters at once, and that
// nobody sees anything by it that he would not see by asking in each of them.
func TestEverywhere(t *testing.T) {
	everywhere := logicalcluster.Wildcard
	m := memory{
		logicalcluster.Root: rootCluster(),
		teamA:               inPhase(corev1alpha1.PhaseReady, bootstrap.WorkspaceAdmin("alice")),
		teamB:               requiring("vips"),
	}
	warrant := identity.NewWarrant(kcpAdmin).String()
	checkDecisions(t, newAuthorizer(t, m, everywhereGrants()...), map[string]decision{
		"List":  {reason: "kcp-admin may list in each, required groups or not", cluster: everywhere, user: kcpAdmin, attributes: workspaces("list"), want: allowed},
		"Watch": {reason: "and watch", cluster: everywhere, user: kcpAdmin, attributes: workspaces("watch"), want: allowed},
		"One": {
			reason: "a list of one name is a list", cluster: everywhere, user: kcpAdmin,
			attributes: resource("list", "tenancy.kcp.io", "workspaces", "", "app"), want: allowed,
		},
		"OtherVersion": {
			reason: "versions are not a matter of permissions", cluster: everywhere, user: kcpAdmin,
			attributes: authorizer.AttributesRecord{Verb: "list", APIGroup: "tenancy.kcp.io", APIVersion: "v2", Resource: "workspaces", ResourceRequest: true}, want: allowed,
		},
		"Get":              {reason: "nothing is read one by one", cluster: everywhere, user: kcpAdmin, attributes: workspaces("get"), want: undecided},
		"Create":           {reason: "nothing is written", cluster: everywhere, user: kcpAdmin, attributes: workspaces("create"), want: undecided},
		"Delete":           {reason: "least of all deleted", cluster: everywhere, user: kcpAdmin, attributes: workspaces("deletecollection"), want: undecided},
		"Status":           {reason: "statuses come with the objects", cluster: everywhere, user: kcpAdmin, attributes: resource("list", "tenancy.kcp.io", "workspaces", "status", ""), want: undecided},
		"Types":            {reason: "other resources of the group are not meant", cluster: everywhere, user: kcpAdmin, attributes: resource("list", "tenancy.kcp.io", "workspacetypes", "", ""), want: undecided},
		"LogicalClusters":  {reason: "nor other groups", cluster: everywhere, user: kcpAdmin, attributes: resource("list", "core.kcp.io", "logicalclusters", "", ""), want: undecided},
		"OtherGroup":       {reason: "nor resources of that name elsewhere", cluster: everywhere, user: kcpAdmin, attributes: resource("list", "example.com", "workspaces", "", ""), want: undecided},
		"Secrets":          {reason: "nor content", cluster: everywhere, user: kcpAdmin, attributes: resource("list", "", "secrets", "", ""), want: undecided},
		"Discovery":        {reason: "nor discovery", cluster: everywhere, user: kcpAdmin, attributes: url("/apis"), want: undecided},
		"Impersonate":      {reason: "nobody becomes somebody else everywhere", cluster: everywhere, user: kcpAdmin, attributes: resource("impersonate", "", "users", "", "bob"), want: undecided},
		"WorkspaceAdmin":   {reason: "admins of a workspace are that there", cluster: everywhere, user: alice, attributes: workspaces("list"), want: undecided},
		"Everybody":        {reason: "that all may list in root says nothing about others", cluster: everywhere, user: bob, attributes: workspaces("list"), want: undecided},
		"Anonymous":        {reason: "and nothing about strangers", cluster: everywhere, user: anonymous, attributes: workspaces("list"), want: undecided},
		"RequiredGroups":   {reason: "who may be shut out of a cluster by required groups asks in each", cluster: everywhere, user: somebody("a", "auditors"), attributes: workspaces("list"), want: undecided},
		"InRequiredGroups": {reason: "even if he is in those of today: they may change while he watches", cluster: everywhere, user: somebody("a", "auditors", "vips"), attributes: workspaces("watch"), want: undecided},
		"Scoped": {
			reason: "who counts as himself in one cluster is nobody in others", cluster: everywhere,
			user: with(kcpAdmin, identity.ScopesKey, "cluster:teama"), attributes: workspaces("list"), want: undecided,
		},
		"ScopedToAll": {
			reason: "a scope cannot name all clusters", cluster: everywhere,
			user: with(kcpAdmin, identity.ScopesKey, "cluster:*"), attributes: workspaces("list"), want: undecided,
		},
		"Warrant": {
			reason: "a warrant may be good in some clusters only", cluster: everywhere,
			user: with(bob, identity.WarrantKey, warrant), attributes: workspaces("list"), want: undecided,
		},
		"WarrantBeside": {
			reason: "whoever has one asks in each", cluster: everywhere,
			user: with(kcpAdmin, identity.WarrantKey, warrant), attributes: workspaces("list"), want: undecided,
		},
		"ServiceAccount": {
			reason: "a service account is itself where it comes from", cluster: everywhere,
			user: with(somebody("system:serviceaccount:default:app", identity.Admin), identity.ClusterNameKey, "teama"), attributes: workspaces("list"), want: undecided,
		},
	})
}

// TestEverywhereByPolicy shows that it is the policy of system:admin that decides, and not
// the group that somebody is in.
func TestEverywhereByPolicy(t *testing.T) {
	snapshot, err := NewSnapshot(everywhereGrants())
	if err != nil {
		t.Fatal(err)
	}
	m := memory{logicalcluster.Root: inPhase(corev1alpha1.PhaseReady)}
	a, err := New(Config{Bootstrap: NewBootstrap(snapshot), Local: m, LogicalClusters: m})
	if err != nil {
		t.Fatal(err)
	}
	exempt := identity.WorkspaceBootstrapper
	table := map[string]decision{
		"Both":    {reason: "whom it lets enter and read", user: somebody("a", "auditors", exempt), want: allowed},
		"NoRead":  {reason: "entering is not reading", user: somebody("a", "visitors", exempt), want: undecided},
		"NoEntry": {reason: "reading is not entering", user: somebody("a", "readers", exempt), want: undecided},
		"Neither": {reason: "a group that is granted nothing", user: kcpAdmin, want: undecided},
	}
	for name, tc := range table {
		tc.cluster, tc.attributes = logicalcluster.Wildcard, workspaces("list")
		table[name] = tc
	}
	checkDecisions(t, a, table)
}

// TestEverywhereClosed is about logical clusters that cannot be entered: what is in them must
// not be seen by way of all clusters.
func TestEverywhereClosed(t *testing.T) {
	offline := inPhase(corev1alpha1.PhaseReady)
	offline.logicalCluster.Annotations = map[string]string{"core.kcp.io/inactive": "true"}
	for name, tc := range map[string]struct {
		reason string
		other  *cluster
		want   authorizer.Decision
	}{
		"Ready":        {"the usual case", inPhase(corev1alpha1.PhaseReady), allowed},
		"Initializing": {"may be entered", inPhase(corev1alpha1.PhaseInitializing), allowed},
		"Deleting":     {"may be entered to the end", inPhase(corev1alpha1.PhaseDeleting), allowed},
		"Scheduling":   {"is not open yet", inPhase(corev1alpha1.PhaseScheduling), undecided},
		"NoPhase":      {"nor is what has no phase", inPhase(""), undecided},
		"Unavailable":  {"is not open now", inPhase(corev1alpha1.PhaseUnavailable), undecided},
		"Offline":      {"answers nobody", offline, undecided},
	} {
		t.Run(name, func(t *testing.T) {
			a := newAuthorizer(t, memory{logicalcluster.Root: rootCluster(), teamA: tc.other})
			checkDecisions(t, a, map[string]decision{"": {
				reason: tc.reason, cluster: logicalcluster.Wildcard, user: kcpAdmin, attributes: workspaces("list"), want: tc.want,
			}})
		})
	}
}

// ownExport is the export that workspaces come from.
type ownExport struct {
	limited bool
	err     error
}

func (ownExport) BoundFrom(in logicalcluster.Name, resource schema.GroupResource) (logicalcluster.Name, string, bool) {
	bound := !in.IsWildcard() && resource == tenancyv1alpha1.Resource("workspaces")
	return logicalcluster.Root, tenancyv1alpha1.GroupName, bound
}

func (e ownExport) HasPolicy(context.Context, logicalcluster.Name, string) (bool, error) {
	return e.limited, e.err
}

// TestEverywherePolicies is about what else has a say in each cluster.
func TestEverywherePolicies(t *testing.T) {
	webhook := authorizer.AuthorizerFunc(func(context.Context, authorizer.Attributes) (authorizer.Decision, string, error) {
		return undecided, "", nil
	})
	consumer := identity.BindingPrefix + identity.Admin
	for name, tc := range map[string]struct {
		reason  string
		exports Exports
		root    []runtime.Object
		order   []string
		webhook authorizer.Authorizer
		user    user.Info
		want    authorizer.Decision
	}{
		"NoPolicy": {reason: "the export says nothing", exports: ownExport{}, user: kcpAdmin, want: allowed},
		"Policy":   {reason: "the export lets nobody read", exports: ownExport{limited: true}, user: kcpAdmin, want: denied},
		"PolicyAllows": {
			reason: "the export lets him read", exports: ownExport{limited: true}, user: kcpAdmin, want: allowed,
			root: []runtime.Object{bind("consumers", bootstrap.ClusterAdmin, groupSubject(consumer))},
		},
		"WebhookBehind": {reason: "a webhook that is asked later has no say in each either", order: DefaultOrder(), webhook: webhook, user: kcpAdmin, want: allowed},
		"WebhookBefore": {reason: "one that is asked before may say something else about each", order: []string{Webhook, RBAC}, webhook: webhook, user: kcpAdmin, want: undecided},
	} {
		t.Run(name, func(t *testing.T) {
			m := memory{logicalcluster.Root: inPhase(corev1alpha1.PhaseReady, tc.root...)}
			a, err := New(Config{Order: tc.order, Webhook: tc.webhook, Bootstrap: systemAdmin(t), Local: m, LogicalClusters: m, Exports: tc.exports})
			if err != nil {
				t.Fatal(err)
			}
			checkDecisions(t, a, map[string]decision{"": {
				reason: tc.reason, cluster: logicalcluster.Wildcard, user: tc.user, attributes: workspaces("list"), want: tc.want,
			}})
		})
	}
}

// TestEverywhereUnread shows that nothing is granted while it is not known what there is.
func TestEverywhereUnread(t *testing.T) {
	boom := errors.New("boom")
	for name, config := range map[string]Config{
		"Clusters": {LogicalClusters: failing{boom}},
		"Exports":  {LogicalClusters: memory{}, Exports: ownExport{err: boom}},
	} {
		config.Bootstrap, config.Local = systemAdmin(t), memory{}
		a, err := New(config)
		if err != nil {
			t.Fatal(err)
		}
		attributes := workspaces("list")
		attributes.User = kcpAdmin
		if got, _, err := a.Authorize(in(t, logicalcluster.Wildcard), &attributes); got != undecided || !errors.Is(err, boom) {
			t.Errorf("%s: got %s, %v", name, got, err)
		}
	}
}
