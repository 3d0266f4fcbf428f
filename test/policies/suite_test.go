package policies

import (
	"context"
	"os"
	"strings"
	"sync"
	"testing"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apiextensions "k8s.io/apiextensions-apiserver/pkg/client/clientset/clientset"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/forkless/kcp/internal/servertest"
)

// shared is one server for all tests that need no server of their own: each has a
// workspace.
var shared struct {
	once   sync.Once
	server *servertest.Server
}

// workspace is a new workspace, with clients of its administrator.
type workspace struct {
	server *servertest.Server
	// path is root:<name>, cluster the logical cluster.
	path, cluster string
	config        *rest.Config
	kube          kubernetes.Interface
	dynamic       dynamic.Interface
	definitions   apiextensions.Interface
	warnings      *warnings
}

func TestMain(m *testing.M) {
	code := m.Run()
	if endShared != nil {
		endShared()
	}
	os.Exit(code)
}

// newWorkspace makes a workspace below root.
func newWorkspace(t *testing.T, server *servertest.Server) *workspace {
	t.Helper()
	ws := server.Workspace(t, "root", "")
	w := &workspace{server: server, path: "root:" + ws.Name, cluster: ws.Spec.Cluster, warnings: &warnings{}}
	w.config = server.In(t, "base", ws.Spec.Cluster)
	w.config.WarningHandler = w.warnings
	w.connect(t)
	return w
}

func (w *workspace) connect(t *testing.T) {
	t.Helper()
	var err error
	if w.kube, err = kubernetes.NewForConfig(w.config); err != nil {
		t.Fatal(err)
	}
	if w.dynamic, err = dynamic.NewForConfig(w.config); err != nil {
		t.Fatal(err)
	}
	if w.definitions, err = apiextensions.NewForConfig(w.config); err != nil {
		t.Fatal(err)
	}
}

// warnings keeps what a server has warned of.
type warnings struct {
	mu  sync.Mutex
	all []string
}

// HandleWarningHeader implements rest.WarningHandler.
func (w *warnings) HandleWarningHeader(_ int, _, text string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.all = append(w.all, text)
}

func (w *warnings) take() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	defer func() { w.all = nil }()
	return strings.Join(w.all, "\n")
}
