package permissionpolicy

import (
	"fmt"
	"slices"
	"testing"

	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/forkless/kcp/internal/servertest"
	apisv1alpha2 "github.com/forkless/kcp/pkg/apis/apis/v1alpha2"
	tenancyv1alpha1 "github.com/forkless/kcp/pkg/apis/tenancy/v1alpha1"
)

var (
	cowboys = servertest.Cowboys
	exports = apisv1alpha2.GroupVersion.WithResource("apiexports")
)

// workspace is a workspace as one user sees it.
type workspace struct {
	testing.TB
	cluster, path string
	kube          kubernetes.Interface
	dynamic       dynamic.Interface
	config        *rest.Config
}

func as(t testing.TB, config *rest.Config, cluster, path string) workspace {
	t.Helper()
	kube, err := kubernetes.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	client, err := dynamic.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	return workspace{TB: t, cluster: cluster, path: path, kube: kube, dynamic: client, config: config}
}

func newWorkspace(t testing.TB, server *servertest.Server) workspace {
	t.Helper()
	ws := server.Workspace(t, "root", "")
	return as(t, server.In(t, "base", ws.Spec.Cluster), ws.Spec.Cluster, "root:"+ws.Name)
}

// limited gives an export a maximal permission policy.
func limited(e *apisv1alpha2.APIExport) {
	e.Spec.MaximalPermissionPolicy = &apisv1alpha2.MaximalPermissionPolicy{Local: &apisv1alpha2.LocalAPIExportPolicy{}}
}

// allow lets a subject do something with cowboys, in the workspace of w.
func (w workspace) allow(name string, subject rbacv1.Subject, verbs ...string) {
	w.Helper()
	w.role(name, rbacv1.PolicyRule{Verbs: verbs, APIGroups: []string{cowboys.Group}, Resources: []string{cowboys.Resource}})
	w.bind(name, name, subject)
}

func (w workspace) role(name string, rules ...rbacv1.PolicyRule) {
	w.Helper()
	role := &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: name}, Rules: rules}
	if _, err := w.kube.RbacV1().ClusterRoles().Create(w.Context(), role, metav1.CreateOptions{}); err != nil {
		w.Fatal(err)
	}
}

func (w workspace) bind(name, role string, subject rbacv1.Subject) {
	w.Helper()
	binding := &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Subjects:   []rbacv1.Subject{subject},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: role},
	}
	if _, err := w.kube.RbacV1().ClusterRoleBindings().Create(w.Context(), binding, metav1.CreateOptions{}); err != nil {
		w.Fatal(err)
	}
}

func user(name string) rbacv1.Subject {
	return rbacv1.Subject{Kind: rbacv1.UserKind, APIGroup: rbacv1.GroupName, Name: name}
}

func group(name string) rbacv1.Subject {
	return rbacv1.Subject{Kind: rbacv1.GroupKind, APIGroup: rbacv1.GroupName, Name: name}
}

// consumer is the name of a user or group in the policy of a provider.
func consumer(name string) string { return "apis.kcp.io:binding:" + name }

