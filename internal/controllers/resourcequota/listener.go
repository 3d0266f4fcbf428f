package resourcequota

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/klog/v2"
	"k8s.io/kubernetes/pkg/apis/core"

	"github.com/forkless/kcp/internal/controller"
	"github.com/forkless/kcp/internal/quota"
	"github.com/forkless/kcp/internal/storage"
	"github.com/forkless/kcp/internal/storage/cached"
	"github.com/forkless/kcp/pkg/logicalcluster"
)

// Listener tells the ledger of quotas, and the controller of objects that quotas count.
// It is a controller.Listener.
type Listener struct {
	ledger     *quota.Ledger
	controller *controller.Controller
}

// NewListener returns a listener.
func NewListener(ledger *quota.Ledger, c *controller.Controller) *Listener {
	return &Listener{ledger: ledger, controller: c}
}

// Began tells the ledger that all quotas follow.
func (l *Listener) Began(resource storage.Resource) {
	if resource == cached.ResourceQuotas {
		l.ledger.Began()
	}
}

// isNew is how long objects are looked at as if they had just been created.
const isNew = time.Minute

// Changed tells the ledger how a quota is. It is counted anew unless the ledger knew, as
// it does of its own writes. So are those that count an object that is new: what the
// server creates by itself passes no admission, and nobody has charged it; and those that
// count a measured one, which may use less now.
func (l *Listener) Changed(resource storage.Resource, obj runtime.Object) {
	if cluster, q, ok := quotaOf(resource, obj); ok {
		if key, news := l.ledger.Hear(cluster, q); news {
			Enqueue(l.controller, key)
		}
	}
	if accessor, err := meta.Accessor(obj); err == nil &&
		(time.Since(accessor.GetCreationTimestamp().Time) < isNew || l.ledger.Measured(resource.GroupResource)) {
		l.counted(resource, accessor)
	}
}

// Gone makes the quotas that counted an object be counted anew.
func (l *Listener) Gone(resource storage.Resource, obj runtime.Object) {
	if cluster, q, ok := quotaOf(resource, obj); ok {
		l.ledger.Gone(cluster, q)
	}
	if accessor, err := meta.Accessor(obj); err == nil {
		l.counted(resource, accessor)
	}
}

// counted makes the quotas that count an object be counted anew.
func (l *Listener) counted(resource storage.Resource, object metav1.Object) {
	cluster := logicalcluster.FromAnnotations(object.GetAnnotations())
	Enqueue(l.controller, l.ledger.Counting(cluster, object.GetNamespace(), resource.GroupResource)...)
}

// Synced makes everything be counted anew of which something may have gone unheard.
func (l *Listener) Synced(resource storage.Resource) {
	if resource == cached.ResourceQuotas {
		l.ledger.Synced()
	}
	Enqueue(l.controller, l.ledger.CountingAny(resource.GroupResource)...)
}

// Closed does so when nothing more will be heard.
func (l *Listener) Closed(resource storage.Resource) {
	Enqueue(l.controller, l.ledger.CountingAny(resource.GroupResource)...)
}

// quotaOf returns a quota and the cluster it is in.
func quotaOf(resource storage.Resource, obj runtime.Object) (logicalcluster.Name, *corev1.ResourceQuota, bool) {
	if resource != cached.ResourceQuotas {
		return logicalcluster.Name{}, nil, false
	}
	stored, ok := obj.(*core.ResourceQuota)
	if !ok {
		return logicalcluster.Name{}, nil, false
	}
	q, err := cached.Quota(stored)
	if err != nil {
		klog.Background().Error(err, "reading a resource quota", "namespace", stored.Namespace, "name", stored.Name)
		return logicalcluster.Name{}, nil, false
	}
	return logicalcluster.FromAnnotations(stored.Annotations), q, true
}
