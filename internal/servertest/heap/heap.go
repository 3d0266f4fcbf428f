// Package heap says what tests and benchmarks of memory measure: the bytes that are in use
// when everything is gone that nobody can reach.
package heap

import "runtime"

// InUse collects garbage and returns how many bytes are in use then. The number is signed,
// since less may be in use than before.
func InUse() int64 {
	// What has a finalizer, and what is in pools, goes with the second collection.
	runtime.GC()
	runtime.GC()
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return int64(stats.HeapAlloc) //nolint:gosec // because no heap has so many bytes
}
