package garbagecollector

import (
	"slices"
	"strconv"
	"unique"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/forkless/kcp/internal/storage"
	"github.com/forkless/kcp/pkg/logicalcluster"
)

// observed is what the graph takes from an object it hears of.
type observed struct {
	key      nodeKey
	accessor metav1.Object
	phase    phase
	version  uint64
}

// reference is an owner reference; several with one UID are one.
type reference struct {
	uid    uid
	blocks bool
}

func observe(obj runtime.Object) (observed, bool) {
	accessor, err := meta.Accessor(obj)
	if err != nil {
		return observed{}, false
	}
	cluster := logicalcluster.FromAnnotations(accessor.GetAnnotations())
	if cluster.Empty() {
		return observed{}, false
	}
	o := observed{key: keyOf(cluster, accessor.GetUID()), accessor: accessor, phase: phaseOf(accessor)}
	// Stored objects have versions; of what has none nothing follows.
	o.version, _ = strconv.ParseUint(accessor.GetResourceVersion(), 10, 64)
	return o, true
}

func phaseOf(accessor metav1.Object) phase {
	switch {
	case accessor.GetDeletionTimestamp() == nil:
		return staying
	case slices.Contains(accessor.GetFinalizers(), metav1.FinalizerOrphanDependents):
		return orphaning
	case slices.Contains(accessor.GetFinalizers(), metav1.FinalizerDeleteDependents):
		return foreground
	default:
		return going
	}
}

// remembered says whether there is something about the object to remember, whether
// others refer to it or not.
func (o observed) remembered() bool {
	return o.phase == foreground || o.phase == orphaning || len(o.accessor.GetOwnerReferences()) > 0
}

func (o observed) references() []reference {
	owners := o.accessor.GetOwnerReferences()
	refs := make([]reference, 0, len(owners))
	for i := range owners {
		ref := reference{uid: compact(owners[i].UID), blocks: owners[i].BlockOwnerDeletion != nil && *owners[i].BlockOwnerDeletion}
		same := slices.IndexFunc(refs, func(r reference) bool { return r.uid == ref.uid })
		if same < 0 {
			refs = append(refs, ref)
			continue
		}
		refs[same].blocks = refs[same].blocks || ref.blocks
	}
	return refs
}

func (o observed) place(resource storage.Resource) place {
	p := place{
		resource:  unique.Make(resource),
		namespace: unique.Make(o.accessor.GetNamespace()),
		name:      o.accessor.GetName(),
	}
	if custom, ok := o.accessor.(*unstructured.Unstructured); ok {
		p.kind = unique.Make(custom.GetKind())
	}
	return p
}