// attempts are what may be done with cowboys.
var attempts = map[string]func(w workspace) error{
	"list": func(w workspace) error {
		_, err := w.dynamic.Resource(cowboys).Namespace("default").List(w.Context(), metav1.ListOptions{})
		return err
	},
	"get": func(w workspace) error {
		_, err := w.dynamic.Resource(cowboys).Namespace("default").Get(w.Context(), "there", metav1.GetOptions{})
		return err
	},
	"create": func(w workspace) error {
		_, err := w.dynamic.Resource(cowboys).Namespace("default").Create(w.Context(), servertest.Cowboy("new"), metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
		return err
	},
	"patch": func(w workspace) error {
		_, err := w.dynamic.Resource(cowboys).Namespace("default").Patch(w.Context(), "there", types.MergePatchType, []byte(`{"spec":{"intent":"rest"}}`), metav1.PatchOptions{})
		return err
	},
	"deletecollection": func(w workspace) error {
		return w.dynamic.Resource(cowboys).Namespace("default").DeleteCollection(w.Context(), metav1.DeleteOptions{}, metav1.ListOptions{LabelSelector: "none=such"})
	},
}

// may waits until exactly the given verbs are possible, and says so in reviews.
func (w workspace) may(reason string, verbs ...string) {
	w.Helper()
	slices.Sort(verbs)
	servertest.Eventually(w, reason, func() (bool, any) {
		var can, reviewed []string
		for verb, attempt := range attempts {
			err := attempt(w)
			if err == nil {
				can = append(can, verb)
			} else if !apierrors.IsForbidden(err) {
				return false, err
			}
			review := &authorizationv1.SelfSubjectAccessReview{Spec: authorizationv1.SelfSubjectAccessReviewSpec{
				ResourceAttributes: &authorizationv1.ResourceAttributes{
					Verb: verb, Group: cowboys.Group, Version: cowboys.Version, Resource: cowboys.Resource, Namespace: "default", Name: "there",
				},
			}}
			review, err = w.kube.AuthorizationV1().SelfSubjectAccessReviews().Create(w.Context(), review, metav1.CreateOptions{})
			if err != nil {
				return false, err
			}
			if review.Status.Allowed {
				reviewed = append(reviewed, verb)
			}
		}
		slices.Sort(can)
		slices.Sort(reviewed)
		return slices.Equal(can, verbs) && slices.Equal(reviewed, verbs), fmt.Sprintf("can %v, reviews say %v, want %v", can, reviewed, verbs)
	})
}

// newConsumer makes a workspace that has bound the export of provider and has one cowboy.
// user-1 is its administrator.
func newConsumer(t testing.TB, server *servertest.Server, provider workspace) workspace {
	t.Helper()
	w := newWorkspace(t, server)
	servertest.Bind(t, w.config, provider.path, "wildwest")
	admin := as(t, server.As(t, "admin-token", w.cluster), w.cluster, w.path)
	if _, err := admin.dynamic.Resource(cowboys).Namespace("default").Create(t.Context(), servertest.Cowboy("there"), metav1.CreateOptions{}); err != nil {
		t.Fatalf("the privileged are not limited: %v", err)
	}
	w.bind("user-1-admin", "cluster-admin", user("user-1"))
	return w
}

func TestWhatConsumersMay(t *testing.T) {
	server := servertest.Start(t, servertest.WithUsers(t))
	provider := newWorkspace(t, server)
	servertest.Export(t, provider.config, "wildwest", limited, servertest.CowboySchema())
	w := newConsumer(t, server, provider)
	admin := as(t, server.As(t, "user-1-token", w.cluster), w.cluster, w.path)

	admin.may("without a rule of the provider an administrator may do nothing")
	if _, err := admin.kube.CoreV1().ConfigMaps("default").List(t.Context(), metav1.ListOptions{}); err != nil {
		t.Errorf("what is not bound is not limited: %v", err)
	}
	provider.bind("user-1", "cluster-admin", user("user-1"))
	provider.allow("reader", user(consumer("user-1")), "get", "list")
	admin.may("rules for the user, as a consumer, let him", "get", "list")
	review, err := w.kube.AuthorizationV1().SubjectAccessReviews().Create(t.Context(), &authorizationv1.SubjectAccessReview{
		Spec: authorizationv1.SubjectAccessReviewSpec{
			User: "user-1", Groups: []string{"system:authenticated"},
			ResourceAttributes: &authorizationv1.ResourceAttributes{Verb: "create", Group: cowboys.Group, Resource: cowboys.Resource, Namespace: "default"},
		},
	}, metav1.CreateOptions{})
	if err != nil || review.Status.Allowed {
		t.Errorf("a review says that more is allowed than is: %+v, %v", review, err)
	}
	provider.allow("writer", group(consumer("team-1")), "create")
	admin.may("so do rules for his groups", "create", "get", "list")
	provider.allow("everybody", group(consumer("system:authenticated")), "patch")
	admin.may("so do rules for all that are authenticated", "create", "get", "list", "patch")

	w.allow("user-2", user("user-2"), "deletecollection", "patch")
	w.role("enter", rbacv1.PolicyRule{Verbs: []string{"access"}, NonResourceURLs: []string{"/"}})
	w.bind("user-2-enter", "enter", user("user-2"))
	second := as(t, server.As(t, "user-2-token", w.cluster), w.cluster, w.path)
	second.may("both the provider and the workspace have to allow it", "patch")

	t.Run("Namespaces", func(t *testing.T) {
		role := &rbacv1.Role{
			ObjectMeta: metav1.ObjectMeta{Name: "cleaner", Namespace: "default"},
			Rules:      []rbacv1.PolicyRule{{Verbs: []string{"deletecollection"}, APIGroups: []string{cowboys.Group}, Resources: []string{cowboys.Resource}}},
		}
		if _, err := provider.kube.RbacV1().Roles("default").Create(t.Context(), role, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
		binding := &rbacv1.RoleBinding{
			ObjectMeta: role.ObjectMeta, Subjects: []rbacv1.Subject{user(consumer("user-2"))},
			RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: "cleaner"},
		}
		if _, err := provider.kube.RbacV1().RoleBindings("default").Create(t.Context(), binding, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
		second.may("roles in a namespace are for namespaces of that name", "deletecollection", "patch")
	})

	t.Run("Impersonation", func(t *testing.T) {
		config := rest.CopyConfig(admin.config)
		config.Impersonate = rest.ImpersonationConfig{UserName: "somebody", Groups: []string{"team-1", "system:authenticated"}}
		w.bind("somebody", "cluster-admin", user("somebody"))
		somebody := as(t, config, w.cluster, w.path)
		somebody.may("whom a workspace makes a member of a group is none to the provider", "patch")
	})

	t.Run("ServiceAccounts", func(t *testing.T) {
		account, err := w.kube.CoreV1().ServiceAccounts("default").Create(t.Context(), &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: "robot"}}, metav1.CreateOptions{})
		if err != nil {
			t.Fatal(err)
		}
		token, err := w.kube.CoreV1().ServiceAccounts("default").CreateToken(t.Context(), account.Name, &authenticationv1.TokenRequest{}, metav1.CreateOptions{})
		if err != nil {
			t.Fatal(err)
		}
		w.bind("robot", "cluster-admin", rbacv1.Subject{Kind: rbacv1.ServiceAccountKind, Namespace: "default", Name: "robot"})
		robot := as(t, server.As(t, token.Status.Token, w.cluster), w.cluster, w.path)
		robot.may("a service account is somebody who is authenticated", "patch")
		provider.allow("robots", user(consumer("system:kcp:serviceaccount:"+w.cluster+":default:robot")), "list")
		robot.may("it goes by its global name", "list", "patch")
		provider.allow("local-robots", user(consumer("system:serviceaccount:default:robot")), "get")
		provider.allow("other-robots", user(consumer("system:kcp:serviceaccount:"+provider.cluster+":default:robot")), "create")
		// Another rule shows when these would count.
		provider.allow("accounts", group(consumer("system:serviceaccounts")), "deletecollection")
		robot.may("and not by one that others have", "deletecollection", "list", "patch")
	})

	t.Run("Revoked", func(t *testing.T) {
		for _, name := range []string{"reader", "everybody"} {
			if err := provider.kube.RbacV1().ClusterRoleBindings().Delete(t.Context(), name, metav1.DeleteOptions{}); err != nil {
				t.Fatal(err)
			}
		}
		admin.may("what is revoked is not allowed any more", "create")
	})

	t.Run("Lifted", func(t *testing.T) {
		_, err := provider.dynamic.Resource(exports).Patch(t.Context(), "wildwest", types.MergePatchType, []byte(`{"spec":{"maximalPermissionPolicy":null}}`), metav1.PatchOptions{})
		if err != nil {
			t.Fatal(err)
		}
		all := []string{"create", "deletecollection", "get", "list", "patch"}
		admin.may("without a policy the workspace alone decides", all...)
		_, err = provider.dynamic.Resource(exports).Patch(t.Context(), "wildwest", types.MergePatchType, []byte(`{"spec":{"maximalPermissionPolicy":{"local":{}}}}`), metav1.PatchOptions{})
		if err != nil {
			t.Fatal(err)
		}
		admin.may("with one it does not", "create")
		if err := provider.dynamic.Resource(exports).Delete(t.Context(), "wildwest", metav1.DeleteOptions{}); err != nil {
			t.Fatal(err)
		}
		admin.may("nor without an export, whose policy went with it", all...)
	})
}

