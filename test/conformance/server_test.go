package conformance

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"syscall"
	"testing"
	"time"

	rbacv1 "k8s.io/api/rbac/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/dynamic"
	rbac "k8s.io/client-go/kubernetes/typed/rbac/v1"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

const (
	// patience is how long anything may take that is no test of upstream's.
	patience = time.Minute
	poll     = 10 * time.Millisecond
)

var (
	// readyLine is what the log says when the server is ready.
	readyLine  = regexp.MustCompile(`"Ready".* url="([^"]+)"`)
	workspaces = schema.GroupVersionResource{Group: "tenancy.kcp.io", Version: "v1alpha1", Resource: "workspaces"}
)

// server is a running `kcp start`.
type server struct {
	directory string
	admin     *clientcmdapi.Config
	root      dynamic.ResourceInterface
	// workloads are put into each workspace.
	workloads []*apiextensionsv1.CustomResourceDefinition
}

// startServer runs the program until the test ends. Workspaces get the types that they do
// not have as CustomResourceDefinitions.
func startServer(t *testing.T) *server {
	t.Helper()
	workloads, err := workloads()
	if err != nil {
		t.Fatal(err)
	}
	s := run(t)
	s.workloads = workloads
	return s
}

// startServerWithTypes runs the program with the types on.
func startServerWithTypes(t *testing.T) *server {
	t.Helper()
	return run(t, "--batteries-included=+workload-types")
}

// run runs the program in a temporary folder until the test ends.
func run(t *testing.T, flags ...string) *server {
	t.Helper()
	binary := os.Getenv("KCP_BINARY")
	if binary == "" {
		t.Skip("KCP_BINARY does not say which server to test; make test-conformance does")
	}
	s := &server{directory: t.TempDir()}
	root := filepath.Join(s.directory, "root")
	log, err := os.Create(filepath.Join(s.directory, "kcp.log"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = log.Close() })

	// One of the tests waits for a compaction, which is due every five minutes.
	cmd := exec.CommandContext(t.Context(), binary, append([]string{
		"start", "--root-directory=" + root, "--bind-address=127.0.0.1", "--secure-port=0", "--etcd-compaction-interval=30s",
	}, flags...)...)
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = patience
	stderr, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ready, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		awaitReady(io.TeeReader(stderr, log), ready)
		_ = cmd.Wait()
	}()
	t.Cleanup(func() {
		<-ended
		if t.Failed() {
			keepLog(t, log.Name())
		}
	})
	select {
	case <-ready:
	case <-ended:
		t.Fatal("the server ended while starting")
	case <-time.After(patience):
		t.Fatalf("the server is not ready after %s", patience)
	}
	if err := s.connect(filepath.Join(root, "admin.kubeconfig")); err != nil {
		t.Fatal(err)
	}
	return s
}

// awaitReady reads the log to its end and closes ready when it says so.
func awaitReady(log io.Reader, ready chan<- struct{}) {
	scanner := bufio.NewScanner(log)
	for scanner.Scan() {
		if ready != nil && readyLine.MatchString(scanner.Text()) {
			close(ready)
			ready = nil
		}
	}
	// A line that is longer than the scanner takes must not block the server.
	_, _ = io.Copy(io.Discard, log)
}

// keepLog says where the log can be read when the folder of the test is gone.
func keepLog(t *testing.T, name string) {
	t.Helper()
	kept := filepath.Join(os.TempDir(), "kcp-conformance.log")
	data, err := os.ReadFile(name)
	if err == nil {
		err = os.WriteFile(kept, data, 0o600)
	}
	if err != nil {
		t.Error(err)
		return
	}
	t.Logf("the log of the server is in %s", kept)
}

func (s *server) connect(kubeconfig string) error {
	var err error
	if s.admin, err = clientcmd.LoadFromFile(kubeconfig); err != nil {
		return err
	}
	config, err := clientcmd.NewDefaultClientConfig(*s.admin, nil).ClientConfig()
	if err != nil {
		return err
	}
	client, err := dynamic.NewForConfig(config)
	if err != nil {
		return err
	}
	s.root = client.Resource(workspaces)
	return nil
}

// workspace makes a workspace and returns a kubeconfig for it, in which nothing tells
// that it is not a cluster of its own.
func (s *server) workspace(ctx context.Context, name string) (kubeconfig string, err error) {
	object := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": workspaces.GroupVersion().String(),
		"kind":       "Workspace",
		"metadata":   map[string]any{"name": name},
	}}
	if _, err := s.root.Create(ctx, object, metav1.CreateOptions{}); err != nil {
		return "", fmt.Errorf("creating workspace %s: %w", name, err)
	}
	var phase, url string
	err = wait.PollUntilContextTimeout(ctx, poll, patience, true, func(ctx context.Context) (bool, error) {
		object, err := s.root.Get(ctx, name, metav1.GetOptions{})
		if err != nil {
			return false, err
		}
		phase, _, _ = unstructured.NestedString(object.Object, "status", "phase")
		url, _, _ = unstructured.NestedString(object.Object, "spec", "URL")
		return phase == "Ready", nil
	})
	if err != nil {
		return "", fmt.Errorf("waiting for workspace %s, last seen in phase %q: %w", name, phase, err)
	}
	return s.writeKubeconfig(ctx, name, url)
}

func (s *server) writeKubeconfig(ctx context.Context, name, url string) (string, error) {
	current := s.admin.Contexts[s.admin.CurrentContext]
	cluster := s.admin.Clusters[current.Cluster].DeepCopy()
	cluster.Server = url
	config := clientcmdapi.NewConfig()
	// The framework looks the cluster up by the name of the context.
	config.Clusters[name] = cluster
	config.AuthInfos[name] = s.admin.AuthInfos[current.AuthInfo]
	config.Contexts[name] = &clientcmdapi.Context{Cluster: name, AuthInfo: name}
	config.CurrentContext = name
	if err := s.furnish(ctx, config); err != nil {
		return "", fmt.Errorf("furnishing workspace %s: %w", name, err)
	}
	file := filepath.Join(s.directory, name+".kubeconfig")
	if err := clientcmd.WriteToFile(*config, file); err != nil {
		return "", err
	}
	return file, nil
}

// furnish puts into a workspace what its owner would: upstream's tests expect types that
// a workspace does not have by itself, and that whoever is authenticated may come in.
func (s *server) furnish(ctx context.Context, kubeconfig *clientcmdapi.Config) error {
	config, err := clientcmd.NewDefaultClientConfig(*kubeconfig, nil).ClientConfig()
	if err != nil {
		return err
	}
	client, err := rbac.NewForConfig(config)
	if err != nil {
		return err
	}
	if _, err := client.ClusterRoleBindings().Create(ctx, everybodyEnters, metav1.CreateOptions{}); err != nil {
		return err
	}
	return install(ctx, config, s.workloads)
}

var everybodyEnters = &rbacv1.ClusterRoleBinding{
	ObjectMeta: metav1.ObjectMeta{Name: "everybody-enters"},
	RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "system:kcp:workspace:access"},
	Subjects:   []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.GroupKind, Name: "system:authenticated"}},
}
