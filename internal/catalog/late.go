package catalog

import (
	"context"
	"slices"
	"sync"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	apistorage "k8s.io/apiserver/pkg/storage"

	"github.com/forkless/kcp/internal/schema"
	"github.com/forkless/kcp/internal/storage"
	"github.com/forkless/kcp/pkg/logicalcluster"
)

// lateFields are the fields by which a cluster's objects can be selected since after
// they came into the watch cache. The cache remembers the fields of an object as they
// were when it came in, for all clusters; to fill it anew would interrupt those of others
// that have a resource of the same name. So by a late field views select themselves,
// until the store is opened the next time.
type lateFields struct {
	mu     sync.RWMutex
	fields map[lateKey]map[string]bool
}

type lateKey struct {
	cluster  logicalcluster.Name
	resource storage.Resource
}

// has says whether field is a late one of the cluster of ctx: of any, for all clusters.
func (l *lateFields) has(ctx context.Context, resource storage.Resource, field string) bool {
	cluster, ok := logicalcluster.FromContext(ctx)
	if !ok {
		return false
	}
	l.mu.RLock()
	defer l.mu.RUnlock()
	if !cluster.IsWildcard() {
		return l.fields[lateKey{cluster: cluster, resource: resource}][field]
	}
	for key, late := range l.fields {
		if key.resource == resource && late[field] {
			return true
		}
	}
	return false
}

func (l *lateFields) add(cluster logicalcluster.Name, resource storage.Resource, paths []string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.fields == nil {
		l.fields = map[lateKey]map[string]bool{}
	}
	key := lateKey{cluster: cluster, resource: resource}
	if l.fields[key] == nil {
		l.fields[key] = map[string]bool{}
	}
	for _, path := range paths {
		l.fields[key][path] = true
	}
}

// keep forgets the late fields of a cluster that are not among paths.
func (l *lateFields) keep(cluster logicalcluster.Name, resource storage.Resource, paths []string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	key := lateKey{cluster: cluster, resource: resource}
	late := l.fields[key]
	kept := map[string]bool{}
	for _, path := range paths {
		if late[path] {
			kept[path] = true
		}
	}
	if len(kept) == 0 {
		delete(l.fields, key)
		return
	}
	l.fields[key] = kept
}

// drop forgets the late fields of a cluster.
func (l *lateFields) drop(cluster logicalcluster.Name, resource storage.Resource) {
	l.keep(cluster, resource, nil)
}

// forget forgets the late fields of all clusters: the store is closed.
func (l *lateFields) forget(resource storage.Resource) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for key := range l.fields {
		if key.resource == resource {
			delete(l.fields, key)
		}
	}
}

// selectable notes that the objects of a cluster can be selected by the fields of after
// from now on, by those of before until now. before may be nil. It is called before the
// watch cache learns of after, and settle, which it returns, afterwards: only then is it
// certain whether an object came in too early.
func (s *stores) selectable(cluster logicalcluster.Name, resource storage.Resource, before, after *schema.Definition) (settle func()) {
	gained := gainedFields(before, after)
	if len(gained) > 0 {
		s.late.add(cluster, resource, gained)
	}
	return func() {
		late := after.SelectableFields()
		if len(gained) > 0 && !s.holds(cluster, resource) {
			late = slices.DeleteFunc(late, func(path string) bool { return slices.Contains(gained, path) })
		}
		s.late.keep(cluster, resource, late)
	}
}

// holds says whether there may be objects of a cluster in an open store.
func (s *stores) holds(cluster logicalcluster.Name, resource storage.Resource) bool {
	s.mu.Lock()
	store := s.open[resource]
	s.mu.Unlock()
	if store == nil {
		return false
	}
	// A store that is being opened now may have begun to take in objects.
	store.mu.Lock()
	shared := store.shared
	store.mu.Unlock()
	if shared == nil {
		return false
	}
	list := shared.NewList()
	err := shared.GetList(logicalcluster.NewContext(context.Background(), cluster), resource.Prefix(), apistorage.ListOptions{
		ResourceVersion:      "0",
		ResourceVersionMatch: metav1.ResourceVersionMatchNotOlderThan,
		Recursive:            true,
		Predicate:            apistorage.SelectionPredicate{Label: apistorage.Everything.Label, Field: apistorage.Everything.Field, GetAttrs: shared.Attrs, Limit: 1},
	}, list)
	return err != nil || meta.LenList(list) > 0
}

// gainedFields returns the selectable fields of after that before lacks.
func gainedFields(before, after *schema.Definition) []string {
	known := map[string]bool{}
	if before != nil {
		for _, path := range before.SelectableFields() {
			known[path] = true
		}
	}
	var gained []string
	for _, path := range after.SelectableFields() {
		if !known[path] {
			gained = append(gained, path)
		}
	}
	return gained
}