// TestWorkspaceOfTheProvider: the provider may bind its own export, and is a consumer
// then; where the resource is not bound its policy means nothing.
func TestWorkspaceOfTheProvider(t *testing.T) {
	server := servertest.Start(t, servertest.WithUsers(t))
	provider := newWorkspace(t, server)
	provider.bind("user-1-admin", "cluster-admin", user("user-1"))
	servertest.Export(t, provider.config, "wildwest", limited, servertest.CowboySchema())
	servertest.Bind(t, provider.config, "", "wildwest")
	admin := as(t, server.As(t, "admin-token", provider.cluster), provider.cluster, provider.path)
	if _, err := admin.dynamic.Resource(cowboys).Namespace("default").Create(t.Context(), servertest.Cowboy("there"), metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	owner := as(t, server.As(t, "user-1-token", provider.cluster), provider.cluster, provider.path)
	owner.may("who administers the workspace of the provider is a consumer like others")
	provider.allow("reader", user(consumer("user-1")), "get")
	owner.may("and may be allowed what others may", "get")

	elsewhere := newWorkspace(t, server)
	other := servertest.CowboySchema()
	servertest.Export(t, elsewhere.config, "wildwest", nil, other)
	w := newConsumer(t, server, elsewhere)
	as(t, server.As(t, "user-1-token", w.cluster), w.cluster, w.path).
		may("an export of the same resource without a policy has none", "create", "deletecollection", "get", "list", "patch")
	if _, err := w.dynamic.Resource(tenancyv1alpha1.GroupVersion.WithResource("workspaces")).List(t.Context(), metav1.ListOptions{}); err != nil {
		t.Errorf("administrators may look at workspaces: %v", err)
	}
}
