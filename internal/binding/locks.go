package binding

import (
	"encoding/json"
	"maps"

	"k8s.io/apimachinery/pkg/runtime/schema"

	apisv1alpha1 "github.com/forkless/kcp/pkg/apis/apis/v1alpha1"
	corev1alpha1 "github.com/forkless/kcp/pkg/apis/core/v1alpha1"
)

// Lock says who gives a resource to a workspace.
type Lock struct {
	// Binding is the name of an APIBinding, empty if it is none.
	Binding string `json:"n,omitempty"`
	// CRD says that it is a CustomResourceDefinition of the workspace.
	CRD bool `json:"c,omitempty"`
}

// Locks says, by resource ("<resource>.<group>", "<resource>" in the core group), who
// gives it.
type Locks map[string]Lock

// LockKey returns the key of a resource in Locks.
func LockKey(resource schema.GroupResource) string { return resource.String() }

// LocksOf returns what a LogicalCluster says. What cannot be read says nothing: the next
// decision writes it anew from what there is.
func LocksOf(lc *corev1alpha1.LogicalCluster) Locks {
	locks, _ := read(lc)
	return locks
}

// read returns what a LogicalCluster says, and whether it says it as it should.
func read(lc *corev1alpha1.LogicalCluster) (Locks, bool) {
	var locks Locks
	err := json.Unmarshal([]byte(lc.Annotations[apisv1alpha1.ResourceBindingsAnnotationKey]), &locks)
	if err != nil || locks == nil {
		return Locks{}, false
	}
	return locks, true
}

// Of returns the locks of a holder.
func (l Locks) Of(holder Lock) Locks {
	held := maps.Clone(l)
	maps.DeleteFunc(held, func(_ string, lock Lock) bool { return lock != holder })
	return held
}

// Without returns the locks but those of a binding.
func (l Locks) Without(holder Lock) Locks {
	left := maps.Clone(l)
	maps.DeleteFunc(left, func(_ string, lock Lock) bool { return lock == holder })
	return left
}

// WithoutCRD returns the locks, and that no CustomResourceDefinition has resource.
func (l Locks) WithoutCRD(resource schema.GroupResource) Locks {
	left := maps.Clone(l)
	maps.DeleteFunc(left, func(key string, lock Lock) bool { return lock.CRD && key == LockKey(resource) })
	return left
}

// With returns the locks, and that holder has resource.
func (l Locks) With(holder Lock, resource schema.GroupResource) Locks {
	more := maps.Clone(l)
	if more == nil {
		more = Locks{}
	}
	more[LockKey(resource)] = holder
	return more
}

// WithLocks returns lc with the given locks: a copy, or lc itself if it says so already.
func WithLocks(lc *corev1alpha1.LogicalCluster, locks Locks) *corev1alpha1.LogicalCluster {
	if written, ok := read(lc); ok && maps.Equal(written, locks) {
		return lc
	}
	// Keys are sorted, and nothing in it can fail to be written.
	data, err := json.Marshal(locks)
	if err != nil {
		panic(err)
	}
	wanted := lc.DeepCopy()
	if wanted.Annotations == nil {
		wanted.Annotations = map[string]string{}
	}
	wanted.Annotations[apisv1alpha1.ResourceBindingsAnnotationKey] = string(data)
	return wanted
}
