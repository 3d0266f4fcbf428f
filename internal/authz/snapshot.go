package authz

import (
	"context"
	"fmt"
	"slices"
	"sync/atomic"

	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/authentication/serviceaccount"
	"k8s.io/apiserver/pkg/authentication/user"
)

// Bootstrap is the policy of system:admin as it stands. It is replaced as a whole, so
// that no request sees half of a change.
type Bootstrap struct {
	current atomic.Pointer[Snapshot]
}

// NewBootstrap returns a Bootstrap that begins with snapshot.
func NewBootstrap(snapshot *Snapshot) *Bootstrap {
	b := &Bootstrap{}
	b.Replace(snapshot)
	return b
}

// Replace makes snapshot the policy of all requests that begin after it.
func (b *Bootstrap) Replace(snapshot *Snapshot) { b.current.Store(snapshot) }

// Current returns the policy as it stands.
func (b *Bootstrap) Current() *Snapshot { return b.current.Load() }

// Snapshot is a policy made of a list of roles and bindings, indexed by subject: a
// request costs a look-up per name and group of the caller, however many bindings
// there are. It is immutable, holds on to the objects it was made of, and says the
// same whatever cluster the context carries.
type Snapshot struct {
	roles        map[objectName]*rbacv1.Role
	clusterRoles map[string]*rbacv1.ClusterRole
	global       subjects
	namespaced   map[string]subjects
}

type objectName struct{ namespace, name string }

// subjects holds the grants of some bindings, by whom they are for. Users holds
// service accounts too, by their user name.
type subjects struct {
	users, groups map[string][]*grant
}

// grant is what one binding gives to one of its subjects.
type grant struct {
	binding     binding
	subject     rbacv1.Subject
	rules       []rbacv1.PolicyRule
	unresolved  error // the role could not be found; there are no rules then
	alsoGranted bool  // other subjects of the binding have a grant as well
}

// binding is what ClusterRoleBindings and RoleBindings have in common.
type binding struct {
	kind, namespace, name string
	roleRef               rbacv1.RoleRef
	subjects              []rbacv1.Subject
}

// NewSnapshot returns the policy that objects make. They are roles and bindings of
// rbac.authorization.k8s.io/v1; anything else is an error.
func NewSnapshot[Object runtime.Object](objects []Object) (*Snapshot, error) {
	s := &Snapshot{
		roles:        map[objectName]*rbacv1.Role{},
		clusterRoles: map[string]*rbacv1.ClusterRole{},
		global:       newSubjects(),
		namespaced:   map[string]subjects{},
	}
	var bindings []binding
	for _, object := range objects {
		switch o := any(object).(type) {
		case *rbacv1.Role:
			s.roles[objectName{o.Namespace, o.Name}] = o
		case *rbacv1.ClusterRole:
			s.clusterRoles[o.Name] = o
		case *rbacv1.RoleBinding:
			bindings = append(bindings, binding{"RoleBinding", o.Namespace, o.Name, o.RoleRef, o.Subjects})
		case *rbacv1.ClusterRoleBinding:
			bindings = append(bindings, binding{"ClusterRoleBinding", "", o.Name, o.RoleRef, o.Subjects})
		default:
			return nil, fmt.Errorf("policy from objects: %T is neither a role nor a binding", object)
		}
	}
	// Roles may come behind the bindings that refer to them.
	for _, b := range bindings {
		s.index(b)
	}
	return s, nil
}

func newSubjects() subjects {
	return subjects{users: map[string][]*grant{}, groups: map[string][]*grant{}}
}

