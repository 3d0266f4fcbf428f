package authz

import (
	"context"
	"errors"
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/authorization/authorizer"

	bootstrap "github.com/forkless/kcp/config/rbac"
	"github.com/forkless/kcp/internal/authn/identity"
	corev1alpha1 "github.com/forkless/kcp/pkg/apis/core/v1alpha1"
	"github.com/forkless/kcp/pkg/logicalcluster"
)

// decision is one line of a decision table.
type decision struct {
	reason     string
	cluster    logicalcluster.Name
	user       user.Info
	attributes authorizer.AttributesRecord
	want       authorizer.Decision
}

func checkDecisions(t *testing.T, a authorizer.Authorizer, table map[string]decision) {
	t.Helper()
	for name, tc := range table {
		t.Run(name, func(t *testing.T) {
			tc.attributes.User = tc.user
			got, reason, err := a.Authorize(in(t, tc.cluster), &tc.attributes)
			if err != nil {
				t.Fatalf("%s: %v", tc.reason, err)
			}
			if got != tc.want {
				t.Errorf("%s: want %s, got %s", tc.reason, tc.want, got)
			}
			wantReason := reasonDenied
			if tc.want == authorizer.DecisionAllow {
				wantReason = reasonGranted
			}
			if reason != wantReason {
				t.Errorf("%s: clients read %q, want %q", tc.reason, reason, wantReason)
			}
		})
	}
}

// Short names for the tables below.
const (
	allowed   = authorizer.DecisionAllow
	denied    = authorizer.DecisionDeny
	undecided = authorizer.DecisionNoOpinion
)

var (
	masters   = somebody("shard-admin", identity.Masters)
	kcpAdmin  = somebody("kcp-admin", identity.Admin)
	alice     = somebody("alice")
	bob       = somebody("bob")
	carol     = somebody("carol")
	anonymous = &user.DefaultInfo{Name: user.Anonymous, Groups: []string{user.AllUnauthenticated}}
)

