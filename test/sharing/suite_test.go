package sharing

import (
	"bytes"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"github.com/forkless/kcp/internal/servertest"
	"github.com/forkless/kcp/test/programs"
)

const (
	checkout = "../.."
	provider = "root:acme:databases"
)

// world is a server, on a port that stays when it is started again, and the workspaces that
// the files of the example are written for.
type world struct {
	*servertest.Server
	port string
}

// newWorld starts a server with a provider and its consumers, who have bound nothing yet.
func newWorld(t *testing.T, consumers ...string) *world {
	t.Helper()
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	must(t, err)
	_, port, err := net.SplitHostPort(listener.Addr().String())
	must(t, err)
	must(t, listener.Close())
	w := &world{port: port}
	w.startIn(t, t.TempDir())
	w.Workspace(t, "root", "acme")
	for _, name := range append(consumers, "databases") {
		w.Workspace(t, "root:acme", name)
	}
	w.kubectl(t, provider, "apply", "-f", example("provider.yaml"))
	return w
}

func (w *world) startIn(t *testing.T, root string) {
	t.Helper()
	w.Server = servertest.StartIn(t, root, "--secure-port="+w.port)
}

// restart stops the server and starts it again where it was.
func (w *world) restart(t *testing.T) {
	t.Helper()
	w.Stop()
	w.startIn(t, w.RootDirectory)
}

// kubectl runs a command in a workspace as the administrator and returns what it prints.
func (w *world) kubectl(t *testing.T, workspace string, args ...string) string {
	t.Helper()
	args = append([]string{"--kubeconfig=" + w.Kubeconfig, "--server=" + w.URL() + "/clusters/" + workspace}, args...)
	var out, errOut bytes.Buffer
	cmd := exec.CommandContext(t.Context(), programs.Path(t, "kubectl"), args...)
	cmd.Stdout, cmd.Stderr = &out, &errOut
	if err := cmd.Run(); err != nil {
		t.Fatalf("kubectl %s in %s: %v\n%s", strings.Join(args[2:], " "), workspace, err, errOut.String())
	}
	return strings.TrimSpace(out.String())
}

// bind makes a workspace a consumer, as the file of the example has it.
func (w *world) bind(t *testing.T, workspace string) {
	t.Helper()
	w.kubectl(t, workspace, "apply", "-f", example("binding.yaml"))
	w.kubectl(t, workspace, "wait", "--for=condition=Ready", "apibinding/databases", "--timeout=60s")
}

// ask makes the Database of the example, with a name, and leaves it to the controller.
func (w *world) ask(t *testing.T, workspace, name string) {
	t.Helper()
	manifest, err := os.ReadFile(example("database.yaml"))
	must(t, err)
	file := filepath.Join(t.TempDir(), "database.yaml")
	must(t, os.WriteFile(file, bytes.ReplaceAll(manifest, []byte("orders"), []byte(name)), 0o600))
	w.kubectl(t, workspace, "create", "-f", file)
}

// served waits until the controller has provided a Database.
func (w *world) served(t *testing.T, workspace, name string) {
	t.Helper()
	w.kubectl(t, workspace, "wait", "database/"+name, "--for=jsonpath={.status.secret}="+name+"-credentials", "--timeout=60s")
}

// field returns a field of an object.
func (w *world) field(t *testing.T, workspace, object, path string) string {
	t.Helper()
	return w.kubectl(t, workspace, "get", object, "-o", "jsonpath={"+path+"}")
}

// controller runs the controller of the example with its own account, until the test ends or
// stop is called.
func (w *world) controller(t *testing.T) (stop func()) {
	t.Helper()
	config := w.In(t, "base", provider)
	kubeconfig := clientcmdapi.NewConfig()
	kubeconfig.CurrentContext = "databases"
	kubeconfig.Contexts["databases"] = &clientcmdapi.Context{Cluster: "databases", AuthInfo: "databases"}
	kubeconfig.Clusters["databases"] = &clientcmdapi.Cluster{
		Server: config.Host, CertificateAuthority: config.CAFile, CertificateAuthorityData: config.CAData,
	}
	kubeconfig.AuthInfos["databases"] = &clientcmdapi.AuthInfo{Token: w.kubectl(t, provider, "create", "token", "databases")}
	file := filepath.Join(t.TempDir(), "kubeconfig")
	must(t, clientcmd.WriteToFile(*kubeconfig, file))

	var output bytes.Buffer
	cmd := exec.Command(filepath.Join(programs.Examples(t), "databases"))
	cmd.Env = append(os.Environ(), "KUBECONFIG="+file)
	cmd.Stdout, cmd.Stderr = &output, &output
	must(t, cmd.Start())
	running := true
	stop = func() {
		if !running {
			return
		}
		running = false
		// Asked to stop, it stops; that it does is part of what is copied.
		if err := cmd.Process.Signal(os.Interrupt); err != nil {
			t.Errorf("stopping the controller: %v", err)
		}
		if err := cmd.Wait(); err != nil {
			t.Errorf("the controller: %v", err)
		}
		if t.Failed() {
			t.Logf("the controller's output:\n%s", output.String())
		}
	}
	t.Cleanup(stop)
	return stop
}

func example(file string) string { return filepath.Join(checkout, "examples", "databases", file) }

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
