package authz

import (
	"context"
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/authorization/authorizer"

	bootstrap "github.com/forkless/kcp/config/rbac"
	corev1alpha1 "github.com/forkless/kcp/pkg/apis/core/v1alpha1"
	tenancyv1alpha1 "github.com/forkless/kcp/pkg/apis/tenancy/v1alpha1"
	"github.com/forkless/kcp/pkg/logicalcluster"
)

// memory is a complete Policy and LogicalClusters: what is where.
type memory map[logicalcluster.Name]*cluster

type cluster struct {
	logicalCluster *corev1alpha1.LogicalCluster
	objects        []runtime.Object
}

func (m memory) of(ctx context.Context) []runtime.Object {
	name, err := logicalcluster.Require(ctx)
	if err != nil {
		panic(err)
	}
	if c, ok := m[name]; ok {
		return c.objects
	}
	return nil
}

func (m memory) GetRole(ctx context.Context, namespace, name string) (*rbacv1.Role, error) {
	for _, object := range m.of(ctx) {
		if role, ok := object.(*rbacv1.Role); ok && role.Namespace == namespace && role.Name == name {
			return role, nil
		}
	}
	return nil, apierrors.NewNotFound(rbacv1.Resource("roles"), name)
}

func (m memory) GetClusterRole(ctx context.Context, name string) (*rbacv1.ClusterRole, error) {
	for _, object := range m.of(ctx) {
		if role, ok := object.(*rbacv1.ClusterRole); ok && role.Name == name {
			return role, nil
		}
	}
	return nil, apierrors.NewNotFound(rbacv1.Resource("clusterroles"), name)
}

func (m memory) ListRoleBindings(ctx context.Context, namespace string) ([]*rbacv1.RoleBinding, error) {
	var bindings []*rbacv1.RoleBinding
	for _, object := range m.of(ctx) {
		if binding, ok := object.(*rbacv1.RoleBinding); ok && binding.Namespace == namespace {
			bindings = append(bindings, binding)
		}
	}
	return bindings, nil
}

func (m memory) ListClusterRoleBindings(ctx context.Context) ([]*rbacv1.ClusterRoleBinding, error) {
	var bindings []*rbacv1.ClusterRoleBinding
	for _, object := range m.of(ctx) {
		if binding, ok := object.(*rbacv1.ClusterRoleBinding); ok {
			bindings = append(bindings, binding)
		}
	}
	return bindings, nil
}

func (m memory) Get(_ context.Context, name logicalcluster.Name) (*corev1alpha1.LogicalCluster, error) {
	if c, ok := m[name]; ok && c.logicalCluster != nil {
		return c.logicalCluster, nil
	}
	return nil, apierrors.NewNotFound(corev1alpha1.Resource("logicalclusters"), name.String())
}

func (m memory) List(context.Context) ([]corev1alpha1.LogicalCluster, error) {
	var all []corev1alpha1.LogicalCluster
	for _, c := range m {
		if c.logicalCluster != nil {
			all = append(all, *c.logicalCluster)
		}
	}
	return all, nil
}

func (m memory) ListCurrentClusterRoleBindings(ctx context.Context) ([]*rbacv1.ClusterRoleBinding, error) {
	return m.ListClusterRoleBindings(ctx)
}

// lagging is a memory that has not seen a policy that is current.
type lagging struct {
	memory
	current memory
}

func (l lagging) ListCurrentClusterRoleBindings(ctx context.Context) ([]*rbacv1.ClusterRoleBinding, error) {
	return l.current.ListClusterRoleBindings(ctx)
}

// Clusters of the tests.
var (
	teamA  = logicalcluster.MustParseName("teama")
	teamB  = logicalcluster.MustParseName("teamb")
	absent = logicalcluster.MustParseName("absent")
)

// inPhase is a logical cluster in that phase.
func inPhase(phase corev1alpha1.Phase, objects ...runtime.Object) *cluster {
	return &cluster{
		logicalCluster: &corev1alpha1.LogicalCluster{Status: corev1alpha1.LogicalClusterStatus{Phase: phase}},
		objects:        objects,
	}
}

