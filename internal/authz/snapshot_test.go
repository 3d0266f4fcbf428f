package authz

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/kubernetes/pkg/registry/rbac/validation"

	bootstrap "github.com/forkless/kcp/config/rbac"
	"github.com/forkless/kcp/internal/authn/identity"
	corev1alpha1 "github.com/forkless/kcp/pkg/apis/core/v1alpha1"
)

// collected are the rules and errors of a visit, as text. Upstream finds bindings in
// another order, so only the set counts.
func collected(source ruleSource, t *testing.T, u user.Info, namespace string) map[string]int {
	all := map[string]int{}
	source.VisitRulesFor(in(t, teamA), u, namespace, func(from fmt.Stringer, rule *rbacv1.PolicyRule, err error) bool {
		if err != nil {
			all["error"]++
			return true
		}
		all[fmt.Sprintf("%s: %v", from, rule)]++
		return true
	})
	return all
}

func TestSnapshotAgreesWithUpstream(t *testing.T) {
	var objects []runtime.Object
	for _, object := range bootstrap.SystemAdmin() {
		objects = append(objects, object)
	}
	objects = append(objects,
		configMapReader,
		bind("several", "configmap-reader", groupSubject("a"), groupSubject("b"), userSubject("erin")),
		bind("dangling", "missing", userSubject("erin")),
		bind("account", "configmap-reader", serviceAccountSubject("default", "app")),
		bind("account-without-namespace", "configmap-reader", serviceAccountSubject("", "app")),
		bindIn("default", "account", "ClusterRole", "configmap-reader", serviceAccountSubject("", "app"), serviceAccountSubject("other", "app")),
		bindIn("default", "role", "Role", "missing", userSubject("erin")),
	)
	snapshot, err := NewSnapshot(objects)
	if err != nil {
		t.Fatal(err)
	}
	m := memory{teamA: inPhase(corev1alpha1.PhaseReady, objects...)}
	upstream := validation.NewDefaultRuleResolver(m, m, m, m)
	for _, u := range []user.Info{
		alice, kcpAdmin, masters, anonymous, somebody("erin"), somebody("frank", "a"),
		somebody(localServiceAccount, "system:serviceaccounts"), somebody("system:serviceaccount:other:app"),
		somebody("system:kube-scheduler"), somebody("u", identity.WorkspaceBootstrapper),
	} {
		for _, namespace := range []string{"", "default", "kube-system", "other"} {
			want, got := collected(upstream, t, u, namespace), collected(snapshot, t, u, namespace)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s in %q (-upstream +snapshot):\n%s", u.GetName(), namespace, diff)
			}
		}
	}

	twice := collected(snapshot, t, somebody("erin", "a", "b"), "")
	for rule, times := range twice {
		if times > 1 {
			t.Errorf("a binding that names three of the user's names counts once: %s", rule)
		}
	}
	stopped := 0
	snapshot.VisitRulesFor(t.Context(), kcpAdmin, "kube-system", func(fmt.Stringer, *rbacv1.PolicyRule, error) bool {
		stopped++
		return false
	})
	if stopped != 1 {
		t.Errorf("visiting ends when told to: got %d visits", stopped)
	}
}

func TestSnapshotRefusesOtherKinds(t *testing.T) {
	if _, err := NewSnapshot([]runtime.Object{&corev1.ConfigMap{}}); err == nil {
		t.Error("a policy made of ConfigMaps is a mistake")
	}
}

func TestBootstrapIsReplaced(t *testing.T) {
	b := systemAdmin(t)
	m := memory{teamA: inPhase(corev1alpha1.PhaseReady,
		bind("enter", bootstrap.WorkspaceAccess, userSubject("carol")),
		bind("shared", "shared-role", userSubject("carol")))}
	a, err := New(Config{Bootstrap: b, Local: m, LogicalClusters: m})
	if err != nil {
		t.Fatal(err)
	}
	read := map[string]decision{"": {cluster: teamA, user: carol, attributes: configMap("get"), want: undecided}}
	checkDecisions(t, a, read)

	shared := configMapReader.DeepCopy()
	shared.Name = "shared-role"
	b.Replace(systemAdmin(t, shared).Current())
	read[""] = decision{
		reason:  "a role made in system:admin can be bound by name from a workspace",
		cluster: teamA, user: carol, attributes: configMap("get"), want: allowed,
	}
	checkDecisions(t, a, read)
}
