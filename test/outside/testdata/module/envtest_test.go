package widgets

import (
	"testing"

	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/forkless/kcp/pkg/kcptest"
)

// startCluster is what a test of a controller calls instead of envtest's Start.
func startCluster(t *testing.T) *rest.Config {
	controlPlane := kcptest.Start(t, kcptest.WithWorkloadTypes())
	workspace := controlPlane.Workspace(t)
	workspace.Apply(t, kcptest.Files("crds"))
	return workspace.Config()
}

func TestCluster(t *testing.T) {
	client, err := kubernetes.NewForConfig(startCluster(t))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := client.Discovery().ServerResourcesForGroupVersion("apps/v1"); err != nil {
		t.Errorf("there are no deployments: %v", err)
	}
}
