package apibinding

import (
	"context"
	"errors"
	"sync"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/utils/clock"

	"github.com/forkless/kcp/internal/controller"
	"github.com/forkless/kcp/internal/storage"
	apisv1alpha2 "github.com/forkless/kcp/pkg/apis/apis/v1alpha2"
	"github.com/forkless/kcp/pkg/logicalcluster"
)

// unusedFor is how old a definition has to be that is removed because nothing refers to it.
const unusedFor = 30 * time.Minute

// collector removes bound definitions that nothing refers to.
type collector struct {
	definitions interface {
		Get(ctx context.Context, cluster logicalcluster.Name, name string) (*apiextensionsv1.CustomResourceDefinition, error)
		Delete(ctx context.Context, cluster logicalcluster.Name, crd *apiextensionsv1.CustomResourceDefinition) error
	}
	index *index
	clock clock.PassiveClock
	// deleting is held for writing from the last look at who uses a definition to its end,
	// and for reading by whoever begins to use one.
	deleting sync.RWMutex
	// enqueue makes the controller look at a key, and synced is closed when it has looked
	// at all bindings once.
	enqueue func(controller.Key)
	synced  <-chan struct{}
}

// unused has a look taken at definitions that no binding refers to any more.
func (c *collector) unused(uids []string) {
	for _, uid := range uids {
		c.enqueue(controller.Key{Cluster: logicalcluster.BoundCRDs, Name: uid})
	}
}

// use notes what a binding is about to be, before that is written: what it refers to is not
// collected from now on. The write requires that it has not been until now.
func (c *collector) use(key controller.Key, b *apisv1alpha2.APIBinding) {
	c.deleting.RLock()
	unused := c.index.set(key, b)
	c.deleting.RUnlock()
	c.unused(unused)
}

// collect removes a bound definition that nothing refers to. Bindings that refer to one that
// is missing all the same are looked at: their schemas are there.
func (c *collector) collect(ctx context.Context, key controller.Key) error {
	crd, err := c.definitions.Get(ctx, key.Cluster, key.Name)
	if apierrors.IsNotFound(err) {
		for _, user := range c.index.using(key.Name) {
			c.enqueue(user)
		}
		return nil
	}
	if err != nil {
		return err
	}
	c.deleting.Lock()
	defer c.deleting.Unlock()
	if c.index.used(key.Name) {
		return nil
	}
	select {
	case <-c.synced:
	default:
		// Not all bindings are known yet.
		return controller.After(unusedFor)
	}
	if age := c.clock.Since(crd.CreationTimestamp.Time); age < unusedFor {
		return controller.After(unusedFor - age)
	}
	err = c.definitions.Delete(ctx, key.Cluster, crd)
	if errors.Is(err, storage.ErrBatchConflict) {
		return nil
	}
	return err
}