func TestAuthorize(t *testing.T) {
	m := memory{
		logicalcluster.Root: rootCluster(),
		teamA: inPhase(corev1alpha1.PhaseReady,
			bootstrap.WorkspaceAdmin("alice"),
			bind("enter", bootstrap.WorkspaceAccess, userSubject("carol")),
			configMapReader,
			bindIn("default", "read", "ClusterRole", "configmap-reader", userSubject("carol"), userSubject("dave")),
			bindIn("other", "read", "Role", "missing", userSubject("carol")),
		),
		teamB: inPhase(corev1alpha1.PhaseReady, bootstrap.WorkspaceAdmin("bob")),
	}
	checkDecisions(t, newAuthorizer(t, m), map[string]decision{
		"CreatorIsAdmin": {
			reason: "the creator of a workspace may do everything in it", cluster: teamA,
			user: alice, attributes: configMap("delete"), want: allowed,
		},
		"AdminOfOneOnly": {
			reason: "bindings of one workspace say nothing in another", cluster: teamB,
			user: alice, attributes: configMap("get"), want: undecided,
		},
		"NoDiscoveryWithoutAccess": {
			reason: "who may not enter sees not even discovery", cluster: teamA,
			user: bob, attributes: url("/apis"), want: undecided,
		},
		"NoVersionWithoutAccess": {
			reason: "nor the version", cluster: teamA,
			user: bob, attributes: url("/version"), want: undecided,
		},
		"DiscoveryWithAccess": {
			reason: "access brings what the bootstrap policy gives to everybody", cluster: teamA,
			user: carol, attributes: url("/apis"), want: allowed,
		},
		"AccessIsNotRead": {
			reason: "access alone gives no resources", cluster: teamA,
			user: carol, attributes: resource("list", "", "secrets", "", ""), want: undecided,
		},
		"NamespacedGrant": {
			reason: "a RoleBinding grants in its namespace", cluster: teamA,
			user: carol, attributes: configMap("get"), want: allowed,
		},
		"NamespacedGrantIsLimited": {
			reason: "a RoleBinding grants nothing in other namespaces", cluster: teamA, user: carol,
			attributes: authorizer.AttributesRecord{
				Verb: "get", Resource: "configmaps", Namespace: "other", ResourceRequest: true,
			},
			want: undecided,
		},
		"GrantWithoutAccess": {
			reason: "grants inside are worth nothing to who may not enter", cluster: teamA,
			user: somebody("dave"), attributes: configMap("get"), want: undecided,
		},
		"RootForEverybody": {
			reason: "everybody who is authenticated may list workspaces in root", cluster: logicalcluster.Root,
			user: bob, attributes: resource("list", "tenancy.kcp.io", "workspaces", "", ""), want: allowed,
		},
		"RootNotForAnonymous": {
			reason: "root is not for the anonymous", cluster: logicalcluster.Root,
			user: anonymous, attributes: url("/apis"), want: undecided,
		},
		"NoCreationInRoot": {
			reason: "only admins create workspaces in root", cluster: logicalcluster.Root,
			user: bob, attributes: resource("create", "tenancy.kcp.io", "workspaces", "", ""), want: undecided,
		},
		"AdminCreatesInRoot": {
			reason: "kcp-admin is one of them", cluster: logicalcluster.Root,
			user: kcpAdmin, attributes: resource("create", "tenancy.kcp.io", "workspaces", "", ""), want: allowed,
		},
		"AdminEverywhere": {
			reason: "kcp-admin is cluster admin in every workspace", cluster: teamA,
			user: kcpAdmin, attributes: configMap("create"), want: allowed,
		},
		"AdminNowhereElse": {
			reason: "kcp-admin is subject to the chain: an unknown cluster is denied", cluster: absent,
			user: kcpAdmin, attributes: resource("list", "", "namespaces", "", ""), want: undecided,
		},
		"MastersAnywhere": {
			reason: "system:masters may use an unknown cluster", cluster: absent,
			user: masters, attributes: resource("list", "", "namespaces", "", ""), want: allowed,
		},
		"NoCluster": {
			reason: "without a cluster RBAC has no opinion, kcp-admin included",
			user:   kcpAdmin, attributes: url("/version"), want: undecided,
		},
		"MastersWithoutCluster": {
			reason: "masters need no cluster",
			user:   masters, attributes: url("/version"), want: allowed,
		},
		"Wildcard": {
			reason: "all clusters at once are for masters, but for workspaces", cluster: logicalcluster.Wildcard,
			user: kcpAdmin, attributes: resource("list", "", "namespaces", "", ""), want: undecided,
		},
		"MastersWildcard": {
			reason: "all clusters at once are for masters", cluster: logicalcluster.Wildcard,
			user: masters, attributes: resource("list", "", "namespaces", "", ""), want: allowed,
		},
		"SystemCluster": {
			reason: "system clusters are for masters only", cluster: logicalcluster.SystemAdmin,
			user: kcpAdmin, attributes: configMap("get"), want: undecided,
		},
		"Health": {
			reason: "health is for everybody",
			user:   anonymous, attributes: url("/readyz"), want: allowed,
		},
		"HealthInWorkspace": {
			reason: "also under the prefix of a cluster", cluster: teamA,
			user: anonymous, attributes: url("/livez"), want: allowed,
		},
		"HealthChecksOneByOne": {
			reason: "single checks are not for everybody",
			user:   anonymous, attributes: url("/livez/ping"), want: undecided,
		},
		"SystemStatus": {
			reason: "not even an admin reads the status of a binding", cluster: teamA,
			user: alice, attributes: resource("get", "apis.kcp.io", "apibindings", "status", "b"), want: denied,
		},
		"SystemStatusOfExport": {
			reason: "nor kcp-admin writes that of an export", cluster: teamA,
			user: kcpAdmin, attributes: resource("update", "apis.kcp.io", "apiexports", "status", "e"), want: denied,
		},
		"NoSystemStatus": {
			reason: "the objects themselves are a matter of RBAC", cluster: teamA,
			user: alice, attributes: resource("get", "apis.kcp.io", "apibindings", "", "b"), want: allowed,
		},
		"MastersWriteSystemStatus": {
			reason: "the server writes statuses", cluster: teamA,
			user: masters, attributes: resource("update", "apis.kcp.io", "apibindings", "status", "b"), want: allowed,
		},
	})
}

