package badinput

import (
	"net/http"
	"testing"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/forkless/kcp/internal/servertest"
)

// The callers of requests.
const (
	// user is administrator of the workspace "mine" and nobody anywhere else.
	user = "user-1-token"
	// owner is administrator of the workspace "other".
	owner = "user-2-token"
	// privileged is beyond all authorization.
	privileged = "admin-token"
	nobody     = "none"

	mine  = "/clusters/root:mine"
	other = "/clusters/root:other"
)

// suite is a server with two workspaces. Its etcd is outside, so that it can be compacted.
type suite struct {
	server *servertest.Server
	etcd   *servertest.Etcd
	// root is the root directory of the server and flags are what it is started with.
	root  string
	flags []string

	client *http.Client
	// own and foreign are the names of the logical clusters of mine and other.
	own, foreign string
}

func newSuite(t *testing.T) *suite {
	t.Helper()
	etcd := servertest.StartEtcd(t)
	s := &suite{root: t.TempDir(), etcd: etcd, flags: []string{servertest.WithUsers(t), "--etcd-servers=" + etcd.Server}}
	s.start(t)
	s.own = s.workspace(t, "mine", "user-1")
	s.foreign = s.workspace(t, "other", "user-2")
	return s
}

// start starts the server, for the first time or once more. It runs until the test that
// is t ends, or is stopped.
func (s *suite) start(t *testing.T) {
	t.Helper()
	s.server = servertest.StartIn(t, s.root, s.flags...)
	client, err := newClient(rest.AnonymousClientConfig(s.server.Config(t, "base")))
	if err != nil {
		t.Fatal(err)
	}
	s.client = client
}

// workspace makes a workspace with an administrator and something in it.
func (s *suite) workspace(t *testing.T, name, admin string) (cluster string) {
	t.Helper()
	ws := s.server.Workspace(t, "root", name)
	client, err := kubernetes.NewForConfig(s.server.In(t, "base", ws.Spec.Cluster))
	if err != nil {
		t.Fatal(err)
	}
	_, err = client.RbacV1().ClusterRoleBindings().Create(t.Context(), &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: "admin"},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "cluster-admin"},
		Subjects:   []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: "User", Name: admin}},
	}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	data := "nothing"
	if name == "other" {
		data = secret
	}
	for _, object := range []string{"one", "two", "three"} {
		_, err = client.CoreV1().ConfigMaps("default").Create(t.Context(), &corev1.ConfigMap{
			ObjectMeta: metav1.ObjectMeta{Name: object + "-" + name},
			Data:       map[string]string{"is": data},
		}, metav1.CreateOptions{})
		if err != nil {
			t.Fatal(err)
		}
	}
	s.waitForAdmin(t, ws.Spec.Cluster, admin+"-token")
	return ws.Spec.Cluster
}

// waitForAdmin waits until the binding has taken effect.
func (s *suite) waitForAdmin(t *testing.T, cluster, token string) {
	t.Helper()
	servertest.Eventually(t, "the administrator is let in", func() (bool, any) {
		client, err := kubernetes.NewForConfig(s.server.As(t, token, cluster))
		if err != nil {
			return false, err
		}
		_, err = client.CoreV1().ConfigMaps("default").List(t.Context(), metav1.ListOptions{})
		return err == nil, err
	})
}

// TestBadInput sends the tables of this package to one server.
func TestBadInput(t *testing.T) {
	s := newSuite(t)
	t.Run("Addresses", s.addresses)
	t.Run("Names", s.names)
	t.Run("Bodies", s.bodies)
	t.Run("MediaTypes", s.mediaTypes)
	t.Run("Options", s.options)
	t.Run("Versions", s.versions)
	t.Run("ContinueTokens", s.continueTokens)
	t.Run("Credentials", s.credentials)
	t.Run("Definitions", s.definitions)
	t.Run("CustomObjects", s.customObjects)
	t.Run("ImmutableFields", s.immutableFields)
	t.Run("Unauthenticated", s.unauthenticated)

	// Last, because it restarts the server.
	s.compacted(t)
	t.Run("StillServing", func(t *testing.T) {
		s.send(t, request{reason: "after all that, ordinary requests are answered", path: mine + "/api/v1/namespaces/default", code: http.StatusOK})
	})
}
