package e2e

import (
	"context"
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/clientcmd/api"

	tenancyv1alpha1 "github.com/forkless/kcp/pkg/apis/tenancy/v1alpha1"
)

const (
	poll     = 20 * time.Millisecond
	patience = time.Minute
)

var workspaces = tenancyv1alpha1.GroupVersion.WithResource("workspaces")

// newOrganization makes a workspace below root and returns its path.
func (s *suite) newOrganization(ctx context.Context) (string, error) {
	config, err := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(
		&clientcmd.ClientConfigLoadingRules{ExplicitPath: s.server.Kubeconfig},
		&clientcmd.ConfigOverrides{CurrentContext: "root", ClusterInfo: api.Cluster{}}).ClientConfig()
	if err != nil {
		return "", err
	}
	client, err := dynamic.NewForConfig(config)
	if err != nil {
		return "", err
	}
	inRoot := client.Resource(workspaces)
	created, err := inRoot.Create(ctx, &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": workspaces.GroupVersion().String(),
		"kind":       "Workspace",
		"metadata":   map[string]any{"generateName": "org-"},
	}}, metav1.CreateOptions{})
	if err != nil {
		return "", err
	}
	phase := ""
	err = wait.PollUntilContextTimeout(ctx, poll, patience, true, func(ctx context.Context) (bool, error) {
		ws, err := inRoot.Get(ctx, created.GetName(), metav1.GetOptions{})
		if err != nil {
			return false, err
		}
		phase, _, err = unstructured.NestedString(ws.Object, "status", "phase")
		return phase == "Ready", err
	})
	if err != nil {
		return "", fmt.Errorf("waiting until workspace %s, in phase %q, is ready: %w", created.GetName(), phase, err)
	}
	return "root:" + created.GetName(), nil
}
