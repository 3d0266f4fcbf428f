package envtest_test

import (
	"bytes"
	"context"
	"crypto/tls"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/util/keyutil"

	"github.com/spf13/cobra"

	"github.com/forkless/kcp/internal/servertest"
	"github.com/forkless/kcp/internal/servertest/address"
	"github.com/forkless/kcp/internal/servingcert"
	"github.com/forkless/kcp/pkg/cli/envtest/apiserver"
	"github.com/forkless/kcp/pkg/cli/envtest/etcd"
	"github.com/forkless/kcp/pkg/cli/kcp/start"
	"github.com/forkless/kcp/pkg/cli/run"
	"github.com/forkless/kcp/pkg/server"
	"github.com/forkless/kcp/pkg/server/options"
)

// output is where a program writes that goes on while it is read.
type output struct {
	mu sync.Mutex
	bytes.Buffer
}

// Write appends to what has been written.
func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.Buffer.Write(p)
}

func (o *output) text() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.String()
}

func newServer(ctx context.Context, prepared *options.Prepared) (start.Server, error) {
	return server.New(ctx, prepared)
}

// programVariable names the program that the test binary is to be.
const programVariable = "KCP_TEST_PROGRAM"

// TestMain makes the test binary the programs, too: each has a log of its own, which is the
// process's.
func TestMain(m *testing.M) {
	ctx, stop := run.Signals(context.Background())
	switch os.Getenv(programVariable) {
	case etcd.Name:
		os.Exit(etcd.Main(ctx, run.System(), os.Args[1:]))
	case apiserver.Name:
		os.Exit(run.Execute(ctx, run.System(), func(streams run.Streams) *cobra.Command { return apiserver.New(streams, newServer) }, os.Args[1:]))
	case tester:
		os.Exit(test(ctx))
	default:
		stop()
		os.Exit(m.Run())
	}
}

// tester is a process that starts etcd, as a test does, and is killed.
const tester = "tester"

// test runs etcd with the arguments of this process.
func test(ctx context.Context) int {
	cmd := exec.CommandContext(ctx, os.Args[0], os.Args[1:]...) //nolint:gosec // because it is this program
	cmd.Env = append(os.Environ(), programVariable+"="+etcd.Name)
	if err := cmd.Run(); err != nil {
		return 1
	}
	return 0
}

// TestKilled: a test that is killed leaves neither programs nor their directories.
func TestKilled(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	directory, store := filepath.Join(t.TempDir(), "k8s_test_framework_1"), "http://127.0.0.1:"+address.FreePort(t)
	cmd := exec.CommandContext(t.Context(), self, "--advertise-client-urls="+store, "--listen-client-urls="+store, //nolint:gosec // because it is this program
		"--listen-peer-urls=http://127.0.0.1:"+address.FreePort(t), "--data-dir="+directory, "--unsafe-no-fsync=true")
	cmd.Env = append(os.Environ(), programVariable+"="+tester)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	up(t, store+"/health")
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	servertest.Eventually(t, "the directory is gone", func() (bool, any) {
		_, err := os.Stat(directory)
		return os.IsNotExist(err), err
	})
}

// program runs a program until the test ends.
func program(t *testing.T, name string, args ...string) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	out := &output{}
	//nolint:gosec // because it is this program
	cmd := exec.CommandContext(context.Background(), self, args...)
	cmd.Env = append(os.Environ(), programVariable+"="+name)
	cmd.Stdout, cmd.Stderr = out, out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		killed := time.AfterFunc(time.Minute, func() { _ = cmd.Process.Kill() })
		defer killed.Stop()
		if err := cmd.Wait(); err != nil {
			t.Errorf("%s has ended with %v:\n%s", name, err, out.text())
		}
	})
}

