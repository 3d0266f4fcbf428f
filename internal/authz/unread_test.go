package authz

import (
	"context"
	"errors"
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apiserver/pkg/authorization/authorizer"

	bootstrap "github.com/forkless/kcp/config/rbac"
	corev1alpha1 "github.com/forkless/kcp/pkg/apis/core/v1alpha1"
)

var errUnread = errors.New("storage is (re)initializing")

// unreadable is a Policy of which parts cannot be read for now.
type unreadable struct {
	memory
	clusterRoleBindings, current, clusterRoles, roleBindings bool
}

func (u unreadable) ListClusterRoleBindings(ctx context.Context) ([]*rbacv1.ClusterRoleBinding, error) {
	if u.clusterRoleBindings {
		return nil, errUnread
	}
	return u.memory.ListClusterRoleBindings(ctx)
}

func (u unreadable) ListCurrentClusterRoleBindings(ctx context.Context) ([]*rbacv1.ClusterRoleBinding, error) {
	if u.current {
		return nil, errUnread
	}
	return u.memory.ListCurrentClusterRoleBindings(ctx)
}

func (u unreadable) GetClusterRole(ctx context.Context, name string) (*rbacv1.ClusterRole, error) {
	if u.clusterRoles {
		return nil, errUnread
	}
	return u.memory.GetClusterRole(ctx, name)
}

func (u unreadable) ListRoleBindings(ctx context.Context, namespace string) ([]*rbacv1.RoleBinding, error) {
	if u.roleBindings {
		return nil, errUnread
	}
	return u.memory.ListRoleBindings(ctx, namespace)
}

// TestUnreadPolicy: nobody is told that he may not what he may, because a policy could not
// be read at the moment.
func TestUnreadPolicy(t *testing.T) {
	m := memory{teamA: inPhase(corev1alpha1.PhaseReady,
		bootstrap.WorkspaceAdmin("alice"),
		bind("enter", bootstrap.WorkspaceAccess, userSubject("carol")),
		configMapReader,
		bind("own", "configmap-reader", userSubject("dave")),
		bindIn("default", "read", "ClusterRole", "configmap-reader", userSubject("carol")),
	)}
	for name, tc := range map[string]struct {
		reason  string
		policy  unreadable
		user    string
		want    authorizer.Decision
		wantErr bool
	}{
		"AllRead":     {"what can be read decides", unreadable{memory: m}, "bob", undecided, false},
		"NothingRead": {"who may enter is not known", unreadable{memory: m, clusterRoleBindings: true, current: true}, "alice", undecided, true},
		"ReadAgain":   {"what is read at the second attempt decides", unreadable{memory: m, clusterRoleBindings: true}, "alice", allowed, false},
		"NoRole":      {"what a binding gives is not known", unreadable{memory: m, clusterRoles: true}, "dave", undecided, true},
		"NoNamespace": {"what is given in the namespace is not known", unreadable{memory: m, roleBindings: true}, "carol", undecided, true},
		"NotNeeded":   {"what is not needed may be missing", unreadable{memory: m, roleBindings: true}, "alice", allowed, false},
	} {
		t.Run(name, func(t *testing.T) {
			snapshot, err := NewSnapshot(bootstrap.SystemAdmin())
			if err != nil {
				t.Fatal(err)
			}
			a, err := New(Config{Bootstrap: NewBootstrap(snapshot), Local: tc.policy, LogicalClusters: tc.policy})
			if err != nil {
				t.Fatal(err)
			}
			attributes := configMap("get")
			attributes.User = somebody(tc.user)
			got, _, err := a.Authorize(in(t, teamA), &attributes)
			if got != tc.want || errors.Is(err, errUnread) != tc.wantErr || err != nil != tc.wantErr {
				t.Errorf("%s: want %s and an error %t, got %s and %v", tc.reason, tc.want, tc.wantErr, got, err)
			}
		})
	}
}
