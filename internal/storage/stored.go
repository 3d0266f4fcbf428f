package storage

import (
	"context"
	"fmt"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/forkless/kcp/pkg/logicalcluster"
)

// defaultMaxTxnOperations is how many operations etcd takes in one transaction where it
// was not told otherwise.
const defaultMaxTxnOperations = 128

// ObjectName names an object of a resource; Namespace is empty for one that is in none.
type ObjectName struct{ Namespace, Name string }

// Stored counts the objects of resources in a namespace of a cluster, or in all of the
// cluster if that is empty, and looks whether there are objects of some names: at one
// moment, that of revision, and with everything in it that was written before the call. It
// reads keys of etcd only, whether the stores of the resources are open or not.
//
// There is a bound on how many it can look for. The others it says are not there.
func (l *Layer) Stored(ctx context.Context, cluster logicalcluster.Name, namespace string, resources []Resource, look []ObjectName) (count int64, found []bool, revision int64, err error) {
	if cluster.Empty() || cluster.IsWildcard() {
		return 0, nil, 0, fmt.Errorf("objects of cluster %q cannot be counted", cluster)
	}
	bound := defaultMaxTxnOperations
	if l.exclusive {
		bound = embeddedMaxTxnOperations
	}
	var operations []clientv3.Op
	for _, resource := range resources {
		prefix := l.prefix + clusterKey(resource.Prefix(), cluster) + "/"
		if namespace != "" {
			prefix += namespace + "/"
		}
		operations = append(operations, clientv3.OpGet(prefix, clientv3.WithPrefix(), clientv3.WithCountOnly()))
	}
	found = make([]bool, len(look))
	looked := 0
	for ; looked < len(look) && len(operations)+len(resources) <= bound; looked++ {
		for _, resource := range resources {
			key := l.prefix + clusterKey(resource.Prefix(), cluster) + "/"
			if look[looked].Namespace != "" {
				key += look[looked].Namespace + "/"
			}
			operations = append(operations, clientv3.OpGet(key+look[looked].Name, clientv3.WithCountOnly()))
		}
	}
	response, err := l.client.KV.Txn(ctx).Then(operations...).Commit()
	if err != nil {
		return 0, nil, 0, fmt.Errorf("counting objects of %s: %w", cluster, err)
	}
	for i, r := range response.Responses {
		if i < len(resources) {
			count += r.GetResponseRange().Count
		} else if r.GetResponseRange().Count > 0 {
			found[(i-len(resources))/len(resources)] = true
		}
	}
	return count, found, response.Header.Revision, nil
}