// up waits until an address answers.
func up(t *testing.T, address string) {
	t.Helper()
	// What is asked is whether anybody is there.
	client := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}} //nolint:gosec // because nothing is sent
	servertest.Eventually(t, address+" answers", func() (bool, any) {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address, http.NoBody)
		if err != nil {
			return false, err
		}
		response, err := client.Do(request)
		if err != nil {
			return false, err
		}
		_ = response.Body.Close()
		return response.StatusCode == http.StatusOK, response.Status
	})
}

// controlPlane starts both programs with the flags that envtest passes.
func controlPlane(t *testing.T) *rest.Config {
	t.Helper()
	directory, store, secure := t.TempDir(), "http://127.0.0.1:"+address.FreePort(t), address.FreePort(t)
	program(t, etcd.Name, "--advertise-client-urls="+store, "--data-dir="+filepath.Join(directory, "etcd"),
		"--listen-client-urls="+store, "--listen-peer-urls=http://127.0.0.1:"+address.FreePort(t), "--unsafe-no-fsync=true")
	up(t, store+"/health")

	key := filepath.Join(directory, "sa.key")
	private, err := keyutil.MakeEllipticPrivateKeyPEM()
	if err != nil {
		t.Fatal(err)
	}
	tokens := filepath.Join(directory, "tokens")
	pair, err := servingcert.New(servingcert.HostsOf(net.IPv4(127, 0, 0, 1), "localhost"), time.Now())
	if err != nil {
		t.Fatal(err)
	}
	for file, content := range map[string][]byte{
		key: private, tokens: []byte("all,admin,1,\"system:masters\"\nsome,bob,2,\n"),
		filepath.Join(directory, "apiserver.crt"): pair.Certificate, filepath.Join(directory, "apiserver.key"): pair.Key,
	} {
		if err := os.WriteFile(file, content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	host := "https://127.0.0.1:" + secure
	program(t, apiserver.Name,
		"--allow-privileged=true", "--authorization-mode=RBAC", "--bind-address=127.0.0.1", "--cert-dir="+directory,
		"--disable-admission-plugins=ServiceAccount", "--etcd-servers="+store, "--secure-port="+secure,
		"--service-account-issuer="+host+"/", "--service-account-key-file="+key, "--service-account-signing-key-file="+key,
		"--service-cluster-ip-range=10.0.0.0/24", "--token-auth-file="+tokens,
		// What people add.
		"--max-requests-inflight=10", "--profiling=false", "--watch-cache-sizes=pods#10", "--v=0")
	up(t, host+"/healthz")
	return &rest.Config{Host: host, BearerToken: "all", TLSClientConfig: rest.TLSClientConfig{CAData: pair.Certificate}, QPS: -1}
}

// TestControlPlane is about what tests of controllers find.
func TestControlPlane(t *testing.T) {
	config := controlPlane(t)
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	ctx := t.Context()
	for _, name := range []string{"default", "kube-system", "kube-public", "kube-node-lease"} {
		if namespace, err := client.CoreV1().Namespaces().Get(ctx, name, metav1.GetOptions{}); err != nil || len(namespace.Annotations) > 0 {
			t.Errorf("namespace %s: %v, with annotations %v", name, err, namespace.Annotations)
		}
	}
	if service, err := client.CoreV1().Services("default").Get(ctx, "kubernetes", metav1.GetOptions{}); err != nil || service.Spec.ClusterIP != "10.0.0.1" {
		t.Errorf("the service kubernetes: %v, %v", err, service)
	}

	// Nothing is shown of where an object is, whichever way it is read.
	configMaps := client.CoreV1().ConfigMaps("default")
	watching, err := configMaps.Watch(ctx, metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer watching.Stop()
	created, err := configMaps.Create(ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "plain"}}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	list, err := configMaps.List(ctx, metav1.ListOptions{})
	if err != nil || len(list.Items) != 1 {
		t.Fatalf("%v, %v", list, err)
	}
	shown := map[string]map[string]string{"created": created.Annotations, "listed": list.Items[0].Annotations, "watched": next(t, watching).Annotations}
	for how, annotations := range shown {
		if len(annotations) > 0 {
			t.Errorf("%s with %v", how, annotations)
		}
	}

	// Nobody collects garbage, and nobody empties namespaces.
	orphan := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "owned", OwnerReferences: []metav1.OwnerReference{{APIVersion: "v1", Kind: "Pod", Name: "never", UID: "1"}}}}
	if _, err := configMaps.Create(ctx, orphan, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}

	// Permissions are those of RBAC.
	config.BearerToken = "some"
	bob, err := kubernetes.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := bob.CoreV1().Pods("").List(ctx, metav1.ListOptions{}); !apierrors.IsForbidden(err) {
		t.Errorf("bob may do nothing yet: %v", err)
	}
	binding := &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: "bob"},
		Subjects:   []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: "bob"}},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "view"},
	}
	if _, err := client.RbacV1().ClusterRoleBindings().Create(ctx, binding, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	servertest.Eventually(t, "bob may look", func() (bool, any) {
		_, err := bob.CoreV1().Pods("").List(ctx, metav1.ListOptions{})
		return err == nil, err
	})
	if _, err := configMaps.Get(ctx, "owned", metav1.GetOptions{}); err != nil {
		t.Errorf("an object whose owner never was: %v", err)
	}
}

