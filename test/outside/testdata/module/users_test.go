package widgets

import (
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
)

func TestStranger(t *testing.T) {
	workspace := controlPlane.Workspace(t)

	client, err := kubernetes.NewForConfig(workspace.User(t, "ada", "engineers"))
	if err != nil {
		t.Fatal(err)
	}
	_, err = client.CoreV1().Secrets("default").List(t.Context(), metav1.ListOptions{})
	if !apierrors.IsForbidden(err) {
		t.Errorf("nobody has let ada in, and she reads secrets: %v", err)
	}
}