// TestProcessPaths tells the story of an admin of one workspace who reads the heap of the
// process, and with it what is in everybody else's.
func TestProcessPaths(t *testing.T) {
	m := memory{
		logicalcluster.Root: rootCluster(),
		teamA:               inPhase(corev1alpha1.PhaseReady, bootstrap.WorkspaceAdmin("alice")),
	}
	table := map[string]decision{
		"SimilarName": {
			reason: "only whole segments count", cluster: teamA,
			user: alice, attributes: url("/debugger"), want: allowed,
		},
	}
	for _, path := range []string{"/debug", "/debug/pprof/heap", "/debug/flags/v", "/statusz", "/flagz", "/configz", "/logs/kcp"} {
		table["Tenant"+path] = decision{
			reason: "an admin of a workspace has every path in it, but the process is not in it", cluster: teamA,
			user: alice, attributes: url(path), want: undecided,
		}
		table["Admin"+path] = decision{
			reason: "admins of the whole may ask in any workspace", cluster: teamA,
			user: kcpAdmin, attributes: url(path), want: allowed,
		}
		table["Masters"+path] = decision{
			reason: "and so may who skips authorization", cluster: teamA,
			user: masters, attributes: url(path), want: allowed,
		}
	}
	checkDecisions(t, newAuthorizer(t, m), table)
}

func TestMetrics(t *testing.T) {
	root := rootCluster()
	root.objects = append(root.objects, bind("metrics", bootstrap.MetricsReader, userSubject("prometheus")))
	team := inPhase(corev1alpha1.PhaseReady, bind("metrics", bootstrap.MetricsReader, userSubject("prometheus")))
	checkDecisions(t, newAuthorizer(t, memory{logicalcluster.Root: root, teamA: team}), map[string]decision{
		"Unbound": {
			reason: "metrics are not for everybody in root", cluster: logicalcluster.Root,
			user: bob, attributes: url("/metrics"), want: undecided,
		},
		"BoundInRoot": {
			reason: "without access to root, since the user is not even in system:authenticated",
			user:   &user.DefaultInfo{Name: "prometheus"}, cluster: logicalcluster.Root, attributes: url("/metrics"), want: allowed,
		},
		"BoundElsewhere": {
			reason: "only root has a say", cluster: teamA,
			user: somebody("prometheus"), attributes: url("/metrics"), want: undecided,
		},
	})
}

func TestPhases(t *testing.T) {
	admins := []*rbacv1.ClusterRoleBinding{bootstrap.WorkspaceAdmin("alice")}
	phases := map[corev1alpha1.Phase]authorizer.Decision{
		"":                             undecided,
		corev1alpha1.PhaseScheduling:   undecided,
		corev1alpha1.PhaseInitializing: allowed,
		corev1alpha1.PhaseReady:        allowed,
		corev1alpha1.PhaseUnavailable:  undecided,
		corev1alpha1.PhaseInactive:     allowed,
		corev1alpha1.PhaseTerminating:  allowed,
		corev1alpha1.PhaseDeleting:     allowed,
		"Sleeping":                     undecided,
	}
	for phase, want := range phases {
		t.Run(string(phase), func(t *testing.T) {
			a := newAuthorizer(t, memory{teamA: inPhase(phase, admins[0])})
			checkDecisions(t, a, map[string]decision{
				"Admin": {
					reason: "a workspace is open from its initialization to its end", cluster: teamA,
					user: alice, attributes: configMap("get"), want: want,
				},
				"Initializer": {
					reason: "whoever has come to be in the group of an initializer, he has been given no mandate", cluster: teamA,
					user: somebody("controller", identity.InitializerPrefix+"root:universal"), attributes: configMap("get"), want: undecided,
				},
				"Terminator": {
					reason: "nor has who is in that of a terminator", cluster: teamA,
					user: somebody("controller", identity.TerminatorPrefix+"root:universal"), attributes: configMap("get"), want: undecided,
				},
			})
		})
	}
}

