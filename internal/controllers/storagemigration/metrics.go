package storagemigration

import (
	"sync"

	"k8s.io/component-base/metrics"
	"k8s.io/component-base/metrics/legacyregistry"
)

// What may become of an object.
const (
	resultMigrated      = "migrated"
	resultFailed        = "failed"
	resultUnconvertible = "unconvertible"
)

// objects counts the objects of all workspaces together.
var objects = metrics.NewCounterVec(&metrics.CounterOpts{
	Name:           "kcp_storage_migration_objects_total",
	Help:           "Objects of bound APIs that were to be stored in another version, by result: migrated, failed (tried again later), unconvertible.",
	StabilityLevel: metrics.ALPHA,
}, []string{"result"})

var register = sync.OnceFunc(func() { legacyregistry.MustRegister(objects) })
