package observable

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/forkless/kcp/internal/servertest"
)

// unprefixed gets a path without a workspace.
func (s *suite) unprefixed(t *testing.T, caller, path string) (code int, body string) {
	t.Helper()
	config := rest.CopyConfig(s.configOf(t, caller, "root"))
	config.Host = s.URL()
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	path, query, _ := strings.Cut(path, "?")
	request := client.Discovery().RESTClient().Get().AbsPath(path)
	if query != "" {
		request.Param(query, "true")
	}
	r := request.Do(t.Context())
	data, _ := r.Raw()
	r.StatusCode(&code)
	return code, string(data)
}

// addresses: paths and names lead to the same place, relative to any cluster.
func (s *suite) addresses(t *testing.T) {
	org := s.organization(t)
	s.child(t, org, "child")
	in := s.in(t, admin, org)
	cluster := in.must(t, in.get(t, "LogicalCluster", "cluster")).GetAnnotations()["kcp.io/cluster"]
	made := in.must(t, in.create(t, "{kind: ConfigMap, metadata: {name: one}}"))
	byName := s.in(t, admin, cluster)
	equal(t, "UID by name", made.GetUID(), byName.must(t, byName.get(t, "ConfigMap", "one")).GetUID())
	relative := s.in(t, admin, cluster+":child")
	relative.must(t, relative.get(t, "Namespace", "default"))

	user := s.in(t, admin, "abcdefgh1234")
	user.refused(t, "a name nothing has", user.list(t, "Namespace"), metav1.StatusReasonForbidden, "access denied")
	system := s.in(t, privileged, "abcdefgh1234")
	equal(t, "what privileged callers see there", "", text(system.must(t, system.list(t, "Namespace")), "names"))
	forbidden := s.in(t, admin, "system:admin")
	forbidden.refused(t, "system clusters are for privileged callers", forbidden.list(t, "ClusterRole"), metav1.StatusReasonForbidden, "")
	allowed := s.in(t, privileged, "system:admin")
	if names := text(allowed.must(t, allowed.list(t, "ClusterRole")), "names"); !containsAll(names, "cluster-admin", "system:kcp:workspace:access") {
		t.Errorf("cluster roles of system:admin: %s", names)
	}
}

// health: what is open to everybody, and what is not.
func (s *suite) health(t *testing.T) {
	for _, path := range []string{"/healthz", "/livez", "/readyz"} {
		for _, prefix := range []string{"", "/clusters/root"} {
			code, body := s.unprefixed(t, anonymous, prefix+path)
			equal(t, prefix+path, "200 ok", fmt.Sprint(code, " ", body))
		}
	}
	for caller, want := range map[string]map[string]int{
		anonymous:  {"/livez/ping": http.StatusForbidden},
		admin:      {"/version": http.StatusForbidden, "/clusters/root/version": http.StatusOK},
		privileged: {"/livez/ping": http.StatusOK, "/version": http.StatusOK},
	} {
		for path, code := range want {
			got, body := s.unprefixed(t, caller, path)
			if got != code {
				t.Errorf("%s as %q: want %d, got %d: %s", path, caller, code, got, body)
			}
		}
	}
	code, body := s.unprefixed(t, anonymous, "/readyz?verbose")
	equal(t, "code of readyz?verbose", http.StatusOK, code)
	for _, check := range []string{"etcd", "poststarthook/kcp-bootstrap-policy", "poststarthook/kcp-start-informers", "poststarthook/kcp-start-controllers"} {
		if !strings.Contains(body, "[+]"+check+" ok") {
			t.Errorf("readyz reports %s; got\n%s", check, body)
		}
	}
}

