package apibinding

import (
	"context"
	"errors"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/utils/clock"

	"github.com/forkless/kcp/internal/controller"
	"github.com/forkless/kcp/internal/storage"
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

// collect removes a bound definition that nothing refers to. A binding that refers to it in
// the same moment finds it missing, and stores it again: its schema is there.
func (c *collector) collect(ctx context.Context, key controller.Key) error {
	crd, err := c.definitions.Get(ctx, key.Cluster, key.Name)
	if apierrors.IsNotFound(err) {
		for _, user := range c.index.using(key.Name) {
			c.enqueue(user)
		}
		return nil
	}
	if err != nil || c.index.used(key.Name) {
		return err
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
