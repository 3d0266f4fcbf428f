package policies

import (
	"strings"
	"sync"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apiextensions "k8s.io/apiextensions-apiserver/pkg/client/clientset/clientset"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/forkless/kcp/internal/servertest"
)

// TestPolicies runs all cases at the same time on one server, each in a workspace of its
// own. That they do not disturb each other is part of what is tested: most use the same
// names.
func TestPolicies(t *testing.T) {
	t.Parallel()
	server := servertest.Start(t, servertest.WithUsers(t))
	for name, test := range map[string]func(*testing.T, *workspace){
		"Validate":           validate,
		"Variables":          variables,
		"TypeChecking":       typeChecking,
		"TypesOfOthers":      typesOfOthers,
		"Selectors":          selectors,
		"Rules":              rules,
		"Conditions":         conditions,
		"Failures":           failures,
		"Reasons":            reasons,
		"Operations":         operations,
		"Subresources":       subresources,
		"Namespaces":         namespaces,
		"Exemptions":         exemptions,
		"DefinitionLater":    definitionLater,
		"BuiltinParams":      builtinParams,
		"CustomParams":       customParams,
		"SelectedParams":     selectedParams,
		"MisplacedParams":    misplacedParams,
		"OwnParams":          ownParams,
		"ParamsOfOthers":     paramsOfOthers,
		"Escalation":         escalation,
		"Isolation":          isolation,
		"APIOperations":      apiOperations,
		"Gone":               gone,
		"Prompt":             prompt,
		"Apply":              apply,
		"JSONPatch":          jsonPatch,
		"MutateCustom":       mutateCustom,
		"Order":              order,
		"MutateThenValidate": mutateThenValidate,
		"MutatingParams":     mutatingParams,
		"MutatingFailure":    mutatingFailure,
		"MutatingStatus":     mutatingStatus,
		"Warn":               warn,
		"DryRun":             dryRun,
		"Callers":            callers,
		"BoundObjects":       boundObjects,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, newWorkspace(t, server))
		})
	}
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
	// warnings are what the server has warned of.
	warnings *warnings
}

// newWorkspace makes a workspace below root.
func newWorkspace(t testing.TB, server *servertest.Server) *workspace {
	t.Helper()
	ws := server.Workspace(t, "root", "")
	return open(t, server, ws.Name, ws.Spec.Cluster)
}

// open returns the clients of a workspace below root.
func open(t testing.TB, server *servertest.Server, name, cluster string) *workspace {
	t.Helper()
	w := &workspace{server: server, path: "root:" + name, cluster: cluster, warnings: &warnings{}}
	w.config = server.In(t, "base", w.cluster)
	w.connect(t)
	return w
}

// connect makes the clients.
func (w *workspace) connect(t testing.TB) {
	t.Helper()
	w.config.WarningHandler = w.warnings
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

// createConfigMap makes a config map in the namespace default, whose data are pairs.
func (w *workspace) createConfigMap(t testing.TB, name string, pairs ...string) (*corev1.ConfigMap, error) {
	t.Helper()
	return w.kube.CoreV1().ConfigMaps(metav1.NamespaceDefault).Create(t.Context(), configMap(name, pairs...), metav1.CreateOptions{})
}

func configMap(name string, pairs ...string) *corev1.ConfigMap {
	data := map[string]string{}
	for i := 0; i+1 < len(pairs); i += 2 {
		data[pairs[i]] = pairs[i+1]
	}
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name}, Data: data}
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

// take returns and forgets them.
func (w *warnings) take() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	defer func() { w.all = nil }()
	return strings.Join(w.all, "\n")
}

func secret(name string) *corev1.Secret {
	return &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: name}}
}

func (w *workspace) createNamespace(t testing.TB, name string, labels ...string) {
	t.Helper()
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: configMap("", labels...).Data}}
	if _, err := w.kube.CoreV1().Namespaces().Create(t.Context(), namespace, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
}