func TestRequiredGroups(t *testing.T) {
	entrance := bind("everybody", bootstrap.ClusterAdmin, groupSubject(user.AllAuthenticated))
	serviceAccount := with(with(somebody("system:serviceaccount:default:app"),
		identity.ClusterNameKey, "teama"), identity.ScopesKey, "cluster:teama")
	table := map[string]struct {
		reason   string
		required string
		user     user.Info
		want     authorizer.Decision
	}{
		"OneOfTwo":       {"a comma means and", "a,b;c", somebody("u", "a"), denied},
		"BothOfTwo":      {"all groups of one alternative are enough", "a,b;c", somebody("u", "b", "a"), allowed},
		"Alternative":    {"a semicolon means or", "a,b;c", somebody("u", "c"), allowed},
		"None":           {"no group, no access, whatever the policy says", "a,b;c", somebody("u"), denied},
		"Empty":          {"an empty list is satisfied by nobody", "", somebody("u"), denied},
		"EmptyElement":   {"nor is an empty name", "a,", somebody("u", "a"), denied},
		"Admin":          {"kcp-admin always satisfies", "a", kcpAdmin, allowed},
		"Bootstrapper":   {"so does who fills workspaces", "a", somebody("u", identity.WorkspaceBootstrapper), allowed},
		"ClusterAdmin":   {"shards are exempt", "a", somebody("u", identity.LogicalClusterAdmin), allowed},
		"External":       {"also through the proxy", "a", somebody("u", identity.ExternalLogicalClusterAdmin), allowed},
		"ServiceAccount": {"service accounts are exempt", "a", serviceAccount, allowed},
		"Masters":        {"masters skip all of this", "a", masters, allowed},
		"Warrant": {"the groups of warrants count", "a",
			with(somebody("u"), identity.WarrantKey, identity.NewWarrant(somebody("v", "a")).String()), allowed},
		"ForeignGroups": {"out of scope the groups of a user are not his", "a",
			with(somebody("u", "a"), identity.ScopesKey, "cluster:teamb"), denied},
	}
	for name, tc := range table {
		t.Run(name, func(t *testing.T) {
			a := newAuthorizer(t, memory{teamA: requiring(tc.required, entrance)})
			checkDecisions(t, a, map[string]decision{"": {
				reason: tc.reason, cluster: teamA, user: tc.user, attributes: configMap("get"), want: tc.want,
			}})
		})
	}
}

func TestLogicalClusterMissing(t *testing.T) {
	checkDecisions(t, newAuthorizer(t, memory{}), map[string]decision{
		"User": {
			reason: "a missing cluster looks like one without access: no opinion, access denied", cluster: absent,
			user: alice, attributes: configMap("get"), want: undecided,
		},
		"ServiceAccount": {
			reason: "who skips required groups is stopped by the content gate", cluster: absent,
			user: somebody("system:serviceaccount:default:app"), attributes: configMap("get"), want: denied,
		},
		"LogicalClusterAdmin": {
			reason: "logical clusters are made by who is let into missing ones", cluster: absent,
			user:       somebody("shard", identity.LogicalClusterAdmin),
			attributes: resource("create", "core.kcp.io", "logicalclusters", "", ""), want: allowed,
		},
	})
}

func TestFailingLookup(t *testing.T) {
	boom := errors.New("boom")
	a, err := New(Config{Bootstrap: systemAdmin(t), Local: memory{}, LogicalClusters: failing{boom}})
	if err != nil {
		t.Fatal(err)
	}
	attributes := configMap("get")
	attributes.User = alice
	got, reason, err := a.Authorize(in(t, teamA), &attributes)
	if got != undecided || !errors.Is(err, boom) || reason != reasonDenied {
		t.Errorf("a cluster that cannot be read is an error, not a decision: got %s, %q, %v", got, reason, err)
	}
}

type failing struct{ err error }

func (f failing) Get(context.Context, logicalcluster.Name) (*corev1alpha1.LogicalCluster, error) {
	return nil, f.err
}

func (f failing) List(context.Context) ([]corev1alpha1.LogicalCluster, error) { return nil, f.err }

