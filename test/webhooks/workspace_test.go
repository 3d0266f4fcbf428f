package webhooks

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"
	"sync/atomic"
	"testing"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apiextensions-apiserver/pkg/apihelpers"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	extensionsclient "k8s.io/apiextensions-apiserver/pkg/client/clientset/clientset"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"
	"k8s.io/utils/ptr"

	"github.com/forkless/kcp/internal/admission/webhooks/webhooktest"
	"github.com/forkless/kcp/internal/servertest"
)

// markerLabel chooses the ConfigMaps that show whether configurations are in force.
const markerLabel = "webhooks.test/marker"

func TestMain(m *testing.M) {
	// Each webhook that fails is a warning in the log.
	klog.LogToStderr(false)
	klog.SetOutput(io.Discard)
	os.Exit(m.Run())
}

// workspace is a workspace, its clients, and the webhooks that it may use.
type workspace struct {
	server     *servertest.Server
	name       string
	config     *rest.Config
	client     *kubernetes.Clientset
	dynamic    *dynamic.DynamicClient
	extensions *extensionsclient.Clientset
	hooks      *webhooktest.Server
}

func newWorkspace(t testing.TB, server *servertest.Server, hooks *webhooktest.Server) *workspace {
	t.Helper()
	return inWorkspace(t, server, hooks, server.Workspace(t, "root", "").Spec.Cluster)
}

// inWorkspace returns the workspace with a name or path.
func inWorkspace(t testing.TB, server *servertest.Server, hooks *webhooktest.Server, name string) *workspace {
	t.Helper()
	w := &workspace{server: server, name: name, config: server.In(t, "base", name), hooks: hooks}
	// Not a connection pool for each client and workspace.
	client, err := rest.HTTPClientFor(w.config)
	must(t, err)
	w.client, err = kubernetes.NewForConfigAndClient(w.config, client)
	must(t, err)
	w.dynamic, err = dynamic.NewForConfigAndClient(w.config, client)
	must(t, err)
	w.extensions, err = extensionsclient.NewForConfigAndClient(w.config, client)
	must(t, err)
	return w
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// rule matches operations on a resource of the core group, or "group/version/resource".
func rule(resource string, operations ...admissionregistrationv1.OperationType) []admissionregistrationv1.RuleWithOperations {
	group, version := "", "v1"
	if parts := strings.SplitN(resource, "/", 3); len(parts) == 3 {
		group, version, resource = parts[0], parts[1], parts[2]
	}
	return []admissionregistrationv1.RuleWithOperations{{
		Operations: operations,
		Rule:       admissionregistrationv1.Rule{APIGroups: []string{group}, APIVersions: []string{version}, Resources: []string{resource}},
	}}
}

// mutating is a webhook that is asked about the creation of ConfigMaps, unless changed.
func (w *workspace) mutating(name, path string, change ...func(*admissionregistrationv1.MutatingWebhook)) admissionregistrationv1.MutatingWebhook {
	hook := admissionregistrationv1.MutatingWebhook{
		Name:                    name + ".webhooks.test",
		ClientConfig:            w.hooks.Client(path),
		Rules:                   rule("configmaps", admissionregistrationv1.Create),
		SideEffects:             ptr.To(admissionregistrationv1.SideEffectClassNone),
		AdmissionReviewVersions: []string{"v1", "v1beta1"},
		ObjectSelector:          noMarkers(),
	}
	for _, c := range change {
		c(&hook)
	}
	return hook
}

// validating is mutating for validating webhooks.
func (w *workspace) validating(name, path string, change ...func(*admissionregistrationv1.ValidatingWebhook)) admissionregistrationv1.ValidatingWebhook {
	hook := admissionregistrationv1.ValidatingWebhook{
		Name:                    name + ".webhooks.test",
		ClientConfig:            w.hooks.Client(path),
		Rules:                   rule("configmaps", admissionregistrationv1.Create),
		SideEffects:             ptr.To(admissionregistrationv1.SideEffectClassNone),
		AdmissionReviewVersions: []string{"v1", "v1beta1"},
		ObjectSelector:          noMarkers(),
	}
	for _, c := range change {
		c(&hook)
	}
	return hook
}

func noMarkers() *metav1.LabelSelector {
	return &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{
		Key: markerLabel, Operator: metav1.LabelSelectorOpDoesNotExist,
	}}}
}

func onlyMarker(marker string) *metav1.LabelSelector {
	return &metav1.LabelSelector{MatchLabels: map[string]string{markerLabel: marker}}
}

