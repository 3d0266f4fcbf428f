package versions

import (
	"fmt"
	"maps"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/utils/ptr"

	"github.com/forkless/kcp/internal/servertest"
)

const kubernetesTypes = `
apiVersion: apis.kcp.io/v1alpha1
kind: APIResourceSchema
metadata: {name: v1.deployments.apps}
spec:
  group: apps
  names: {plural: deployments, singular: deployment, kind: Deployment, listKind: DeploymentList}
  scope: Namespaced
  versions: [{name: v1, served: true, storage: true, schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}]
`

const coreTypes = `
apiVersion: apis.kcp.io/v1alpha1
kind: APIResourceSchema
metadata: {name: v1.services.core}
spec:
  group: ""
  names: {plural: services, singular: service, kind: Service, listKind: ServiceList}
  scope: Namespaced
  versions: [{name: v1, served: true, storage: true, schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}]
`

// TestTypesOfKubernetes: types of Kubernetes that a workspace binds work with Kubernetes'
// own clients, which send protobuf and strategic merge patches.
func TestTypesOfKubernetes(t *testing.T) {
	server := servertest.Start(t)
	provider, w := newWorkspace(t, server), newWorkspace(t, server)
	provider.create(schemas, kubernetesTypes)
	provider.create(schemas, coreTypes)
	provider.create(exports, `
apiVersion: apis.kcp.io/v1alpha2
kind: APIExport
metadata: {name: people}
spec: {resources: [{group: apps, name: deployments, schema: v1.deployments.apps}, {group: "", name: services, schema: v1.services.core}]}`)
	w.bind(provider)

	config := server.In(t, "base", w.cluster)
	config.ContentType = runtime.ContentTypeProtobuf
	config.AcceptContentTypes = runtime.ContentTypeProtobuf + "," + runtime.ContentTypeJSON
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	deployment, err := client.AppsV1().Deployments("default").Create(t.Context(), &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Name: "web"}, Spec: appsv1.DeploymentSpec{Replicas: ptr.To[int32](3)},
	}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	deployment.Spec.Replicas = ptr.To[int32](5)
	if deployment, err = client.AppsV1().Deployments("default").Update(t.Context(), deployment, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	if got := ptr.Deref(deployment.Spec.Replicas, 0); got != 5 {
		t.Errorf("%d replicas, want 5", got)
	}
	container := func(name, image string) []byte {
		return fmt.Appendf(nil, `{"spec":{"template":{"spec":{"containers":[{"name":%q,"image":%q}]}}}}`, name, image)
	}
	for _, patch := range [][]byte{container("a", "a:1"), container("b", "b:1"), container("a", "a:2")} {
		deployment, err = client.AppsV1().Deployments("default").Patch(t.Context(), "web", types.StrategicMergePatchType, patch, metav1.PatchOptions{})
		if err != nil {
			t.Fatal(err)
		}
	}
	images := map[string]string{}
	for _, c := range deployment.Spec.Template.Spec.Containers {
		images[c.Name] = c.Image
	}
	if want := map[string]string{"a": "a:2", "b": "b:1"}; !maps.Equal(images, want) || *deployment.Spec.Replicas != 5 {
		t.Errorf("merged to %v and %d replicas, want %v and 5: containers are merged by name", images, *deployment.Spec.Replicas, want)
	}
	_, err = client.CoreV1().Services("default").Create(t.Context(), &corev1.Service{
		ObjectMeta: metav1.ObjectMeta{Name: "web"}, Spec: corev1.ServiceSpec{Ports: []corev1.ServicePort{{Port: 80}}},
	}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if service, err := client.CoreV1().Services("default").Get(t.Context(), "web", metav1.GetOptions{}); err != nil || service.Spec.Ports[0].Port != 80 {
		t.Errorf("got %v, error %v", service, err)
	}
}

// TestNames: a provider says which names objects may have.
func TestNames(t *testing.T) {
	server := servertest.Start(t)
	provider, w := newWorkspace(t, server), newWorkspace(t, server)
	provider.create(schemas, strings.Replace(peopleSchema(firstSchema, "", version1), "scope: Namespaced", "scope: Namespaced\n  nameValidation: PathSegmentName", 1))
	provider.offer(firstSchema)
	w.bind(provider)
	for name, valid := range map[string]bool{"system:Ann": true, "ann": true, "a%b": false, "..": false} {
		u := w.object(newPerson("x", 1))
		u.SetName(name)
		_, err := w.of(peopleV1).Create(t.Context(), u, metav1.CreateOptions{})
		if valid && err != nil || !valid && !apierrors.IsInvalid(err) {
			t.Errorf("%s: %v", name, err)
		}
	}
	w.patch(peopleV1, "system:Ann", `{"spec":{"age":5}}`)
	w.patch(peopleV1, "system:Ann", `{"status":{"ready":true}}`, "status")
	w.expect("it can be changed", w.get(peopleV1, "system:Ann"), "spec.age", "5")
	if err := w.of(peopleV1).Delete(t.Context(), "system:Ann", metav1.DeleteOptions{}); err != nil {
		t.Error(err)
	}
}

// TestOthersHaveNoStrategicMergePatch: nobody knows how lists of other types are merged.
func TestOthersHaveNoStrategicMergePatch(t *testing.T) {
	server := servertest.Start(t)
	provider := newProvider(t, server)
	provider.bind(provider)
	provider.create(peopleV1, newPerson("ann", 1))
	_, err := provider.of(peopleV1).Patch(t.Context(), "ann", types.StrategicMergePatchType, []byte(`{"spec":{"age":2}}`), metav1.PatchOptions{})
	if !apierrors.IsUnsupportedMediaType(err) {
		t.Errorf("got %v", err)
	}
}