// TestNewWorkspace is about the moments between the birth of a workspace and the arrival
// of its policy in memory: its creator, who has seen that it is ready, is not sent away.
func TestNewWorkspace(t *testing.T) {
	born := memory{teamA: inPhase(corev1alpha1.PhaseReady, bind("workspace-admin", "cluster-admin", rbacv1.Subject{
		APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: alice.GetName(),
	}))}
	for name, test := range map[string]struct {
		reason string
		user   user.Info
		want   authorizer.Decision
	}{
		"Creator":  {"his binding is still to arrive, and counts", alice, allowed},
		"Stranger": {"nobody else gets in", somebody("mallory"), undecided},
	} {
		t.Run(name, func(t *testing.T) {
			source := lagging{memory: memory{teamA: inPhase(corev1alpha1.PhaseReady)}, current: born}
			a, err := New(Config{Bootstrap: systemAdmin(t), Local: source, LogicalClusters: source})
			if err != nil {
				t.Fatal(err)
			}
			attributes := configMap("get")
			attributes.User = test.user
			if got, _, err := a.Authorize(in(t, teamA), &attributes); got != test.want || err != nil {
				t.Errorf("%s: got %s, %v, want %s", test.reason, got, err, test.want)
			}
		})
	}
}

func TestOrder(t *testing.T) {
	deny := authorizer.AuthorizerFunc(func(context.Context, authorizer.Attributes) (authorizer.Decision, string, error) {
		return denied, "webhook", nil
	})
	allow := authorizer.AuthorizerFunc(func(context.Context, authorizer.Attributes) (authorizer.Decision, string, error) {
		return allowed, "webhook", nil
	})
	table := map[string]struct {
		reason     string
		order      []string
		webhook    authorizer.Authorizer
		user       user.Info
		attributes authorizer.AttributesRecord
		want       authorizer.Decision
		wantError  bool
	}{
		"DefaultHealth": {"paths come before a denying webhook", nil, deny, anonymous, url("/readyz"), allowed, false},
		"WebhookFirst":  {"first of all it blocks even health", []string{Webhook, AlwaysAllowPaths}, deny, anonymous, url("/readyz"), denied, false},
		"WebhookLast":   {"what RBAC leaves open a webhook may allow", nil, allow, bob, configMap("get"), allowed, false},
		"NoWebhook":     {"without one the name has no effect", nil, nil, bob, configMap("get"), undecided, false},
		"NotAfterDeny":  {"what RBAC denies it may not", nil, allow, alice, resource("get", "apis.kcp.io", "apibindings", "status", ""), denied, false},
		"GroupsOff":     {"masters are subject to RBAC if their link is off", []string{RBAC}, nil, masters, configMap("get"), allowed, false},
		"NoLinkForURL":  {"links that are left out are off", []string{AlwaysAllowGroups}, nil, anonymous, url("/readyz"), undecided, false},
		"Unknown":       {"a misspelled name must not go unnoticed", []string{"Node"}, nil, nil, url("/"), 0, true},
		"CaseMatters":   {"names are exact", []string{"rbac"}, nil, nil, url("/"), 0, true},
		"Twice":         {"twice is a mistake", []string{RBAC, RBAC}, nil, nil, url("/"), 0, true},
	}
	m := memory{teamA: inPhase(corev1alpha1.PhaseReady, bootstrap.WorkspaceAdmin("alice"))}
	for name, tc := range table {
		t.Run(name, func(t *testing.T) {
			a, err := New(Config{
				Order: tc.order, AlwaysAllowPaths: DefaultAlwaysAllowPaths(), Webhook: tc.webhook,
				Bootstrap: systemAdmin(t), Local: m, LogicalClusters: m,
			})
			if (err != nil) != tc.wantError {
				t.Fatalf("%s: got error %v", tc.reason, err)
			}
			if err == nil {
				checkDecisions(t, a, map[string]decision{"": {
					reason: tc.reason, cluster: teamA, user: tc.user, attributes: tc.attributes, want: tc.want,
				}})
			}
		})
	}
}
