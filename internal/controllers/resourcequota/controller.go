package resourcequota

import (
	"context"
	"time"

	"github.com/forkless/kcp/internal/controller"
	"github.com/forkless/kcp/internal/quota"
)

const workers = 4

// Ledger counts what quotas count.
type Ledger interface {
	// Recount brings the status of a quota up to date. again is when to look again, 0
	// for not at all.
	Recount(ctx context.Context, key quota.Key) (again time.Duration, err error)
}

// New returns the controller. It looks at the quotas that are enqueued: by a Listener,
// and by the ledger itself (Enqueue).
func New(ledger Ledger) *controller.Controller {
	return controller.New(controller.Options{
		Name:    "resourcequota",
		Workers: workers,
		Reconcile: func(ctx context.Context, key controller.Key) error {
			again, err := ledger.Recount(ctx, quota.Key{Cluster: key.Cluster, Namespace: key.Namespace, Name: key.Name})
			if err == nil && again > 0 {
				return controller.After(again)
			}
			return err
		},
	})
}

// Enqueue makes c count quotas anew.
func Enqueue(c *controller.Controller, keys ...quota.Key) {
	for _, key := range keys {
		c.Enqueue(controller.Key{Cluster: key.Cluster, Namespace: key.Namespace, Name: key.Name})
	}
}
