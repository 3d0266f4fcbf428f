package workloads

import (
	"context"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/forkless/kcp/internal/servertest"
)

// battery is the flag that turns the types on.
const battery = "--batteries-included=+workload-types"

// workspace returns a client for a new workspace.
func workspace(t *testing.T, server *servertest.Server, name string) kubernetes.Interface {
	t.Helper()
	server.Workspace(t, "root", name)
	config := server.In(t, "base", "root:"+name)
	config.QPS = -1
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	return client
}

func must[T any](t *testing.T) func(T, error) T {
	t.Helper()
	return func(got T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
}

func pod(name string, labels map[string]string) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: labels},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "main", Image: "example.org/main"}}},
	}
}

func service(name string, kind corev1.ServiceType) *corev1.Service {
	return &corev1.Service{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec:       corev1.ServiceSpec{Type: kind, Ports: []corev1.ServicePort{{Port: 80}}},
	}
}

func createService(ctx context.Context, client kubernetes.Interface, s *corev1.Service) (*corev1.Service, error) {
	return client.CoreV1().Services("default").Create(ctx, s, metav1.CreateOptions{})
}
