package hooks

import (
	"bytes"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	authenticationv1 "k8s.io/api/authentication/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"github.com/forkless/kcp/internal/servertest"
	corev1alpha1 "github.com/forkless/kcp/pkg/apis/core/v1alpha1"
	tenancyv1alpha1 "github.com/forkless/kcp/pkg/apis/tenancy/v1alpha1"
	"github.com/forkless/kcp/test/programs"
)

const (
	checkout = "../.."
	// platform has the types of the examples, organization the workspaces of these types.
	organization = "root:acme"
	platform     = "root:acme:platform"
)

var (
	logicalclusters = corev1alpha1.GroupVersion.WithResource("logicalclusters")
	workspaces      = tenancyv1alpha1.GroupVersion.WithResource("workspaces")
)

// world is a server and the workspace of a type.
type world struct {
	*servertest.Server
	// home is the logical cluster of platform.
	home string
}

// newWorld starts a server with what the file of an example makes in platform.
func newWorld(t *testing.T, manifests string) *world {
	t.Helper()
	w := &world{Server: servertest.Start(t)}
	w.Workspace(t, "root", "acme")
	w.home = w.Workspace(t, organization, "platform").Spec.Cluster
	file, err := os.Open(filepath.Join(checkout, "examples", manifests))
	must(t, err)
	defer func() { _ = file.Close() }()
	for decoder := yaml.NewYAMLOrJSONDecoder(file, 4096); ; {
		object := &unstructured.Unstructured{}
		if err := decoder.Decode(object); errors.Is(err, io.EOF) {
			return w
		} else {
			must(t, err)
		}
		gvk := object.GroupVersionKind()
		resource := gvk.GroupVersion().WithResource(strings.ToLower(gvk.Kind) + "s")
		_, err := w.at(t, platform, resource, object.GetNamespace()).Create(t.Context(), object, metav1.CreateOptions{})
		must(t, err)
	}
}

// at returns a client of the administrator.
func (w *world) at(t *testing.T, workspace string, resource schema.GroupVersionResource, namespace string) dynamic.ResourceInterface {
	t.Helper()
	return newClient(t, w.In(t, "base", workspace), resource, namespace)
}

func newClient(t *testing.T, config *rest.Config, resource schema.GroupVersionResource, namespace string) dynamic.ResourceInterface {
	t.Helper()
	client, err := dynamic.NewForConfig(config)
	must(t, err)
	if namespace != "" {
		return client.Resource(resource).Namespace(namespace)
	}
	return client.Resource(resource)
}

// account returns the configuration of a service account of platform, directed there.
func (w *world) account(t *testing.T, name string) *rest.Config {
	t.Helper()
	admin := w.In(t, "base", platform)
	client, err := kubernetes.NewForConfig(admin)
	must(t, err)
	issued, err := client.CoreV1().ServiceAccounts("default").CreateToken(t.Context(), name, &authenticationv1.TokenRequest{}, metav1.CreateOptions{})
	must(t, err)
	config := rest.AnonymousClientConfig(admin)
	config.BearerToken = issued.Status.Token
	return config
}

// controller runs an example as a service account of the same name, until the test ends or
// stop is called.
func (w *world) controller(t *testing.T, name string, args ...string) (stop func()) {
	t.Helper()
	account := w.account(t, name)
	kubeconfig := clientcmdapi.NewConfig()
	kubeconfig.CurrentContext = name
	kubeconfig.Contexts[name] = &clientcmdapi.Context{Cluster: name, AuthInfo: name}
	kubeconfig.Clusters[name] = &clientcmdapi.Cluster{
		Server: account.Host, CertificateAuthority: account.CAFile, CertificateAuthorityData: account.CAData,
	}
	kubeconfig.AuthInfos[name] = &clientcmdapi.AuthInfo{Token: account.BearerToken}
	file := filepath.Join(t.TempDir(), "kubeconfig")
	must(t, clientcmd.WriteToFile(*kubeconfig, file))

	var output bytes.Buffer
	cmd := exec.Command(filepath.Join(programs.Examples(t), name), args...)
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

// create makes a workspace of a type and returns it when it is in a phase.
func (w *world) create(t *testing.T, name, typeName string, phase corev1alpha1.Phase) *unstructured.Unstructured {
	t.Helper()
	ws := &unstructured.Unstructured{Object: map[string]any{
		"spec": map[string]any{"type": map[string]any{"name": typeName, "path": platform}},
	}}
	ws.SetGroupVersionKind(tenancyv1alpha1.GroupVersion.WithKind("Workspace"))
	ws.SetName(name)
	_, err := w.at(t, organization, workspaces, "").Create(t.Context(), ws, metav1.CreateOptions{})
	must(t, err)
	return w.await(t, name, phase)
}

// await returns a workspace when it is in a phase.
func (w *world) await(t *testing.T, name string, phase corev1alpha1.Phase) (ws *unstructured.Unstructured) {
	t.Helper()
	servertest.Eventually(t, name+" is "+string(phase), func() (bool, any) {
		found, err := w.at(t, organization, workspaces, "").Get(t.Context(), name, metav1.GetOptions{})
		if err != nil {
			return false, err
		}
		ws = found
		return field(t, found, "status", "phase") == string(phase), found.Object["status"]
	})
	return ws
}

// through returns the configuration of an account in the virtual workspace of a type.
func (w *world) through(t *testing.T, account, kind, typeName, cluster string) *rest.Config {
	t.Helper()
	config := w.account(t, account)
	config.Host = w.URL() + "/services/" + kind + "/" + w.home + ":" + typeName + "/clusters/" + cluster
	return config
}

// inside returns the configuration of an account in a workspace, by its own address.
func (w *world) inside(t *testing.T, account, cluster string) *rest.Config {
	t.Helper()
	config := w.account(t, account)
	config.Host = w.URL() + "/clusters/" + cluster
	return config
}

// object returns an object that is nothing but there.
func object(apiVersion, kind, name string) *unstructured.Unstructured {
	made := &unstructured.Unstructured{}
	made.SetAPIVersion(apiVersion)
	made.SetKind(kind)
	made.SetName(name)
	return made
}

func field(t *testing.T, object *unstructured.Unstructured, path ...string) string {
	t.Helper()
	value, _, err := unstructured.NestedString(object.Object, path...)
	must(t, err)
	return value
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
