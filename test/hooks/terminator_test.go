package hooks

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/forkless/kcp/internal/servertest"
	corev1alpha1 "github.com/forkless/kcp/pkg/apis/core/v1alpha1"
)

// service is what workspaces have access to, outside.
type service struct {
	mu      sync.Mutex
	down    bool
	asked   int
	revoked map[string]bool
}

// ServeHTTP ends the access of a workspace, unless the service is down.
func (s *service) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked++
	cluster, ok := strings.CutPrefix(r.URL.Path, "/access/")
	switch {
	case r.Method != http.MethodDelete || !ok:
		w.WriteHeader(http.StatusBadRequest)
	case s.down:
		w.WriteHeader(http.StatusServiceUnavailable)
	case s.revoked[cluster]:
		w.WriteHeader(http.StatusNotFound)
	default:
		s.revoked[cluster] = true
	}
}

func (s *service) set(down bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.down = down
}

func (s *service) has(cluster string) (revoked bool, asked int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.revoked[cluster], s.asked
}

// TestTerminator: a workspace does not go before what is to be kept is in the archive and its
// access is revoked, and the account of the controller sees nothing of it before.
func TestTerminator(t *testing.T) {
	w := newWorld(t, "terminator/type.yaml")
	outside := &service{down: true, revoked: map[string]bool{}}
	listening := httptest.NewServer(outside)
	t.Cleanup(listening.Close)
	archive := t.TempDir()
	args := []string{"--archive=" + archive, "--service=" + listening.URL + "/access"}

	cluster := field(t, w.create(t, "shop", "tenant", corev1alpha1.PhaseReady), "spec", "cluster")
	w.ledger(t, cluster, "ledger", "archive.example.dev/keep")
	w.ledger(t, cluster, "scrap")
	servertest.Eventually(t, "the account may act as the terminator", func() (bool, any) {
		_, err := newClient(t, w.through(t, "terminator", "terminatingworkspaces", "tenant", "*"), logicalclusters, "").
			List(t.Context(), metav1.ListOptions{})
		return err == nil, err
	})
	through := newClient(t, w.through(t, "terminator", "terminatingworkspaces", "tenant", cluster), configmaps, "")
	if _, err := through.List(t.Context(), metav1.ListOptions{}); !apierrors.IsForbidden(err) {
		t.Errorf("the controller reads in a workspace that is not being deleted: %v", err)
	}

	// The workspace is held while the service is down, and by a controller that is not there.
	stop := w.controller(t, "terminator", args...)
	must(t, w.at(t, organization, workspaces, "").Delete(t.Context(), "shop", metav1.DeleteOptions{}))
	servertest.Eventually(t, "the controller has asked for the access to be revoked", func() (bool, any) {
		_, asked := outside.has(cluster)
		return asked > 0, asked
	})
	stop()
	held := w.await(t, "shop", corev1alpha1.PhaseTerminating)
	if !strings.Contains(message(t, held, "WorkspaceTerminated"), w.home+":tenant") {
		t.Errorf("the workspace does not say that it waits for %s: %v", w.home+":tenant", held.Object["status"])
	}
	secrets := newClient(t, w.through(t, "terminator", "terminatingworkspaces", "tenant", cluster), secrets, "")
	if _, err := secrets.List(t.Context(), metav1.ListOptions{}); !apierrors.IsForbidden(err) {
		t.Errorf("the controller may list secrets, of which the type says nothing: %v", err)
	}

	outside.set(false)
	w.controller(t, "terminator", args...)
	servertest.Eventually(t, "the workspace is gone", func() (bool, any) {
		found, err := w.at(t, organization, workspaces, "").Get(t.Context(), "shop", metav1.GetOptions{})
		return apierrors.IsNotFound(err), found
	})
	if revoked, _ := outside.has(cluster); !revoked {
		t.Error("the workspace is gone, and its access has not been revoked")
	}
	archived(t, archive, cluster)
	if _, err := through.List(t.Context(), metav1.ListOptions{}); !apierrors.IsForbidden(err) && !apierrors.IsNotFound(err) {
		t.Errorf("the controller reads in a workspace that is gone: %v", err)
	}
}

// ledger makes a ConfigMap.
func (w *world) ledger(t *testing.T, cluster, name string, finalizers ...string) {
	t.Helper()
	made := object("v1", "ConfigMap", name)
	made.SetFinalizers(finalizers)
	made.Object["data"] = map[string]any{"balance": "42"}
	_, err := w.at(t, cluster, configmaps, "default").Create(t.Context(), made, metav1.CreateOptions{})
	must(t, err)
}

// archived checks that the archive has what was to be kept, and nothing else.
func archived(t *testing.T, archive, cluster string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(archive, cluster, "*", "*"))
	must(t, err)
	want := filepath.Join(archive, cluster, "default", "ledger")
	if len(files) != 1 || files[0] != want {
		t.Fatalf("the archive has %v and not just %s", files, want)
	}
	content, err := os.ReadFile(want)
	must(t, err)
	kept := &corev1.ConfigMap{}
	must(t, json.Unmarshal(content, kept))
	if kept.Data["balance"] != "42" {
		t.Errorf("the archive has %s", content)
	}
}

// message returns what a condition says.
func message(t *testing.T, object *unstructured.Unstructured, condition string) string {
	t.Helper()
	all, _, err := unstructured.NestedSlice(object.Object, "status", "conditions")
	must(t, err)
	for _, one := range all {
		if fields, _ := one.(map[string]any); fields["type"] == condition {
			said, _ := fields["message"].(string)
			return said
		}
	}
	return ""
}
