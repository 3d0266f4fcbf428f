package serviceaccount

import (
	"context"
	"fmt"

	"gopkg.in/go-jose/go-jose.v2/jwt"
	"k8s.io/kubernetes/pkg/serviceaccount"

	"github.com/forkless/kcp/pkg/logicalcluster"
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

// NewLegacyGenerator returns what makes the tokens in secrets, which have no end.
func NewLegacyGenerator(key any) (serviceaccount.TokenGenerator, error) {
	return NewGenerator(serviceaccount.LegacyIssuer, key)
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
