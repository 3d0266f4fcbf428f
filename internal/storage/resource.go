package storage

import (
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/forkless/kcp/pkg/logicalcluster"
)

// CustomResources is the identity of resources that a CustomResourceDefinition of
// their own workspace defines.
const CustomResources = "customresources"

// coreGroup stands for the empty group name in keys.
const coreGroup = "core"

// Resource names one store: the objects of one group and resource that have the
// same identity, in all clusters.
type Resource struct {
	schema.GroupResource
	// Identity keeps apart the objects of equally named resources. It is empty for
	// built-in and system APIs, CustomResources for those of workspace-local
	// definitions, and otherwise the identity hash of an export.
	Identity string
}

// Prefix returns what the keys of the store begin with, behind the prefix of the
// Layer: /<group>/<resource>[/<identity>].
func (r Resource) Prefix() string {
	group := r.Group
	if group == "" {
		group = coreGroup
	}
	prefix := "/" + group + "/" + r.Resource
	if r.Identity != "" {
		prefix += "/" + r.Identity
	}
	return prefix
}

// identityLength is the least length of the identities of exports, which are hashes. The
// names of clusters are shorter, but for those that begin with "system:".
const identityLength = 64

// isIdentity says whether what is in a key behind the resource is the identity of the
// resource and not a cluster.
func isIdentity(segment string) bool {
	return segment == CustomResources || len(segment) >= identityLength && !strings.Contains(segment, ":")
}

// Key returns the key of an object as upstream's registries build it: without the cluster,
// which the context adds. namespace is empty for cluster-scoped resources.
func (r Resource) Key(namespace, name string) string {
	if namespace == "" {
		return r.Prefix() + "/" + name
	}
	return r.Prefix() + "/" + namespace + "/" + name
}

// location is what a key says of its object.
type location struct {
	resource Resource
	cluster  string
	object   ObjectName
}

// locate reads a key below prefix. ok is false if it is not that of an object.
func locate(prefix, key string) (at location, ok bool) {
	rest, ok := strings.CutPrefix(key, prefix+"/")
	if !ok {
		return at, false
	}
	group, rest, ok := strings.Cut(rest, "/")
	if !ok {
		return at, false
	}
	if group != coreGroup {
		at.resource.Group = group
	}
	at.resource.Resource, rest, ok = strings.Cut(rest, "/")
	if !ok {
		return at, false
	}
	at.cluster, rest, ok = strings.Cut(rest, "/")
	if ok && isIdentity(at.cluster) {
		at.resource.Identity = at.cluster
		at.cluster, rest, ok = strings.Cut(rest, "/")
	}
	if namespace, name, namespaced := strings.Cut(rest, "/"); namespaced {
		at.object = ObjectName{namespace, name}
	} else {
		at.object = ObjectName{Name: rest}
	}
	return at, ok
}

// clusterKey returns the prefix of the keys of one cluster, without a slash at the end.
func clusterKey(prefix string, cluster logicalcluster.Name) string {
	return prefix + "/" + cluster.String()
}

// insertCluster puts the cluster into a key behind the prefix. ok is false if the
// key is not below the prefix.
func insertCluster(prefix, key string, cluster logicalcluster.Name) (string, bool) {
	rest, ok := strings.CutPrefix(key, prefix)
	if !ok || (rest != "" && rest[0] != '/') {
		return "", false
	}
	return clusterKey(prefix, cluster) + rest, true
}
