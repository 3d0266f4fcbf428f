package e2e

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/forkless/kcp/internal/servertest"
	tenancyv1alpha1 "github.com/forkless/kcp/pkg/apis/tenancy/v1alpha1"
)

// newOrganization makes a workspace below root and returns its path.
func (s *suite) newOrganization(ctx context.Context) (string, error) {
	root, err := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(
		&clientcmd.ClientConfigLoadingRules{ExplicitPath: s.server.Kubeconfig},
		&clientcmd.ConfigOverrides{CurrentContext: "root"}).ClientConfig()
	if err != nil {
		return "", err
	}
	ws, err := servertest.CreateWorkspace(ctx, root, &tenancyv1alpha1.Workspace{ObjectMeta: metav1.ObjectMeta{GenerateName: "org-"}})
	if err != nil {
		return "", err
	}
	return "root:" + ws.Name, nil
}