func next(t *testing.T, watching watch.Interface) *corev1.ConfigMap {
	t.Helper()
	select {
	case event := <-watching.ResultChan():
		if object, ok := event.Object.(*corev1.ConfigMap); ok {
			return object
		}
		t.Fatalf("the watch brought %v", event)
	case <-time.After(time.Minute):
		t.Fatal("the watch brings nothing")
	}
	return nil
}

// TestMisuse is about flags: envtest looks for them in the help.
func TestMisuse(t *testing.T) {
	for name, tc := range map[string]struct {
		reason string
		args   []string
		code   int
		want   string
	}{
		"Unknown":   {"a flag that Kubernetes does not have is a mistake", []string{"--insecure-port=0"}, 1, "unknown flag: --insecure-port"},
		"NoEtcd":    {"as in Kubernetes", nil, 1, "--etcd-servers must be specified"},
		"NoPlugin":  {"as in Kubernetes", []string{"--etcd-servers=a", "--enable-admission-plugins=Magic"}, 1, "Magic"},
		"NoMode":    {"as in Kubernetes", []string{"--etcd-servers=a", "--authorization-mode=Magic"}, 1, "not a valid mode"},
		"OfOurs":    {"our own flags are not those of kube-apiserver", []string{"--batteries-included=admin"}, 1, "unknown flag"},
		"Help":      {"envtest looks for flags in it", []string{"--help"}, 0, "--etcd-servers"},
		"AllOfKube": {"flags that change nothing are there, too", []string{"--help"}, 0, "--max-requests-inflight"},
	} {
		t.Run(name, func(t *testing.T) {
			out := &output{}
			code := run.Execute(t.Context(), run.Streams{Out: out, ErrOut: out},
				func(streams run.Streams) *cobra.Command { return apiserver.New(streams, newServer) }, tc.args)
			if code != tc.code || !strings.Contains(out.text(), tc.want) {
				t.Errorf("%s: exit code %d, %s", tc.reason, code, out.text())
			}
		})
	}
	out := &output{}
	if code := etcd.Main(t.Context(), run.Streams{Out: out, ErrOut: out}, []string{"--help"}); code != 0 || !strings.Contains(out.text(), "--unsafe-no-fsync") {
		t.Errorf("envtest looks for --unsafe-no-fsync: exit code %d, %s", code, out.text())
	}
	if code := etcd.Main(t.Context(), run.Streams{Out: out, ErrOut: out}, []string{"--magic"}); code != 2 {
		t.Errorf("an unknown flag of etcd: exit code %d", code)
	}
}
