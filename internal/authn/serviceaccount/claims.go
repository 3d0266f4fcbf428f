package serviceaccount

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/forkless/kcp/pkg/logicalcluster"
)

const (
	// kubernetesClaim holds what requested tokens say of their account.
	kubernetesClaim = "kubernetes.io"
	// clusterClaim is our part of it.
	clusterClaim = "clusterName"
	// legacyClusterClaim is the same in legacy tokens, whose claims stand side by side.
	legacyClusterClaim = "kubernetes.io/serviceaccount/clusterName"
	// legacyNamespaceClaim is one that all legacy tokens have.
	legacyNamespaceClaim = "kubernetes.io/serviceaccount/namespace"
)

// ClaimedCluster returns the cluster that a token names, which nobody has verified: it is
// good for finding out where to verify it. ok is false for what is no token of a service
// account of ours.
func ClaimedCluster(token string) (cluster logicalcluster.Name, ok bool) {
	parts := strings.Split(token, ".")
	if len(parts) != 3 {
		return logicalcluster.Name{}, false
	}
	payload, err := base64.RawURLEncoding.DecodeString(parts[1])
	if err != nil {
		return logicalcluster.Name{}, false
	}
	var claims struct {
		Kubernetes struct {
			Cluster string `json:"clusterName"`
		} `json:"kubernetes.io"`
		Legacy string `json:"kubernetes.io/serviceaccount/clusterName"`
	}
	if err := json.Unmarshal(payload, &claims); err != nil {
		return logicalcluster.Name{}, false
	}
	name := claims.Kubernetes.Cluster
	if name == "" {
		name = claims.Legacy
	}
	cluster, err = logicalcluster.ParseName(name)
	return cluster, err == nil
}

// withCluster returns claims with the cluster among them. Upstream's types of them have no
// room for it and are not exported.
func withCluster(claims any, cluster logicalcluster.Name) (map[string]any, error) {
	data, err := json.Marshal(claims)
	if err != nil {
		return nil, err
	}
	all := map[string]any{}
	if err := json.Unmarshal(data, &all); err != nil {
		return nil, err
	}
	if kubernetes, ok := all[kubernetesClaim].(map[string]any); ok {
		kubernetes[clusterClaim] = cluster.String()
		return all, nil
	}
	if _, ok := all[legacyNamespaceClaim]; ok {
		all[legacyClusterClaim] = cluster.String()
		return all, nil
	}
	return nil, fmt.Errorf("there is neither a claim %s nor %s", kubernetesClaim, legacyNamespaceClaim)
}
