package authz

import (
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apiserver/pkg/authentication/user"

	bootstrap "github.com/forkless/kcp/config/rbac"
	"github.com/forkless/kcp/internal/authn/identity"
	corev1alpha1 "github.com/forkless/kcp/pkg/apis/core/v1alpha1"
)

const localServiceAccount = "system:serviceaccount:default:app"

// serviceAccountOf is the service account default/app of cluster, as its token shows it.
func serviceAccountOf(cluster string) *user.DefaultInfo {
	u := somebody(localServiceAccount, "system:serviceaccounts", "system:serviceaccounts:default")
	return with(with(u, identity.ClusterNameKey, cluster), identity.ScopesKey, "cluster:"+cluster)
}

func TestServiceAccounts(t *testing.T) {
	checkDecisions(t, newAuthorizer(t, memory{teamA: inPhase(corev1alpha1.PhaseReady,
		configMapReader,
		bind("read", "configmap-reader", serviceAccountSubject("default", "app")),
	)}), map[string]decision{
		"Local": {
			reason: "a service account enters its own workspace without an access rule", cluster: teamA,
			user: serviceAccountOf("teama"), attributes: configMap("get"), want: allowed,
		},
		"LocalNeedsRules": {
			reason: "but it needs rules for what it does there", cluster: teamA,
			user: serviceAccountOf("teama"), attributes: configMap("delete"), want: undecided,
		},
		"Foreign": {
			reason: "one of the same name from elsewhere is somebody else", cluster: teamA,
			user: serviceAccountOf("teamb"), attributes: configMap("get"), want: undecided,
		},
		"WithoutOrigin": {
			reason: "one of no origin must not be taken for local at the gate", cluster: teamA,
			user: somebody(localServiceAccount), attributes: configMap("get"), want: undecided,
		},
	})
	for name, tc := range map[string]struct {
		reason  string
		subject string
		kind    func(string) rbacv1.Subject
		want    bool
	}{
		"Authenticated":  {"everybody means foreign ones too", user.AllAuthenticated, groupSubject, true},
		"ServiceAccount": {"their own groups are only good at home", "system:serviceaccounts", groupSubject, false},
		"Origin":         {"all from a cluster have a group", "system:cluster:teamb", groupSubject, true},
		"OtherOrigin":    {"that of another cluster is not theirs", "system:cluster:teamc", groupSubject, false},
		"Global":         {"each has a name good everywhere", "system:kcp:serviceaccount:teamb:default:app", userSubject, true},
		"LocalName":      {"the name it has at home is not good elsewhere", localServiceAccount, userSubject, false},
	} {
		t.Run(name, func(t *testing.T) {
			a := newAuthorizer(t, memory{teamA: inPhase(corev1alpha1.PhaseReady,
				bind("all", bootstrap.ClusterAdmin, tc.kind(tc.subject)))})
			want := undecided
			if tc.want {
				want = allowed
			}
			checkDecisions(t, a, map[string]decision{"": {
				reason: tc.reason, cluster: teamA, user: serviceAccountOf("teamb"), attributes: configMap("get"), want: want,
			}})
		})
	}
}

func TestScopesAndWarrants(t *testing.T) {
	admin := identity.NewWarrant(somebody("somebody-else", identity.Admin))
	m := memory{teamA: inPhase(corev1alpha1.PhaseReady, bootstrap.WorkspaceAdmin("alice"))}
	checkDecisions(t, newAuthorizer(t, m), map[string]decision{
		"InScope": {
			reason: "in scope a user is himself", cluster: teamA,
			user: with(alice, identity.ScopesKey, "cluster:teamb,cluster:teama"), attributes: configMap("get"), want: allowed,
		},
		"OutOfScope": {
			reason: "out of scope he is not", cluster: teamA,
			user: with(alice, identity.ScopesKey, "cluster:teamb"), attributes: configMap("get"), want: undecided,
		},
		"Conflicting": {
			reason: "values that contradict each other leave nothing", cluster: teamA,
			user: with(alice, identity.ScopesKey, "cluster:teama", "cluster:teamb"), attributes: configMap("get"), want: undecided,
		},
		"AdminServiceAccountOfAnotherCluster": {
			reason: "groups of a foreign service account do not count", cluster: teamA,
			user:       with(somebody(localServiceAccount, identity.Admin), identity.ClusterNameKey, "teamb"),
			attributes: configMap("get"), want: undecided,
		},
		"Warrant": {
			reason: "a warrant gives what its user may do", cluster: teamA,
			user: with(bob, identity.WarrantKey, admin.String()), attributes: configMap("get"), want: allowed,
		},
		"WarrantOfOutsider": {
			reason: "the scope of the user says nothing about his warrants", cluster: teamA,
			user:       with(with(bob, identity.ScopesKey, "cluster:teamb"), identity.WarrantKey, admin.String()),
			attributes: configMap("get"), want: allowed,
		},
	})
}

func TestLimitedIdentitiesElsewhere(t *testing.T) {
	// The story: the admin of teamb may impersonate whom he likes in teamb, and then
	// creates an object that is checked against teama. None of the identities he put
	// on may have any power there.
	m := memory{teamA: inPhase(corev1alpha1.PhaseReady,
		bootstrap.WorkspaceAdmin("alice"),
		bind("shared", bootstrap.ClusterAdmin,
			groupSubject("system:cluster:teamc"), userSubject("system:kcp:serviceaccount:teamc:default:app")),
	)}
	a := newAuthorizer(t, m)
	for name, assumed := range map[string]*user.DefaultInfo{
		"User":             alice,
		"ServiceAccount":   serviceAccountOf("teamc"),
		"OriginOnly":       with(somebody(localServiceAccount), identity.ClusterNameKey, "teamc"),
		"GlobalName":       somebody("system:kcp:serviceaccount:teamc:default:app"),
		"ClusterGroup":     somebody("u", "system:cluster:teamc"),
		"Scope":            with(somebody("u"), identity.ScopesKey, "cluster:teamc"),
		"Warrant":          with(bob, identity.WarrantKey, identity.NewWarrant(alice).String()),
		"NestedWarrant":    with(bob, identity.WarrantKey, identity.NewWarrant(with(bob, identity.WarrantKey, identity.NewWarrant(alice).String())).String()),
		"WarrantedOrigin":  with(bob, identity.WarrantKey, identity.NewWarrant(serviceAccountOf("teamc")).String()),
		"WarrantedByGroup": with(bob, identity.WarrantKey, identity.NewWarrant(somebody("u", "system:cluster:teamc")).String()),
	} {
		t.Run(name, func(t *testing.T) {
			attributes := configMap("get")
			attributes.User = identity.Limit(assumed, teamB)
			ok, err := a.AllowedIn(in(t, teamB), teamA, &attributes)
			if err != nil || ok {
				t.Errorf("an identity put on in teamb is worth nothing in teama: got %v, %v", ok, err)
			}
		})
	}
}
