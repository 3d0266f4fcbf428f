package controller

import (
	"hash/maphash"
	"sync"

	"github.com/forkless/kcp/pkg/logicalcluster"
)

const lockCount = 64

// ClusterLocks keep those apart who decide about the same cluster. However many clusters
// there are, it is a fixed number of locks: some clusters wait for each other.
type ClusterLocks struct {
	seed  maphash.Seed
	locks [lockCount]sync.Mutex
}

// NewClusterLocks returns locks that nobody holds.
func NewClusterLocks() *ClusterLocks { return &ClusterLocks{seed: maphash.MakeSeed()} }

// Lock waits until nobody else decides about cluster, and returns what ends the caller's
// turn. A caller takes one lock at a time.
func (l *ClusterLocks) Lock(cluster logicalcluster.Name) (unlock func()) {
	lock := &l.locks[maphash.Comparable(l.seed, cluster)%lockCount]
	lock.Lock()
	return lock.Unlock
}
