package workspacetypes

import (
	"io"
	"net/http"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/forkless/kcp/internal/servertest"
	tenancyv1alpha1 "github.com/forkless/kcp/pkg/apis/tenancy/v1alpha1"
)

// typeNames returns the names of the types in a workspace, sorted.
func (w workspace) typeNames() []string {
	w.Helper()
	list, err := w.client.Resource(types).List(w.Context(), metav1.ListOptions{})
	if err != nil {
		w.Fatal(err)
	}
	var names []string
	for i := range list.Items {
		names = append(names, list.Items[i].GetName())
	}
	slices.Sort(names)
	return names
}

// TestBatteryOfTypes is row 2, and the story of an installation that gets the battery
// later and loses it again: what somebody may use already stays, and how children of root
// are made is root's own business once root is there.
func TestBatteryOfTypes(t *testing.T) {
	directory := t.TempDir()
	without := &suite{servertest.StartIn(t, directory, "--batteries-included=admin")}
	root := without.root(t)
	if diff := cmp.Diff([]string{"home", "root", "universal"}, root.typeNames()); diff != "" {
		t.Errorf("types without the battery (-want +got):\n%s", diff)
	}
	ws, err := root.tryWorkspace("", "")
	if err != nil || ws.Spec.Type.Name != "universal" {
		t.Errorf("row 2: without the battery children of root are universal, got %v, %v", ws.Spec.Type, err)
	}
	root.patch(types, "root", `{"spec":{"additionalWorkspaceLabels":{"touched":"yes"}}}`)
	root.patch(types, "universal", `{"spec":{"additionalWorkspaceLabels":{"touched":"yes"}}}`)
	without.server.Stop()

	with := &suite{servertest.StartIn(t, directory, "--batteries-included=+workspace-types")}
	root = with.root(t)
	if diff := cmp.Diff([]string{"home", "organization", "root", "team", "universal"}, root.typeNames()); diff != "" {
		t.Errorf("types with the battery (-want +got):\n%s", diff)
	}
	if ws, err = root.tryWorkspace("", ""); err != nil || ws.Spec.Type.Name != "universal" {
		t.Errorf("the type of root is made once, and then left to those who change it: got %v, %v", ws.Spec.Type, err)
	}
	for name, touched := range map[string]bool{"root": true, "universal": false} {
		workspaceType, err := get[tenancyv1alpha1.WorkspaceType](root, types, name)
		if err != nil {
			t.Fatal(err)
		}
		if got := workspaceType.Spec.AdditionalWorkspaceLabels["touched"] == "yes"; got != touched {
			t.Errorf("after a start %s has labels %v", name, workspaceType.Spec.AdditionalWorkspaceLabels)
		}
	}
	organization := root.workspace("root", "organization")
	with.server.Stop()

	again := &suite{servertest.StartIn(t, directory, "--batteries-included=-workspace-types")}
	root = again.root(t)
	if diff := cmp.Diff([]string{"home", "organization", "root", "team", "universal"}, root.typeNames()); diff != "" {
		t.Errorf("types when the battery is out again (-want +got):\n%s", diff)
	}
	root.below(again, organization).workspace("root", "team")
}

func TestBatteryOfTypesFromTheStart(t *testing.T) {
	s := &suite{servertest.Start(t)}
	ws, err := s.root(t).tryWorkspace("", "")
	if err != nil || ws.Spec.Type.Name != "organization" || ws.Spec.Type.Path != "root" {
		t.Errorf("row 2: with the battery children of root are organizations, got %v, %v", ws.Spec.Type, err)
	}
}

// TestMetricsViewer: the account may read metrics and nothing else, with a token that
// outlives the server.
func TestMetricsViewer(t *testing.T) {
	directory := t.TempDir()
	s := &suite{servertest.StartIn(t, directory, "--batteries-included=+metrics-viewer")}
	token := s.metricsToken(t)
	s.checkMetrics(t, token)
	s.server.Stop()

	s = &suite{servertest.StartIn(t, directory, "--batteries-included=+metrics-viewer")}
	if again := s.metricsToken(t); again != token {
		t.Error("a start makes another token, and whoever has the old one is locked out")
	}
	s.checkMetrics(t, token)
	// The role is for a user of that name as well.
	config := s.server.Config(t, "shard-base")
	config.Impersonate = rest.ImpersonationConfig{UserName: "metrics-viewer", Groups: []string{"system:authenticated"}}
	if code := answer(t, config, "/metrics"); code != http.StatusOK {
		t.Errorf("the user gets %d", code)
	}
	s.server.Stop()

	s = &suite{servertest.StartIn(t, directory)}
	s.checkMetrics(t, token)
}

// metricsToken waits until the secret of the account has a token.
func (s *suite) metricsToken(t *testing.T) (token string) {
	t.Helper()
	kube, err := kubernetes.NewForConfig(s.server.In(t, "base", "root"))
	if err != nil {
		t.Fatal(err)
	}
	servertest.Eventually(t, "there is a token", func() (bool, any) {
		secret, err := kube.CoreV1().Secrets("default").Get(t.Context(), "metrics", metav1.GetOptions{})
		if err != nil {
			return false, err
		}
		token = string(secret.Data[corev1.ServiceAccountTokenKey])
		return token != "", secret.Annotations
	})
	return token
}

func (s *suite) checkMetrics(t *testing.T, token string) {
	t.Helper()
	config := s.server.As(t, token, "root")
	if code := answer(t, config, "/api/v1/namespaces/default/secrets"); code != http.StatusForbidden {
		t.Errorf("secrets of root are answered with %d", code)
	}
	config.Host = s.server.URL()
	if code := answer(t, config, "/metrics"); code != http.StatusOK {
		t.Errorf("metrics are answered with %d", code)
	}
}

// answer returns the code of the answer to a GET of a path below the host.
func answer(t *testing.T, config *rest.Config, path string) int {
	t.Helper()
	client, err := rest.HTTPClientFor(config)
	if err != nil {
		t.Fatal(err)
	}
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, config.Host+path, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	response, err := client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	_, _ = io.Copy(io.Discard, response.Body)
	return response.StatusCode
}
