package storage

import (
	"context"
	"fmt"
	"strings"

	clientv3 "go.etcd.io/etcd/client/v3"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/storage"
)

// fewObjects is how many objects are read from etcd rather than waited for: about as many
// as are read and decoded in the time of one round of progress requests.
const fewObjects = 500

// listFew is a consistent GetList of one cluster where others write to etcd too, if there
// is not much to list. done is false if there is.
//
// The watch cache would have to wait for etcd's word that it has seen everything. etcd gives
// it at the next tenth of a second, unless one of the watches of this process is not up to
// date at that moment, such as that of a store that has just been opened; upstream gives up
// after three seconds. Whoever ends something makes several such lists, most of them empty.
func (s *store) listFew(ctx context.Context, key string, opts storage.ListOptions, list runtime.Object) (done bool, err error) {
	response, err := s.layer.client.KV.Get(ctx, s.layer.prefix+strings.TrimSuffix(key, "/")+"/", clientv3.WithPrefix(), clientv3.WithCountOnly())
	if err != nil {
		return false, fmt.Errorf("counting what is below %s: %w", key, err)
	}
	// The next page would be asked of the watch cache, at a version where it is not yet.
	paged := opts.Predicate.Limit > 0 && response.Count > opts.Predicate.Limit
	if response.Count > fewObjects || paged {
		return false, nil
	}
	return true, s.direct.GetList(ctx, key, opts, list)
}
