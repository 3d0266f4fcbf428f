package identity

import (
	"slices"
	"strings"

	"k8s.io/apiserver/pkg/authentication/user"

	"github.com/forkless/kcp/pkg/logicalcluster"
)

// The extra keys of a user that this package gives a meaning.
const (
	// ScopesKey limits a user to logical clusters.
	ScopesKey = "authentication.kcp.io/scopes"
	// ClusterNameKey is the logical cluster an identity comes from.
	ClusterNameKey = "authentication.kcp.io/cluster-name"
	// WarrantKey holds further identities, one Warrant in JSON per value.
	WarrantKey = "authorization.kcp.io/warrant"
)

// clusterScope starts a scope that names a logical cluster. There are no others, and
// an unknown one never matches.
const clusterScope = "cluster:"

// Scope returns the scope that limits a user to cluster.
func Scope(cluster logicalcluster.Name) string { return clusterScope + cluster.String() }

// InScope says whether u counts as himself in cluster: every one of his scopes has
// an alternative for it, and a service account is not of another cluster.
func InScope(u user.Info, cluster logicalcluster.Name) bool {
	extra := u.GetExtra()
	if origin := extra[ClusterNameKey]; len(origin) > 0 && IsServiceAccount(u) {
		if len(origin) != 1 || origin[0] != cluster.String() {
			return false
		}
	}
	return scopesContain(extra[ScopesKey], cluster.String())
}

// scopesContain says whether each of scopes has an alternative for cluster. No scopes
// do not limit anybody.
func scopesContain(scopes []string, cluster string) bool {
	for _, scope := range scopes {
		if !alternativesContain(scope, cluster) {
			return false
		}
	}
	return true
}

func alternativesContain(scope, cluster string) bool {
	for alternative := range strings.SplitSeq(scope, ",") {
		if name, ok := strings.CutPrefix(strings.TrimSpace(alternative), clusterScope); ok && name == cluster {
			return true
		}
	}
	return false
}

// scopedClusters returns the clusters that all of scopes agree on, sorted.
func scopedClusters(scopes []string) []string {
	if len(scopes) == 0 {
		return nil
	}
	var clusters []string
	for alternative := range strings.SplitSeq(scopes[0], ",") {
		name, ok := strings.CutPrefix(strings.TrimSpace(alternative), clusterScope)
		if ok && name != "" && scopesContain(scopes[1:], name) {
			clusters = append(clusters, name)
		}
	}
	slices.Sort(clusters)
	return slices.Compact(clusters)
}

// clusterGroups returns the groups by which other clusters know somebody from the
// clusters that scopes agree on.
func clusterGroups(scopes []string) []string {
	groups := scopedClusters(scopes)
	for i := range groups {
		groups[i] = ClusterPrefix + groups[i]
	}
	return groups
}

// Limit returns u limited to cluster, the identities of his warrants included: what
// may be claimed in one cluster is worth nothing in another. u is not changed.
func Limit(u user.Info, cluster logicalcluster.Name) user.Info {
	return limit(u, Scope(cluster), 0)
}

func limit(u user.Info, scope string, depth int) *user.DefaultInfo {
	extra := make(map[string][]string, len(u.GetExtra())+1)
	for key, values := range u.GetExtra() {
		extra[key] = values
	}
	extra[ScopesKey] = append(slices.Clone(extra[ScopesKey]), scope)
	if warrants := extra[WarrantKey]; len(warrants) > 0 {
		extra[WarrantKey] = limitWarrants(warrants, scope, depth+1)
	}
	return &user.DefaultInfo{Name: u.GetName(), UID: u.GetUID(), Groups: u.GetGroups(), Extra: extra}
}
