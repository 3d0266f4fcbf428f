package storage

import (
	"slices"
	"strings"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/storage"
)

const (
	// sharedBytes and sharedSets are how much is remembered at a time. What is beyond
	// that begins anew: what is equal by chance is forgotten so, and what is equal in
	// every cluster is in memory once more.
	sharedBytes = 2 << 20
	sharedSets  = 4096

	// longestShared is the longest string that is looked for, shortestShared the shortest
	// for which it is worth it.
	longestShared  = 512 << 10
	shortestShared = 2

	// longestValue is the longest annotation or label that is: longer ones are seldom
	// equal.
	longestValue = 512
)

// sharing lets equal strings of decoded objects, and equal sets of their fields, be in
// memory once. Clusters have much in common: names, annotations, certificates.
type sharing struct {
	mu      sync.Mutex
	strings map[string]string
	bytes   int
	sets    map[string]fields.Set
}

// share returns a string that equals s. The caller holds the lock.
func (t *sharing) share(s string) string {
	if len(s) < shortestShared || len(s) > longestShared {
		return s
	}
	if known, ok := t.strings[s]; ok {
		return known
	}
	if t.strings == nil || t.bytes+len(s) > sharedBytes {
		t.strings, t.bytes = map[string]string{}, 0
	}
	t.strings[s] = s
	t.bytes += len(s)
	return s
}

// object makes an object that was just decoded share its strings with others. more does
// so beyond its metadata and may be nil.
func (t *sharing) object(obj runtime.Object, more func(runtime.Object, func(string) string)) {
	accessor, ok := obj.(metav1.ObjectMetaAccessor)
	if !ok {
		return
	}
	// Objects without a type of their own make their metadata on demand.
	meta, ok := accessor.GetObjectMeta().(*metav1.ObjectMeta)
	if !ok {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	meta.Namespace, meta.Name = t.share(meta.Namespace), t.share(meta.Name)
	t.pairs(meta.Labels)
	t.pairs(meta.Annotations)
	for i := range meta.Finalizers {
		meta.Finalizers[i] = t.share(meta.Finalizers[i])
	}
	for i := range meta.ManagedFields {
		entry := &meta.ManagedFields[i]
		entry.Manager, entry.APIVersion, entry.FieldsType = t.share(entry.Manager), t.share(entry.APIVersion), t.share(entry.FieldsType)
		entry.Operation = metav1.ManagedFieldsOperationType(t.share(string(entry.Operation)))
	}
	if more != nil {
		more(obj, t.share)
	}
}

// pairs shares keys and short values. Writing a key that is there puts the new string in
// place of the one before.
func (t *sharing) pairs(all map[string]string) {
	for key, value := range all {
		if len(value) <= longestValue {
			value = t.share(value)
		}
		all[t.share(key)] = value
	}
}

// attrs returns attrs with sets of fields that equal objects share. Nobody may change
// them.
func (t *sharing) attrs(attrs storage.AttrFunc) storage.AttrFunc {
	return func(obj runtime.Object) (labels.Set, fields.Set, error) {
		labelSet, fieldSet, err := attrs(obj)
		if err != nil || len(fieldSet) == 0 {
			return labelSet, fieldSet, err
		}
		return labelSet, t.set(fieldSet), nil
	}
}

func (t *sharing) set(set fields.Set) fields.Set {
	content := make([]string, 0, 8)
	for key, value := range set {
		content = append(content, key+"="+value)
	}
	slices.Sort(content)
	id := strings.Join(content, "\x00")
	t.mu.Lock()
	defer t.mu.Unlock()
	if known, ok := t.sets[id]; ok {
		return known
	}
	if t.sets == nil || len(t.sets) >= sharedSets {
		t.sets = map[string]fields.Set{}
	}
	t.sets[id] = set
	return set
}

// codec returns inner with what it decodes sharing strings.
func (t *sharing) codec(inner runtime.Codec, more func(runtime.Object, func(string) string)) runtime.Codec {
	return sharingCodec{inner, t, more}
}

type sharingCodec struct {
	runtime.Codec

	sharing *sharing
	more    func(runtime.Object, func(string) string)
}

// Decode implements runtime.Decoder.
func (c sharingCodec) Decode(data []byte, defaults *schema.GroupVersionKind, into runtime.Object) (runtime.Object, *schema.GroupVersionKind, error) {
	obj, kind, err := c.Codec.Decode(data, defaults, into)
	if err == nil {
		c.sharing.object(obj, c.more)
	}
	return obj, kind, err
}