// metrics: of the process, for those whom root lets see them.
func (s *suite) metrics(t *testing.T) {
	for _, caller := range []string{"user-4", admin, privileged} {
		code, body := s.unprefixed(t, caller, "/clusters/root/metrics")
		equal(t, "metrics of a workspace as "+caller, "501 shard-level endpoint not available at workspace scope", fmt.Sprint(code, " ", strings.TrimSpace(body)))
	}
	if code, body := s.unprefixed(t, "user-4", "/metrics"); code != http.StatusForbidden {
		t.Errorf("a user without the role: %d %.100s", code, body)
	}
	root := s.in(t, admin, "root")
	root.must(t, root.create(t, binding("metrics-of-user-4", "system:kcp:metrics-reader", "User", "user-4")))
	servertest.Eventually(t, "a user with the role in root", func() (bool, any) {
		code, _ := s.unprefixed(t, "user-4", "/metrics")
		return code == http.StatusOK, code
	})
	root.must(t, root.delete(t, "ClusterRoleBinding", "metrics-of-user-4"))
}

// wildcard: all clusters at once, for privileged callers.
func (s *suite) wildcard(t *testing.T) {
	org := s.organization(t)
	one, two := s.child(t, org, "one"), s.child(t, org, "two")
	name := "everywhere-" + lastOf(org)
	for _, path := range []string{one, two} {
		in := s.in(t, admin, path)
		in.must(t, in.create(t, "{kind: ConfigMap, metadata: {name: "+name+"}}"))
		in.must(t, in.create(t, definition("Widget", "widgets", "Namespaced", "size: {type: integer}")))
		in.eventuallyCreated(t, "{kind: Widget, metadata: {name: "+name+"}}")
	}
	all := s.in(t, privileged, "*")
	list, err := all.client.Resource(resources["ConfigMap"]).List(t.Context(), metav1.ListOptions{FieldSelector: "metadata.name=" + name})
	if err != nil || len(list.Items) != 2 {
		t.Fatalf("two ConfigMaps of all clusters: got %v, %v", list, err)
	}
	if first, second := list.Items[0].GetAnnotations()["kcp.io/cluster"], list.Items[1].GetAnnotations()["kcp.io/cluster"]; first == second || first == "" || second == "" {
		t.Errorf("each says its cluster; got %q and %q", first, second)
	}
	all.refused(t, "nothing is created in all clusters", all.create(t, "{kind: Namespace, metadata: {name: x}}"), metav1.StatusReasonMethodNotAllowed, "`*`")
	user := s.in(t, admin, "*")
	if _, err := user.client.Resource(resources["Namespace"]).List(t.Context(), metav1.ListOptions{}); !apierrors.IsForbidden(err) {
		t.Errorf("an administrator: %v", err)
	}
	if _, err := all.client.Resource(resources["Widget"]).List(t.Context(), metav1.ListOptions{}); !apierrors.IsNotFound(err) {
		t.Errorf("definitions of workspaces differ, so their objects cannot be listed together: %v", err)
	}
	system, err := all.client.Resource(resources["LogicalCluster"]).List(t.Context(), metav1.ListOptions{})
	if err != nil || len(system.Items) < 4 {
		t.Errorf("logical clusters of all clusters: %v, %v", system, err)
	}
}

// clusterAnnotation: the server says where an object is.
func (s *suite) clusterAnnotation(t *testing.T) {
	org := s.organization(t)
	in := s.in(t, admin, org)
	parent := s.in(t, admin, "root")
	cluster := text(parent.must(t, parent.get(t, "Workspace", lastOf(org))), "spec", "cluster")
	made := in.must(t, in.create(t, "{kind: ConfigMap, metadata: {name: one, annotations: {kcp.io/cluster: elsewhere}}}"))
	equal(t, "after creation", cluster, made.GetAnnotations()["kcp.io/cluster"])
	made = in.must(t, in.patch(t, "ConfigMap", "one", "{metadata: {annotations: {kcp.io/cluster: elsewhere}}}"))
	equal(t, "after a patch", cluster, made.GetAnnotations()["kcp.io/cluster"])
	made = in.must(t, in.patch(t, "ConfigMap", "one", "{metadata: {annotations: null}}"))
	equal(t, "after its removal", cluster, made.GetAnnotations()["kcp.io/cluster"])
	if strings.Contains(fmt.Sprint(made.GetManagedFields()), "kcp.io/cluster") {
		t.Error("nobody owns the annotation")
	}
}