// index adds a grant for each subject of b.
func (s *Snapshot) index(b binding) {
	in := s.global
	if b.namespace != "" {
		if _, ok := s.namespaced[b.namespace]; !ok {
			s.namespaced[b.namespace] = newSubjects()
		}
		in = s.namespaced[b.namespace]
	}
	rules, err := s.rules(b.roleRef, b.namespace)
	for _, subject := range b.subjects {
		g := &grant{binding: b, subject: subject, rules: rules, unresolved: err, alsoGranted: len(b.subjects) > 1}
		switch subject.Kind {
		case rbacv1.UserKind:
			in.users[subject.Name] = append(in.users[subject.Name], g)
		case rbacv1.GroupKind:
			in.groups[subject.Name] = append(in.groups[subject.Name], g)
		case rbacv1.ServiceAccountKind:
			if g.subject.Namespace == "" {
				g.subject.Namespace = b.namespace
			}
			if g.subject.Namespace == "" {
				continue
			}
			name := serviceaccount.MakeUsername(g.subject.Namespace, subject.Name)
			in.users[name] = append(in.users[name], g)
		}
	}
}

func (s *Snapshot) rules(ref rbacv1.RoleRef, namespace string) ([]rbacv1.PolicyRule, error) {
	switch ref.Kind {
	case "Role":
		role, err := s.GetRole(context.Background(), namespace, ref.Name)
		if err != nil {
			return nil, err
		}
		return role.Rules, nil
	case "ClusterRole":
		role, err := s.GetClusterRole(context.Background(), ref.Name)
		if err != nil {
			return nil, err
		}
		return role.Rules, nil
	default:
		return nil, fmt.Errorf("role reference of unknown kind %q", ref.Kind)
	}
}

// GetRole returns the Role of that name, or a NotFound error.
func (s *Snapshot) GetRole(_ context.Context, namespace, name string) (*rbacv1.Role, error) {
	if role, ok := s.roles[objectName{namespace, name}]; ok {
		return role, nil
	}
	return nil, apierrors.NewNotFound(rbacv1.Resource("roles"), name)
}

// GetClusterRole returns the ClusterRole of that name, or a NotFound error.
func (s *Snapshot) GetClusterRole(_ context.Context, name string) (*rbacv1.ClusterRole, error) {
	if role, ok := s.clusterRoles[name]; ok {
		return role, nil
	}
	return nil, apierrors.NewNotFound(rbacv1.Resource("clusterroles"), name)
}

// VisitRulesFor calls visit with each rule for u, those for a namespace only if one is
// given, until visit returns false. It is what upstream's rule resolvers do.
func (s *Snapshot) VisitRulesFor(_ context.Context, u user.Info, namespace string, visit ruleVisitor) {
	if !s.global.visit(u, visit) || namespace == "" {
		return
	}
	if in, ok := s.namespaced[namespace]; ok {
		in.visit(u, visit)
	}
}

// visit returns false if visiting shall end.
func (s subjects) visit(u user.Info, visit ruleVisitor) bool {
	var seen []*grant
	visitAll := func(grants []*grant) bool {
		for _, g := range grants {
			// A binding counts once, even if it names several of the user's groups.
			if g.alsoGranted {
				if slices.ContainsFunc(seen, g.sameBinding) {
					continue
				}
				seen = append(seen, g)
			}
			if !g.visit(visit) {
				return false
			}
		}
		return true
	}
	if !visitAll(s.users[u.GetName()]) {
		return false
	}
	for _, group := range u.GetGroups() {
		if !visitAll(s.groups[group]) {
			return false
		}
	}
	return true
}

func (g *grant) visit(visit ruleVisitor) bool {
	if g.unresolved != nil {
		return visit(nil, nil, g.unresolved)
	}
	for i := range g.rules {
		if !visit(g, &g.rules[i], nil) {
			return false
		}
	}
	return true
}

func (g *grant) sameBinding(other *grant) bool {
	return g.binding.name == other.binding.name && g.binding.namespace == other.binding.namespace
}

// String says where a rule comes from, in the words of upstream's resolver.
func (g *grant) String() string {
	name, subject := g.binding.name, g.subject.Name
	if g.binding.namespace != "" {
		name += "/" + g.binding.namespace
	}
	if g.subject.Kind == rbacv1.ServiceAccountKind {
		subject += "/" + g.subject.Namespace
	}
	return fmt.Sprintf("%s %q of %s %q to %s %q",
		g.binding.kind, name, g.binding.roleRef.Kind, g.binding.roleRef.Name, g.subject.Kind, subject)
}
