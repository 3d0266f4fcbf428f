package contract

import (
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/utils/ptr"
)

// A workspace has no workloads of its own: who wants their types there defines them.
var kubernetesTypes = map[string]behavior{
	"Named":       {"a group of Kubernetes has no dot, and its typed clients, which send protobuf, work", typeOfKubernetes},
	"Core":        {"the core group is called core in definitions, and has no name elsewhere", coreTypeOfKubernetes},
	"OtherGroups": {"what upstream refuses is refused, but for the groups of Kubernetes itself", undottedGroup},
}

func typeOfKubernetes(t *testing.T, s *suite) {
	inside := s.as(t, alice, s.universal(t, aliceName))
	inside.defineOpen("apps", "deployments", "Deployment")
	deployments := inside.protobuf().AppsV1().Deployments("default")
	eventually(t, "deployments are served", func() error {
		_, err := deployments.List(t.Context(), metav1.ListOptions{})
		return err
	})
	deployment, err := deployments.Create(t.Context(), &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Name: "web"},
		Spec:       appsv1.DeploymentSpec{Replicas: ptr.To[int32](3)},
	}, metav1.CreateOptions{})
	ok(t, err)
	deployment.Spec.Replicas = ptr.To[int32](5)
	_, err = deployments.Update(t.Context(), deployment, metav1.UpdateOptions{})
	ok(t, err)
	deployment, err = deployments.Get(t.Context(), "web", metav1.GetOptions{})
	ok(t, err)
	if got := ptr.Deref(deployment.Spec.Replicas, 0); got != 5 {
		t.Errorf("there are %d replicas, want 5", got)
	}
}

func coreTypeOfKubernetes(t *testing.T, s *suite) {
	inside := s.as(t, alice, s.universal(t, aliceName))
	inside.defineOpen("core", "services", "Service")
	services := inside.protobuf().CoreV1().Services("default")
	eventually(t, "services are served", func() error {
		_, err := services.List(t.Context(), metav1.ListOptions{})
		return err
	})
	_, err := services.Create(t.Context(), &corev1.Service{
		ObjectMeta: metav1.ObjectMeta{Name: "web"},
		Spec:       corev1.ServiceSpec{Ports: []corev1.ServicePort{{Port: 80}}},
	}, metav1.CreateOptions{})
	ok(t, err)
	got(t, inside.get("/api/v1/namespaces/default/services/web"), 200, `"port":80`)
	got(t, inside.get("/apis/core/v1/namespaces/default/services/web"), 404)
}

func undottedGroup(t *testing.T, s *suite) {
	inside := s.as(t, alice, s.universal(t, aliceName))
	refused(t, inside.tryDefine(definition{group: "mine", plural: "widgets", kind: "Widget"}), 422, "at least one dot")
}

// defineOpen creates a namespaced definition whose objects may hold anything.
func (c caller) defineOpen(group, plural, kind string) {
	c.t.Helper()
	object := definition{group: group, plural: plural, kind: kind, namespaced: true}.object()
	versions, _, err := unstructured.NestedSlice(object.Object, "spec", "versions")
	ok(c.t, err)
	open := true
	schema, err := runtime.DefaultUnstructuredConverter.ToUnstructured(&apiextensionsv1.CustomResourceValidation{
		OpenAPIV3Schema: &apiextensionsv1.JSONSchemaProps{Type: "object", XPreserveUnknownFields: &open},
	})
	ok(c.t, err)
	versions[0].(map[string]any)["schema"] = schema
	ok(c.t, unstructured.SetNestedSlice(object.Object, versions, "spec", "versions"))
	_, err = c.resource(customResourceDefinitions).Create(c.t.Context(), object, metav1.CreateOptions{})
	ok(c.t, err)
}

// protobuf returns a client that sends what Kubernetes' own controllers send.
func (c caller) protobuf() kubernetes.Interface {
	c.t.Helper()
	config := rest.CopyConfig(c.config)
	config.ContentType = runtime.ContentTypeProtobuf
	config.AcceptContentTypes = runtime.ContentTypeProtobuf + "," + runtime.ContentTypeJSON
	client, err := kubernetes.NewForConfig(config)
	ok(c.t, err)
	return client
}
