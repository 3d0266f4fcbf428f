package serviceaccount

import (
	"context"
	"encoding/json"
	"fmt"

	"gopkg.in/go-jose/go-jose.v2/jwt"
	"k8s.io/kubernetes/pkg/serviceaccount"

	"github.com/forkless/kcp/pkg/logicalcluster"
)

const (
	// kubernetesClaim holds what tokens of Kubernetes say of the account.
	kubernetesClaim = "kubernetes.io"
	// clusterClaim is our part of it.
	clusterClaim = "clusterName"
)

// NewGenerator returns what makes tokens of issuer, signed with key, for accounts of the
// cluster in the context.
func NewGenerator(issuer string, key any) (serviceaccount.TokenGenerator, error) {
	signing, err := serviceaccount.JWTTokenGenerator(issuer, key)
	if err != nil {
		return nil, err
	}
	return generator{signing}, nil
}

type generator struct{ signing serviceaccount.TokenGenerator }

// GenerateToken implements upstream's interface.
func (g generator) GenerateToken(ctx context.Context, claims *jwt.Claims, private any) (string, error) {
	cluster, err := logicalcluster.Require(ctx)
	if err != nil {
		return "", err
	}
	located, err := withCluster(private, cluster)
	if err != nil {
		return "", fmt.Errorf("adding the cluster to the claims: %w", err)
	}
	return g.signing.GenerateToken(ctx, claims, located)
}

// withCluster returns claims with the cluster among them. Upstream's type of them has no
// room for it and is not exported.
func withCluster(claims any, cluster logicalcluster.Name) (map[string]any, error) {
	data, err := json.Marshal(claims)
	if err != nil {
		return nil, err
	}
	all := map[string]any{}
	if err := json.Unmarshal(data, &all); err != nil {
		return nil, err
	}
	kubernetes, ok := all[kubernetesClaim].(map[string]any)
	if !ok {
		return nil, fmt.Errorf("there is no claim %s", kubernetesClaim)
	}
	kubernetes[clusterClaim] = cluster.String()
	return all, nil
}
