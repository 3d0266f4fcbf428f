package storage

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/forkless/kcp/pkg/logicalcluster"
)

// Limit returns how many objects a cluster may hold for the sake of one that is to be
// created in it; limited is false if that one is not held to any number.
type Limit func(ctx context.Context, cluster logicalcluster.Name, resource schema.GroupResource, name string) (limit int64, limited bool, err error)

// Observe is told what became of a single object that was to be created: it is stored
// since revision, or, if that is 0, it is not and never will be. Of a write whose outcome
// is unknown it is not told.
type Observe func(cluster logicalcluster.Name, resource schema.GroupResource, object ObjectName, revision int64)

// ObserveCreates makes the layer tell observe before the creator knows. It is called
// before the layer is used.
func (l *Layer) ObserveCreates(observe Observe) { l.counter.observe = observe }

// LimitReached says that a cluster holds as many objects as it may.
type LimitReached struct {
	Cluster      logicalcluster.Name
	Count, Limit int64

	// resource and name are those of the object that was not created.
	resource schema.GroupResource
	name     string
}

// Error is what users read.
func (e LimitReached) Error() string {
	return fmt.Sprintf("logical cluster %q has reached its total object count limit (%d/%d objects); delete objects to free up capacity",
		e.Cluster, e.Count, e.Limit)
}

// LimitObjects makes the layer ask limit before it creates a single object, and refuse
// what is beyond. Batches are not asked about: they are the server's own. It is called
// before the layer is used.
func (l *Layer) LimitObjects(limit Limit) { l.counter.limit = limit }
