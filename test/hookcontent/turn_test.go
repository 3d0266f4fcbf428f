package hookcontent

import (
	"net/http"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/forkless/kcp/internal/servertest"
	corev1alpha1 "github.com/forkless/kcp/pkg/apis/core/v1alpha1"
)

var turns = map[string]behavior{
	"Initializer":    {"36: content is in reach while the workspace initializes, and not from the moment on in which it does not", initializersTurn},
	"Terminator":     {"42: content is in reach while the workspace terminates, and neither before nor after", terminatorsTurn},
	"Creator":        {"13.3: as the creator a terminator keeps its rights until it is done", creatorUntilDone},
	"OtherHooks":     {"a workspace without the hook is none of its business", otherHooks},
	"Unknown":        {"12.5: what is not there is no server error of ours, but is answered as specified", unknownCluster},
	"NotPermitted":   {"33: who may not act for the hook learns nothing", notPermitted},
	"Paths":          {"no spelling of a path leads out of the workspace", paths},
	"Logicalcluster": {"12.4: the LogicalCluster is written through the virtual workspace only", logicalClusterThere},
}

func initializersTurn(t *testing.T, s *suite) {
	for _, workspaceType := range []string{"ruled", "trusted"} {
		ws := s.newborn(t, workspaceType)
		namespaces := s.at(initializing, workspaceType, ws.Spec.Cluster) + "/api/v1/namespaces"
		if got := s.send(t, controller, http.MethodGet, namespaces, "", nil); got.code != http.StatusOK {
			t.Fatalf("got %d %s", got.code, got.body)
		}
		s.release(t, initializing, workspaceType, ws.Spec.Cluster)
		// At once, not some time later.
		body := `{"apiVersion":"v1","kind":"Namespace","metadata":{"name":"late"}}`
		s.send(t, controller, http.MethodPost, namespaces, body, nil).check(t, http.StatusForbidden, `initializer "`+s.id(workspaceType)+`" cannot access this workspace`)
		s.await(t, ws.Name, "it is ready", isReady)
		s.send(t, controller, http.MethodGet, namespaces, "", nil).check(t, http.StatusForbidden, "cannot access this workspace")
		s.send(t, master, http.MethodGet, namespaces, "", nil).check(t, http.StatusForbidden, "cannot access this workspace")
	}
}

func terminatorsTurn(t *testing.T, s *suite) {
	ws := s.grown(t, "ruled", "ruled")
	inside := s.kube(t, s.server.As(t, creator, ws.Spec.Cluster))
	_, err := inside.CoreV1().Namespaces().Create(t.Context(), namespace("work"), metav1.CreateOptions{})
	must(t, err)
	kept := configMap("kept")
	kept.Finalizers = []string{"example.com/archive"}
	_, err = inside.CoreV1().ConfigMaps("work").Create(t.Context(), kept, metav1.CreateOptions{})
	must(t, err)

	configMaps := s.at(ending, "ruled", ws.Spec.Cluster) + "/api/v1/namespaces/work/configmaps"
	s.send(t, controller, http.MethodGet, configMaps, "", nil).check(t, http.StatusForbidden, `terminator "`+s.id("ruled")+`" cannot access this workspace`)
	s.remove(t, ws.Name)

	hook := s.hook(t, controller, ending, "ruled", ws.Spec.Cluster)
	servertest.Eventually(t, "content is being deleted", func() (bool, any) {
		found, err := hook.CoreV1().ConfigMaps("work").Get(t.Context(), "kept", metav1.GetOptions{})
		return err == nil && found.DeletionTimestamp != nil, err
	})
	_, err = hook.CoreV1().Secrets("work").List(t.Context(), metav1.ListOptions{})
	wantCode(t, err, http.StatusForbidden, "terminatorPermissions", "list on secrets")
	// As an initializer it has had its turn.
	s.send(t, controller, http.MethodGet, s.at(initializing, "ruled", ws.Spec.Cluster)+"/api/v1/namespaces", "", nil).
		check(t, http.StatusForbidden, "initializer", "cannot access this workspace")
	servertest.Eventually(t, "the terminator lets go of what it has archived", func() (bool, any) {
		found, err := hook.CoreV1().ConfigMaps("work").Get(t.Context(), "kept", metav1.GetOptions{})
		if err == nil {
			found.Finalizers = nil
			_, err = hook.CoreV1().ConfigMaps("work").Update(t.Context(), found, metav1.UpdateOptions{})
		}
		return err == nil, err
	})
	s.release(t, ending, "ruled", ws.Spec.Cluster)
	outlived(t, s, configMaps)
	s.awaitGone(t, ws.Name)
	outlived(t, s, configMaps)
}

