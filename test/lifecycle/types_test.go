package lifecycle

import (
	"fmt"
	"net/http"
	"slices"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/forkless/kcp/internal/servertest"
	"github.com/forkless/kcp/pkg/apis/conditions"
	corev1alpha1 "github.com/forkless/kcp/pkg/apis/core/v1alpha1"
	tenancyv1alpha1 "github.com/forkless/kcp/pkg/apis/tenancy/v1alpha1"
)

// typeBehavior is what the status of workspace types says.
var typeBehavior = map[string]behavior{
	"Addresses": {
		reason: "30: every type, also one without hooks and those of the server, says where they are found, the initializers first, and is ready",
		test: func(t *testing.T, s *suite) {
			for cluster, names := range map[string][]string{s.types: {"first", "both", "plain"}, "root": {"universal", "organization", "root"}} {
				for _, name := range names {
					s.awaitType(t, cluster, name, s.server.URL())
				}
			}
		},
	},
	"Usable": {
		reason: "what is published is where the virtual workspace is",
		test: func(t *testing.T, s *suite) {
			ws := s.newborn(t, "first")
			for i, published := range s.awaitType(t, s.types, "first", s.server.URL()).Status.VirtualWorkspaces {
				config := s.server.As(t, first, "root")
				config.Host = published.URL + "/clusters/*"
				found := listed(t, newClient(t, config).Resource(logicalclusters), ws.Spec.Cluster, metav1.ListOptions{})
				if found != (i == 0) {
					t.Errorf("%s lists it: %t", published.URL, found)
				}
			}
		},
	},
	"Status": {
		reason: "the status of a type is the system's: its admins cannot send controllers elsewhere",
		test: func(t *testing.T, s *suite) {
			s.grant(t, s.types, "cluster-admin", "user-4")
			client := newClient(t, s.server.As(t, "user-4-token", s.types)).Resource(workspacetypes)
			servertest.Eventually(t, "he is admin", func() (bool, any) {
				_, err := client.Get(t.Context(), "plain", metav1.GetOptions{})
				return err == nil, err
			})
			_, err := client.Patch(t.Context(), "plain", mergePatch,
				[]byte(`{"status":{"virtualWorkspaces":[{"url":"https://evil.example.com","type":"initializing"}]}}`), metav1.PatchOptions{}, "status")
			wantCode(t, err, http.StatusForbidden)
		},
	},
}

// awaitType waits until a type publishes its addresses below a given one, and no others.
func (s *suite) awaitType(t *testing.T, cluster, name, url string) (found *tenancyv1alpha1.WorkspaceType) {
	t.Helper()
	wanted := []tenancyv1alpha1.VirtualWorkspace{
		{URL: fmt.Sprintf("%s/services/initializingworkspaces/%s:%s", url, cluster, name), Type: tenancyv1alpha1.VirtualWorkspaceInitializing},
		{URL: fmt.Sprintf("%s/services/terminatingworkspaces/%s:%s", url, cluster, name), Type: tenancyv1alpha1.VirtualWorkspaceTerminating},
	}
	servertest.Eventually(t, "the type "+name+" publishes its addresses", func() (bool, any) {
		u, err := s.admin(t, cluster).Resource(workspacetypes).Get(t.Context(), name, metav1.GetOptions{})
		if err != nil {
			return false, err
		}
		found = as[tenancyv1alpha1.WorkspaceType](t, u)
		return slices.Equal(found.Status.VirtualWorkspaces, wanted) &&
			conditions.IsTrue(found, conditions.Ready) && conditions.IsTrue(found, tenancyv1alpha1.VirtualWorkspaceURLsReady), found.Status
	})
	return found
}

// TestAddressOfShard has a server of its own: it changes what all types publish.
func TestAddressOfShard(t *testing.T) {
	s := &suite{server: servertest.Start(t, servertest.WithUsers(t))}
	s.prepare(t)
	shards := s.admin(t, "root").Resource(corev1alpha1.GroupVersion.WithResource("shards"))
	set := func(address string) {
		t.Helper()
		_, err := shards.Patch(t.Context(), "root", mergePatch, []byte(`{"spec":{"virtualWorkspaceURL":"`+address+`"}}`), metav1.PatchOptions{})
		must(t, err)
	}
	set("https://elsewhere.example.com:8443/below/")
	for cluster, name := range map[string]string{s.types: "both", "root": "universal"} {
		s.awaitType(t, cluster, name, "https://elsewhere.example.com:8443/below")
	}
	set(s.server.URL())
	s.awaitType(t, "root", "universal", s.server.URL())
}
