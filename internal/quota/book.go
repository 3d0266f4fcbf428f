package quota

import (
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/forkless/kcp/pkg/logicalcluster"
)

// book is the quotas that are known. It is guarded by the lock of the Ledger, and what is
// in it is replaced, not changed.
type book struct {
	// measures say what quotas count.
	measures Measures
	quotas   map[Key]entry
	// at are the quotas of each place, by name.
	at map[place][]Key
	// clusters is how many quotas a cluster has.
	clusters map[logicalcluster.Name]int
	// round is how often all quotas have been told.
	round int
}

type entry struct {
	quota *corev1.ResourceQuota
	place place
	// round is when it was last heard of.
	round int
}

func newBook(measures Measures) book {
	return book{measures: measures, quotas: map[Key]entry{}, at: map[place][]Key{}, clusters: map[logicalcluster.Name]int{}}
}

// put writes down a quota as it is. It says whether that is news: it is not if a later
// state is known.
func (b *book) put(key Key, q *corev1.ResourceQuota) bool {
	known, ok := b.quotas[key]
	if ok && known.quota.UID == q.UID && version(known.quota) >= version(q) {
		known.round = b.round
		b.quotas[key] = known
		return false
	}
	b.remove(key)
	e := entry{quota: q, place: placeOf(key.Cluster, q), round: b.round}
	b.quotas[key] = e
	keys := append(slices.Clip(b.at[e.place]), key)
	slices.SortFunc(keys, func(a, b Key) int { return strings.Compare(a.Name, b.Name) })
	b.at[e.place] = keys
	b.clusters[key.Cluster]++
	return true
}

// update is put for a quota that may have been removed in the meantime, and then stays
// so.
func (b *book) update(key Key, q *corev1.ResourceQuota) {
	if known, ok := b.quotas[key]; ok && known.quota.UID == q.UID {
		b.put(key, q)
	}
}

func (b *book) remove(key Key) {
	e, ok := b.quotas[key]
	if !ok {
		return
	}
	delete(b.quotas, key)
	others := slices.DeleteFunc(slices.Clone(b.at[e.place]), func(other Key) bool { return other == key })
	if len(others) == 0 {
		delete(b.at, e.place)
	} else {
		b.at[e.place] = others
	}
	if b.clusters[key.Cluster]--; b.clusters[key.Cluster] == 0 {
		delete(b.clusters, key.Cluster)
	}
}

// each calls visit with the quotas that an object counts for: those of its namespace, if
// it has one, and those of its cluster.
func (b *book) each(cluster logicalcluster.Name, namespace string, visit func(Key, *corev1.ResourceQuota)) {
	if b.clusters[cluster] == 0 {
		return
	}
	if namespace != "" {
		for _, key := range b.at[place{cluster, namespace}] {
			visit(key, b.quotas[key].quota)
		}
	}
	for _, key := range b.at[place{cluster: cluster}] {
		visit(key, b.quotas[key].quota)
	}
}

// counting returns the quotas that count an object of a resource.
func (b *book) counting(cluster logicalcluster.Name, namespace string, resource schema.GroupResource) []Key {
	var keys []Key
	b.each(cluster, namespace, func(key Key, q *corev1.ResourceQuota) {
		if b.measures.counts(q, resource) {
			keys = append(keys, key)
		}
	})
	return keys
}

// version returns the resource version of a quota, which is a revision of etcd.
func version(q *corev1.ResourceQuota) uint64 {
	v, err := strconv.ParseUint(q.ResourceVersion, 10, 64)
	if err != nil {
		return 0
	}
	return v
}