// outlived checks that a terminator does not outlive its workspace.
func outlived(t *testing.T, s *suite, url string) {
	t.Helper()
	got := s.send(t, controller, http.MethodGet, url, "", nil)
	if got.code != http.StatusForbidden && got.code != http.StatusNotFound {
		t.Errorf("got %d %s", got.code, got.body)
	}
}

func creatorUntilDone(t *testing.T, s *suite) {
	ws := s.grown(t, "trusted", "trusted")
	s.remove(t, ws.Name)
	hook := s.hook(t, controller, ending, "trusted", ws.Spec.Cluster)
	// All content is gone before this condition says so; the terminator is not.
	servertest.Eventually(t, "content is deleted", func() (bool, any) {
		lc, err := s.admin(t, ws.Spec.Cluster).Resource(logicalclusters).Get(t.Context(), corev1alpha1.LogicalClusterName, metav1.GetOptions{})
		if err != nil {
			return false, err
		}
		conditions := as[corev1alpha1.LogicalCluster](t, lc).Status.Conditions
		for _, c := range conditions {
			if c.Type == "WorkspaceContentDeleted" && c.Status == "True" {
				return true, nil
			}
		}
		return false, conditions
	})
	if got := whoAmI(t, hook); got.Username != creatorName {
		t.Errorf("got %v", got)
	}
	_, err := hook.RbacV1().ClusterRoleBindings().Get(t.Context(), "workspace-admin", metav1.GetOptions{})
	must(t, err)
	s.release(t, ending, "trusted", ws.Spec.Cluster)
	s.awaitGone(t, ws.Name)
}

func otherHooks(t *testing.T, s *suite) {
	ws := s.newborn(t, "trusted")
	for _, workspaceType := range []string{"ruled", "both", "nowhere"} {
		s.send(t, controller, http.MethodGet, s.at(initializing, workspaceType, ws.Spec.Cluster)+"/api/v1/namespaces", "", nil).
			check(t, http.StatusForbidden, `initializer "`+s.id(workspaceType)+`" cannot access this workspace`)
	}
	s.send(t, controller, http.MethodGet, s.at(ending, "trusted", ws.Spec.Cluster)+"/api/v1/namespaces", "", nil).
		check(t, http.StatusForbidden, `terminator "`+s.id("trusted")+`" cannot access this workspace`)
	for _, cluster := range []string{"root", s.types} {
		s.send(t, controller, http.MethodGet, s.at(initializing, "trusted", cluster)+"/api/v1/namespaces", "", nil).
			check(t, http.StatusForbidden, "cannot access this workspace")
	}
}

func unknownCluster(t *testing.T, s *suite) {
	const nowhere = "2b5a1xk3c0vqm7ds"
	s.send(t, controller, http.MethodGet, s.at(initializing, "ruled", nowhere)+"/api/v1/namespaces", "", nil).check(t, http.StatusInternalServerError)
	s.send(t, controller, http.MethodGet, s.at(ending, "ruled", nowhere)+"/api/v1/namespaces", "", nil).check(t, http.StatusNotFound)
}

func notPermitted(t *testing.T, s *suite) {
	ws := s.newborn(t, "ruled")
	for _, cluster := range []string{ws.Spec.Cluster, "2b5a1xk3c0vqm7ds", "root"} {
		for _, token := range []string{visitor, creator, ""} {
			got := s.send(t, token, http.MethodGet, s.at(initializing, "ruled", cluster)+"/api/v1/namespaces", "", nil)
			if got.code != http.StatusForbidden || !strings.Contains(got.body, "access denied") {
				t.Errorf("%s in %s: got %d %s", token, cluster, got.code, got.body)
			}
		}
	}
}

