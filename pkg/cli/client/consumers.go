package client

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/forkless/kcp/pkg/logicalcluster"
)

// Consumers returns the logical clusters of the workspaces that have bound the export
// called name of the logical cluster provider, as far as the caller may see them: those
// who may read what is in the export's virtual workspace.
func (c *Client) Consumers(ctx context.Context, provider logicalcluster.Name, name string) ([]string, error) {
	path := []string{
		"services", "apiexport", provider.String(), name,
		"clusters", logicalcluster.Wildcard.String(), "apis", apisGroup, v1alpha2, "apibindings",
	}
	bindings, err := list[metav1.PartialObjectMetadata](ctx, c, path)
	if err != nil {
		return nil, err
	}
	seen := map[string]bool{}
	var clusters []string
	for i := range bindings {
		if cluster := bindings[i].Annotations[logicalcluster.AnnotationKey]; cluster != "" && !seen[cluster] {
			seen[cluster] = true
			clusters = append(clusters, cluster)
		}
	}
	return clusters, nil
}