// requiring is a ready logical cluster that requires groups.
func requiring(groups string, objects ...runtime.Object) *cluster {
	c := inPhase(corev1alpha1.PhaseReady, objects...)
	c.logicalCluster.Annotations = map[string]string{tenancyv1alpha1.RequiredGroupsAnnotationKey: groups}
	return c
}

func bind(name, role string, subjects ...rbacv1.Subject) *rbacv1.ClusterRoleBinding {
	return &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: role},
		Subjects:   subjects,
	}
}

func bindIn(namespace, name, kind, role string, subjects ...rbacv1.Subject) *rbacv1.RoleBinding {
	return &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: kind, Name: role},
		Subjects:   subjects,
	}
}

func clusterRole(name string, rules ...rbacv1.PolicyRule) *rbacv1.ClusterRole {
	return &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: name}, Rules: rules}
}

func userSubject(name string) rbacv1.Subject {
	return rbacv1.Subject{Kind: rbacv1.UserKind, APIGroup: rbacv1.GroupName, Name: name}
}

func groupSubject(name string) rbacv1.Subject {
	return rbacv1.Subject{Kind: rbacv1.GroupKind, APIGroup: rbacv1.GroupName, Name: name}
}

func serviceAccountSubject(namespace, name string) rbacv1.Subject {
	return rbacv1.Subject{Kind: rbacv1.ServiceAccountKind, Namespace: namespace, Name: name}
}

// configMapReader may read ConfigMaps.
var configMapReader = clusterRole("configmap-reader", rbacv1.PolicyRule{
	APIGroups: []string{""}, Resources: []string{"configmaps"}, Verbs: []string{"get", "list", "watch"},
})

// somebody is authenticated, and in groups.
func somebody(name string, groups ...string) *user.DefaultInfo {
	return &user.DefaultInfo{Name: name, Groups: append(groups, user.AllAuthenticated)}
}

// with returns u with extra values under key.
func with(u *user.DefaultInfo, key string, values ...string) *user.DefaultInfo {
	extra := map[string][]string{key: values}
	for k, v := range u.Extra {
		extra[k] = v
	}
	return &user.DefaultInfo{Name: u.Name, UID: u.UID, Groups: u.Groups, Extra: extra}
}

func configMap(verb string) authorizer.AttributesRecord {
	return authorizer.AttributesRecord{
		Verb: verb, APIVersion: "v1", Resource: "configmaps", Namespace: "default", Name: "c", ResourceRequest: true,
	}
}

func resource(verb, group, resource, subresource, name string) authorizer.AttributesRecord {
	return authorizer.AttributesRecord{
		Verb: verb, APIGroup: group, APIVersion: "v1alpha1", Resource: resource, Subresource: subresource, Name: name,
		ResourceRequest: true,
	}
}

func url(path string) authorizer.AttributesRecord {
	return authorizer.AttributesRecord{Verb: "get", Path: path}
}

// systemAdmin returns the bootstrap policy as a new server has it.
func systemAdmin(t testing.TB, more ...runtime.Object) *Bootstrap {
	t.Helper()
	var objects []runtime.Object
	for _, object := range bootstrap.SystemAdmin() {
		objects = append(objects, object)
	}
	snapshot, err := NewSnapshot(append(objects, more...))
	if err != nil {
		t.Fatal(err)
	}
	return NewBootstrap(snapshot)
}

// rootCluster is root as a new server has it.
func rootCluster() *cluster {
	c := inPhase(corev1alpha1.PhaseReady)
	for _, object := range bootstrap.Root(bootstrap.RootOptions{HomeCreatorGroups: []string{user.AllAuthenticated}}) {
		c.objects = append(c.objects, object)
	}
	return c
}

// newAuthorizer returns an Authorizer over m in the default order.
func newAuthorizer(t testing.TB, m memory, more ...runtime.Object) *Authorizer {
	t.Helper()
	a, err := New(Config{
		AlwaysAllowPaths: DefaultAlwaysAllowPaths(),
		Bootstrap:        systemAdmin(t, more...),
		Local:            m,
		LogicalClusters:  m,
		Audited:          true,
	})
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// in returns a context with that cluster, none for the zero Name.
func in(t testing.TB, name logicalcluster.Name) context.Context {
	t.Helper()
	if name.Empty() {
		return t.Context()
	}
	return logicalcluster.NewContext(t.Context(), name)
}
