package quota

import (
	"context"
	"strconv"
	"sync"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apiserver/pkg/admission"

	"github.com/forkless/kcp/pkg/logicalcluster"
)

var (
	secrets = schema.GroupResource{Resource: "secrets"}
	widgets = schema.GroupResource{Group: "example.com", Resource: "widgets"}
	one     = logicalcluster.MustParseName("one")
	two     = logicalcluster.MustParseName("two")
)

const countSecrets = corev1.ResourceName("count/secrets")

// stored is an object that is stored.
type stored struct {
	cluster  logicalcluster.Name
	resource schema.GroupResource
	Object
}

// memory is a whole Store in memory.
type memory struct {
	mu       sync.Mutex
	revision int
	quotas   map[Key]*corev1.ResourceQuota
	objects  map[stored]bool
	// measured are the objects that can be listed.
	measured map[stored]runtime.Object
	// writes is how many transactions there were.
	writes int
	// fails is what the next write fails with.
	fails error
}

func newMemory() *memory {
	return &memory{quotas: map[Key]*corev1.ResourceQuota{}, objects: map[stored]bool{}, measured: map[stored]runtime.Object{}}
}

func (m *memory) Get(_ context.Context, cluster logicalcluster.Name, namespace, name string) (*corev1.ResourceQuota, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	q, ok := m.quotas[Key{cluster, namespace, name}]
	if !ok {
		return nil, apierrors.NewNotFound(quotaResource, name)
	}
	return q.DeepCopy(), nil
}

func (m *memory) UpdateStatus(_ context.Context, cluster logicalcluster.Name, quotas ...*corev1.ResourceQuota) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := m.fails; err != nil {
		m.fails = nil
		return err
	}
	for _, q := range quotas {
		known := m.quotas[Key{cluster, q.Namespace, q.Name}]
		if known == nil || known.ResourceVersion != q.ResourceVersion {
			return apierrors.NewConflict(quotaResource, q.Name, nil)
		}
	}
	m.writes++
	m.revision++
	for _, q := range quotas {
		q.ResourceVersion = strconv.Itoa(m.revision)
		m.quotas[Key{cluster, q.Namespace, q.Name}] = q.DeepCopy()
	}
	return nil
}

func (m *memory) Count(_ context.Context, cluster logicalcluster.Name, namespace string, resource schema.GroupResource, look []Object) (count int64, found []bool, revision int64, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for o := range m.objects {
		if o.cluster == cluster && o.resource == resource && (namespace == "" || namespace == o.Namespace) {
			count++
		}
	}
	for _, object := range look {
		found = append(found, m.objects[stored{cluster, resource, object}])
	}
	return count, found, int64(m.revision), nil
}

func (m *memory) List(_ context.Context, cluster logicalcluster.Name, namespace string, resource schema.GroupResource) (objects []runtime.Object, revision int64, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for o, object := range m.measured {
		if o.cluster == cluster && o.resource == resource && (namespace == "" || namespace == o.Namespace) {
			objects = append(objects, object)
		}
	}
	return objects, int64(m.revision), nil
}

// put stores a quota as somebody else does, and returns it.
func (m *memory) put(cluster logicalcluster.Name, q *corev1.ResourceQuota) *corev1.ResourceQuota {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.revision++
	q = q.DeepCopy()
	q.ResourceVersion = strconv.Itoa(m.revision)
	m.quotas[Key{cluster, q.Namespace, q.Name}] = q
	return q.DeepCopy()
}

func (m *memory) store(cluster logicalcluster.Name, resource schema.GroupResource, namespace, name string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.revision++
	m.objects[stored{cluster, resource, Object{namespace, name}}] = true
}

func (m *memory) remove(cluster logicalcluster.Name, resource schema.GroupResource, namespace, name string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.objects, stored{cluster, resource, Object{namespace, name}})
}

// used is what the status of a quota says.
func (m *memory) used(cluster logicalcluster.Name, namespace, name string, key corev1.ResourceName) string {
	m.mu.Lock()
	defer m.mu.Unlock()
	q := m.quotas[Key{cluster, namespace, name}]
	if q == nil {
		return "gone"
	}
	used, ok := q.Status.Used[key]
	if !ok {
		return "unknown"
	}
	return used.String()
}

// quotaOf returns a quota with limits and no status.
func quotaOf(namespace, name string, limits map[corev1.ResourceName]int64) *corev1.ResourceQuota {
	q := &corev1.ResourceQuota{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, UID: types.UID(namespace + name)},
		Spec:       corev1.ResourceQuotaSpec{Hard: corev1.ResourceList{}},
	}
	for key, limit := range limits {
		q.Spec.Hard[key] = *resource.NewQuantity(limit, resource.DecimalSI)
	}
	return q
}

// ledger returns a synced ledger over a store, and where it says what has to be counted.
func ledger(t *testing.T, store Store) (*Ledger, chan Key) {
	t.Helper()
	ended := make(chan Key, 1000)
	l := NewLedger(store, Workloads(), func(key Key) { ended <- key })
	l.Began()
	l.Synced()
	return l, ended
}

// create are the attributes of a request that creates an object.
func create(resource schema.GroupResource, namespace, name string, dryRun bool) admission.Attributes {
	object := &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}
	return admission.NewAttributesRecord(runtime.Object(object), nil, schema.GroupVersionKind{Group: resource.Group, Version: "v1", Kind: "Kind"},
		namespace, name, resource.WithVersion("v1"), "", admission.Create, nil, dryRun, nil)
}
