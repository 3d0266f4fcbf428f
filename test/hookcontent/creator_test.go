package hookcontent

import (
	"net/http"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	authenticationv1 "k8s.io/api/authentication/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
)

var creatorBehavior = map[string]behavior{
	"Acts":             {"36: without permissions of the type the hook acts as who created the workspace", actsAsCreator},
	"ServiceAccount":   {"36: whoever its controller is", accountActsAsCreator},
	"PrivilegedGroups": {"a hook does not get into all workspaces by way of an administrator who creates one", privilegedGroupsStay},
	"NobodyCreated":    {"without a creator there is nobody to act as", nobodyCreated},
	"System":           {"12.5: the server's own hooks have no type, and act as the creator", systemHook},
}

func whoAmI(t *testing.T, client kubernetes.Interface) authenticationv1.UserInfo {
	t.Helper()
	who, err := client.AuthenticationV1().SelfSubjectReviews().Create(t.Context(), &authenticationv1.SelfSubjectReview{}, metav1.CreateOptions{})
	must(t, err)
	return who.Status.UserInfo
}

func actsAsCreator(t *testing.T, s *suite) {
	cluster := s.newborn(t, "trusted").Spec.Cluster
	hook := s.hook(t, controller, initializing, "trusted", cluster)
	want := authenticationv1.UserInfo{Username: creatorName, UID: "1111-2", Groups: []string{"team-2", "system:authenticated"}}
	if diff := cmp.Diff(want, whoAmI(t, hook)); diff != "" {
		t.Errorf("who acts (-want +got):\n%s", diff)
	}
	_, err := hook.CoreV1().Namespaces().Create(t.Context(), namespace("work"), metav1.CreateOptions{})
	must(t, err)
	_, err = hook.CoreV1().Secrets("work").Create(t.Context(), secret("s"), metav1.CreateOptions{})
	must(t, err)
	groups, err := hook.Discovery().ServerGroups()
	must(t, err)
	if len(groups.Groups) == 0 {
		t.Error("there is discovery as in the workspace")
	}
	if _, err := hook.Discovery().OpenAPISchema(); err != nil {
		t.Errorf("and its documents: %v", err)
	}
	// By himself the controller is nobody there.
	_, err = s.kube(t, s.server.As(t, controller, cluster)).CoreV1().Secrets("work").List(t.Context(), metav1.ListOptions{})
	wantCode(t, err, http.StatusForbidden, "access denied")
}

func accountActsAsCreator(t *testing.T, s *suite) {
	cluster := s.newborn(t, "trusted").Spec.Cluster
	hook := s.hook(t, s.account, initializing, "trusted", cluster)
	if got := whoAmI(t, hook); got.Username != creatorName {
		t.Errorf("got %v", got)
	}
	_, err := hook.CoreV1().Namespaces().Create(t.Context(), namespace("work"), metav1.CreateOptions{})
	must(t, err)
}

func privilegedGroupsStay(t *testing.T, s *suite) {
	admin := s.server.In(t, "base", s.types)
	cluster := s.newbornOf(t, admin, "trusted", s.path).Spec.Cluster
	hook := s.hook(t, controller, initializing, "trusted", cluster)
	got := whoAmI(t, hook)
	if got.Username != "kcp-admin" || slices.Contains(got.Groups, "system:kcp:admin") || !slices.Contains(got.Groups, "system:authenticated") {
		t.Errorf("got %v", got)
	}
	// Administrators are admins of their workspaces by name as well.
	_, err := hook.CoreV1().Namespaces().Create(t.Context(), namespace("work"), metav1.CreateOptions{})
	must(t, err)
	// The heap of the process holds what is in all workspaces.
	for _, path := range []string{"/debug/pprof/heap", "/configz", "/logs/"} {
		if answer := s.send(t, controller, http.MethodGet, s.at(initializing, "trusted", cluster)+path, "", nil); answer.code != http.StatusForbidden {
			t.Errorf("%s: got %d %s", path, answer.code, answer.body)
		}
	}
	config := s.through(t, "", initializing, "trusted", cluster)
	config.BearerToken, config.TLSClientConfig = admin.BearerToken, admin.TLSClientConfig
	if got := whoAmI(t, s.kube(t, config)); !slices.Contains(got.Groups, "system:kcp:admin") {
		t.Errorf("who is in the group himself stays in it: got %v", got)
	}
}

func nobodyCreated(t *testing.T, s *suite) {
	cluster := s.newbornOf(t, s.server.As(t, master, s.types), "trusted", s.path).Spec.Cluster
	s.send(t, controller, http.MethodGet, s.at(initializing, "trusted", cluster)+"/api/v1/namespaces", "", nil).
		check(t, http.StatusInternalServerError, "does not say who created it")
}

func systemHook(t *testing.T, s *suite) {
	cluster := s.newborn(t, "ruled").Spec.Cluster
	url := s.server.URL() + "/services/" + initializing + "/system:apibindings/clusters/" + cluster + "/api/v1/namespaces"
	// This workspace does not wait for it. Only administrators may ask.
	send(t, s.server.In(t, "base", "root"), url, http.MethodGet, "", nil).check(t, http.StatusForbidden, `initializer "system:apibindings" cannot access this workspace`)
	if got := send(t, s.server.As(t, controller, "root"), url, http.MethodGet, "", nil); got.code != http.StatusForbidden {
		t.Errorf("got %d %s", got.code, got.body)
	}
}
