package apiexportendpointslice

import (
	"sync"

	"github.com/forkless/kcp/internal/controller"
)

// interest is what a slice has to hear of, beside the export in its cluster that is called
// like it, which every slice does.
type interest struct {
	export reference
	// partition is the key of a Partition; the zero Key if there is none.
	partition controller.Key
}

// interests are those of the slices that are not just the ones of their exports, which are
// few.
type interests struct {
	mu sync.Mutex
	of map[controller.Key]interest
	// exports and partitions are the slices that have to hear of them.
	exports    map[reference]map[controller.Key]struct{}
	partitions map[controller.Key]map[controller.Key]struct{}
}

func newInterests() *interests {
	return &interests{
		of:         map[controller.Key]interest{},
		exports:    map[reference]map[controller.Key]struct{}{},
		partitions: map[controller.Key]map[controller.Key]struct{}{},
	}
}

// set says what a slice has to hear of: nothing, for the zero interest.
func (i *interests) set(slice controller.Key, wanted interest) {
	i.mu.Lock()
	defer i.mu.Unlock()
	had, ok := i.of[slice]
	if ok && had == wanted || !ok && wanted == (interest{}) {
		return
	}
	drop(i.exports, had.export, slice)
	drop(i.partitions, had.partition, slice)
	delete(i.of, slice)
	if wanted == (interest{}) {
		return
	}
	i.of[slice] = wanted
	add(i.exports, wanted.export, slice)
	add(i.partitions, wanted.partition, slice)
}

// inExport returns the slices that have to hear of an export.
func (i *interests) inExport(ref reference) []controller.Key {
	i.mu.Lock()
	defer i.mu.Unlock()
	return keys(i.exports[ref])
}

// inPartition returns the slices that have to hear of a partition.
func (i *interests) inPartition(partition controller.Key) []controller.Key {
	i.mu.Lock()
	defer i.mu.Unlock()
	return keys(i.partitions[partition])
}

// all returns all slices that are known.
func (i *interests) all() []controller.Key {
	i.mu.Lock()
	defer i.mu.Unlock()
	return keys(i.of)
}

func add[K comparable](index map[K]map[controller.Key]struct{}, in K, slice controller.Key) {
	var none K
	if in == none {
		return
	}
	if index[in] == nil {
		index[in] = map[controller.Key]struct{}{}
	}
	index[in][slice] = struct{}{}
}

func drop[K comparable](index map[K]map[controller.Key]struct{}, from K, slice controller.Key) {
	delete(index[from], slice)
	if len(index[from]) == 0 {
		delete(index, from)
	}
}

func keys[V any](of map[controller.Key]V) []controller.Key {
	all := make([]controller.Key, 0, len(of))
	for key := range of {
		all = append(all, key)
	}
	return all
}