// registerMutating creates a configuration, returns when it is in force, and removes it
// at the end of the test.
func (w *workspace) registerMutating(t testing.TB, name string, hooks ...admissionregistrationv1.MutatingWebhook) *admissionregistrationv1.MutatingWebhookConfiguration {
	t.Helper()
	marker := newMarker()
	hooks = append(hooks, w.mutating("marker", "/marker/"+marker, func(h *admissionregistrationv1.MutatingWebhook) { h.ObjectSelector = onlyMarker(marker) }))
	all := w.client.AdmissionregistrationV1().MutatingWebhookConfigurations()
	created, err := all.Create(t.Context(), &admissionregistrationv1.MutatingWebhookConfiguration{
		ObjectMeta: metav1.ObjectMeta{Name: name}, Webhooks: hooks,
	}, metav1.CreateOptions{})
	must(t, err)
	t.Cleanup(func() { _ = all.Delete(context.Background(), name, metav1.DeleteOptions{}) })
	w.waitFor(t, marker)
	return created
}

// registerValidating is registerMutating for validating webhooks.
func (w *workspace) registerValidating(t testing.TB, name string, hooks ...admissionregistrationv1.ValidatingWebhook) *admissionregistrationv1.ValidatingWebhookConfiguration {
	t.Helper()
	marker := newMarker()
	hooks = append(hooks, w.validating("marker", "/marker/"+marker, func(h *admissionregistrationv1.ValidatingWebhook) { h.ObjectSelector = onlyMarker(marker) }))
	all := w.client.AdmissionregistrationV1().ValidatingWebhookConfigurations()
	created, err := all.Create(t.Context(), &admissionregistrationv1.ValidatingWebhookConfiguration{
		ObjectMeta: metav1.ObjectMeta{Name: name}, Webhooks: hooks,
	}, metav1.CreateOptions{})
	must(t, err)
	t.Cleanup(func() { _ = all.Delete(context.Background(), name, metav1.DeleteOptions{}) })
	w.waitFor(t, marker)
	return created
}

var markers atomic.Int64

func newMarker() string { return fmt.Sprint(markers.Add(1)) }

// waitFor waits until the webhook for a marker is asked.
func (w *workspace) waitFor(t testing.TB, marker string) {
	t.Helper()
	path := "/marker/" + marker
	w.hooks.Handle(path, webhooktest.Allow)
	servertest.Eventually(t, "the configuration to be in force", func() (bool, any) {
		_, err := w.client.CoreV1().ConfigMaps("default").Create(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{
			GenerateName: "marker-", Labels: map[string]string{markerLabel: marker},
		}}, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
		return len(w.hooks.Reviews(path)) > 0, err
	})
}

// create creates a ConfigMap in the namespace default.
func (w *workspace) create(t testing.TB, name string, data map[string]string) (*corev1.ConfigMap, error) {
	t.Helper()
	return w.client.CoreV1().ConfigMaps("default").Create(t.Context(), configMap(name, data), metav1.CreateOptions{})
}

func configMap(name string, data map[string]string) *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name}, Data: data}
}

// define creates a definition of things.webhooks.test and returns when it is served.
func (w *workspace) define(t testing.TB, versions ...apiextensionsv1.CustomResourceDefinitionVersion) *apiextensionsv1.CustomResourceDefinition {
	t.Helper()
	crd, err := w.extensions.ApiextensionsV1().CustomResourceDefinitions().Create(t.Context(), definition(versions...), metav1.CreateOptions{})
	must(t, err)
	servertest.Eventually(t, "the definition to be established", func() (bool, any) {
		crd, err = w.extensions.ApiextensionsV1().CustomResourceDefinitions().Get(t.Context(), crd.Name, metav1.GetOptions{})
		return err == nil && apihelpers.IsCRDConditionTrue(crd, apiextensionsv1.Established), err
	})
	return crd
}

func definition(versions ...apiextensionsv1.CustomResourceDefinitionVersion) *apiextensionsv1.CustomResourceDefinition {
	return &apiextensionsv1.CustomResourceDefinition{
		ObjectMeta: metav1.ObjectMeta{Name: "things.webhooks.test"},
		Spec: apiextensionsv1.CustomResourceDefinitionSpec{
			Group: "webhooks.test", Scope: apiextensionsv1.NamespaceScoped,
			Names:    apiextensionsv1.CustomResourceDefinitionNames{Plural: "things", Singular: "thing", Kind: "Thing", ListKind: "ThingList"},
			Versions: versions,
		},
	}
}

// version is a version with any content, data being strings by name.
func version(name string, stored bool, properties map[string]apiextensionsv1.JSONSchemaProps) apiextensionsv1.CustomResourceDefinitionVersion {
	schema := apiextensionsv1.JSONSchemaProps{Type: "object"}
	if properties == nil {
		schema.XPreserveUnknownFields = ptr.To(true)
	} else {
		schema.Properties = properties
	}
	return apiextensionsv1.CustomResourceDefinitionVersion{
		Name: name, Served: true, Storage: stored,
		Schema:       &apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: &schema},
		Subresources: &apiextensionsv1.CustomResourceSubresources{Status: &apiextensionsv1.CustomResourceSubresourceStatus{}},
	}
}