func paths(t *testing.T, s *suite) {
	ruled, trusted := s.newborn(t, "ruled"), s.newborn(t, "trusted")
	atTrusted := s.at(initializing, "trusted", trusted.Spec.Cluster)
	atRuled := s.at(initializing, "ruled", ruled.Spec.Cluster)
	for name, path := range map[string]string{
		"NestedCluster":    atTrusted + "/clusters/root/api/v1/namespaces",
		"NestedName":       atTrusted + "/clusters/" + ruled.Spec.Cluster + "/api/v1/namespaces",
		"NestedWildcard":   atTrusted + "/clusters/*/api/v1/namespaces",
		"NestedService":    atTrusted + "/services/" + initializing + "/" + s.id("ruled") + "/clusters/" + ruled.Spec.Cluster + "/api/v1/namespaces",
		"EscapedNesting":   atTrusted + "/%63lusters/root/api/v1/namespaces",
		"Dots":             atTrusted + "/../root/api/v1/namespaces",
		"EscapedDots":      atTrusted + "/%2e%2e/root/api/v1/namespaces",
		"EscapedSlashes":   atTrusted + "%2f..%2froot/api/v1/namespaces",
		"DoubleSlash":      atTrusted + "//clusters/root/api/v1/namespaces",
		"ByPath":           s.at(initializing, "trusted", s.path+":"+trusted.Name) + "/api/v1/namespaces",
		"Wildcard":         s.at(initializing, "trusted", "*") + "/api/v1/namespaces",
		"EscapedWildcard":  s.at(initializing, "trusted", "%2A") + "/api/v1/namespaces",
		"SystemCluster":    s.at(initializing, "trusted", "system:admin") + "/apis/rbac.authorization.k8s.io/v1/clusterroles",
		"NoCluster":        "/services/" + initializing + "/" + s.id("trusted") + "/api/v1/namespaces",
		"PathOfType":       "/services/" + initializing + "/" + s.path + ":trusted/clusters/" + trusted.Spec.Cluster + "/api/v1/namespaces",
		"EscapedColon":     "/services/" + initializing + "/" + s.types + "%3Atrusted/clusters/" + trusted.Spec.Cluster + "/api/v1/namespaces",
		"HomeOfSomebody":   "/services/" + initializing + "/root:trusted/clusters/" + trusted.Spec.Cluster + "/api/v1/namespaces",
		"RulesElsewhere":   atRuled + "/clusters/" + trusted.Spec.Cluster + "/api/v1/namespaces",
		"RulesNestedInAPI": atRuled + "/api/../clusters/" + trusted.Spec.Cluster + "/api/v1/secrets",
		"RulesForOther":    atRuled + "/api/v1/namespaces/../secrets",
	} {
		got := s.send(t, controller, http.MethodGet, path, "", nil)
		if got.code < 400 || strings.Contains(got.body, "kcp.io/cluster") {
			t.Errorf("%s: %s: got %d %.200s", name, path, got.code, got.body)
		}
	}
	for _, path := range []string{"/metrics", "/metrics/slis", "/%6detrics"} {
		for _, at := range []string{atRuled, atTrusted} {
			s.send(t, controller, http.MethodGet, at+path, "", nil).check(t, http.StatusNotImplemented)
		}
	}
	for _, path := range []string{"/debug/pprof/heap", "/debug/pprof/", "/logs/", "/statusz"} {
		for _, at := range []string{atRuled, atTrusted} {
			if got := s.send(t, controller, http.MethodGet, at+path, "", nil); got.code != http.StatusForbidden {
				t.Errorf("%s: got %d %s", path, got.code, got.body)
			}
		}
	}
}

func logicalClusterThere(t *testing.T, s *suite) {
	ws := s.newborn(t, "trusted")
	client := newClient(t, s.through(t, controller, initializing, "trusted", ws.Spec.Cluster)).Resource(logicalclusters)
	name := corev1alpha1.LogicalClusterName
	_, err := client.Patch(t.Context(), name, types.MergePatchType, []byte(`{"metadata":{"annotations":{"a":"b"}}}`), metav1.PatchOptions{})
	wantCode(t, err, http.StatusMethodNotAllowed)
	err = client.Delete(t.Context(), name, metav1.DeleteOptions{})
	wantCode(t, err, http.StatusMethodNotAllowed)
	base := s.at(initializing, "trusted", ws.Spec.Cluster)
	for _, path := range []string{
		"/apis/core.kcp.io/v1alpha1/namespaces/default/logicalclusters/cluster",
		"/apis/core.kcp.io/v1alpha1/%6cogicalclusters/cluster",
		"//apis/core.kcp.io/v1alpha1/logicalclusters/cluster",
		"/apis/core.kcp.io/v1alpha1/logicalclusters:" + strings.Repeat("a", 64) + "/cluster",
	} {
		got := s.send(t, controller, http.MethodPatch, base+path, `{"metadata":{"annotations":{"a":"b"}}}`, map[string]string{"Content-Type": "application/merge-patch+json"})
		if got.code < 400 {
			t.Errorf("%s: got %d %s", path, got.code, got.body)
		}
	}
	lc, err := s.admin(t, ws.Spec.Cluster).Resource(logicalclusters).Get(t.Context(), name, metav1.GetOptions{})
	must(t, err)
	if _, written := lc.GetAnnotations()["a"]; written {
		t.Error("it was written")
	}
	if _, err := client.Get(t.Context(), name, metav1.GetOptions{}); err != nil {
		t.Errorf("it is there to be read: %v", err)
	}
}
