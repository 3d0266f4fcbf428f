package widgets

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"

	"github.com/forkless/kcp/pkg/kcptest"
)

var widgets = schema.GroupVersionResource{Group: "example.dev", Version: "v1", Resource: "widgets"}

func TestWidget(t *testing.T) {
	workspace := controlPlane.Workspace(t)
	workspace.Apply(t, kcptest.Files("crds"))

	client, err := dynamic.NewForConfig(workspace.Config())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := client.Resource(widgets).List(t.Context(), metav1.ListOptions{}); err != nil {
		t.Fatal(err)
	}
}
