package resourcequota_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/kubernetes/pkg/apis/core"

	"github.com/forkless/kcp/internal/controllers/resourcequota"
	"github.com/forkless/kcp/internal/quota"
	"github.com/forkless/kcp/internal/storage"
	"github.com/forkless/kcp/internal/storage/cached"
	"github.com/forkless/kcp/pkg/logicalcluster"
)

var secrets = storage.Resource{GroupResource: schema.GroupResource{Resource: "secrets"}}

// recounts are the quotas that were counted anew.
type recounts chan quota.Key

func (r recounts) Recount(_ context.Context, key quota.Key) (time.Duration, error) {
	r <- key
	return 0, nil
}

// expect takes what has been counted and says if it is not what is wanted, in whatever
// order, each as often as it may have been asked for.
func (r recounts) expect(t *testing.T, why string, want ...quota.Key) {
	t.Helper()
	missing := map[quota.Key]bool{}
	for _, key := range want {
		missing[key] = true
	}
	for len(missing) > 0 {
		select {
		case key := <-r:
			delete(missing, key)
		case <-time.After(time.Minute):
			t.Fatalf("%s: %v were not counted anew", why, missing)
		}
	}
}

func objectMeta(cluster logicalcluster.Name, namespace, name, version string, age time.Duration) metav1.ObjectMeta {
	return metav1.ObjectMeta{
		Namespace: namespace, Name: name, ResourceVersion: version,
		CreationTimestamp: metav1.NewTime(time.Now().Add(-age)),
		Annotations:       map[string]string{logicalcluster.AnnotationKey: cluster.String()},
	}
}

func quotaFor(cluster logicalcluster.Name, namespace, version string, key core.ResourceName) *core.ResourceQuota {
	return &core.ResourceQuota{
		ObjectMeta: objectMeta(cluster, namespace, "q", version, time.Hour),
		Spec:       core.ResourceQuotaSpec{Hard: core.ResourceList{key: resource.MustParse("5")}},
	}
}

func secret(cluster logicalcluster.Name, namespace string, age time.Duration) *core.Secret {
	return &core.Secret{ObjectMeta: objectMeta(cluster, namespace, "s", "9", age)}
}

func TestListener(t *testing.T) {
	one, two := logicalcluster.MustParseName("one"), logicalcluster.MustParseName("two")
	inOne, inTwo := quota.Key{Cluster: one, Namespace: "ns", Name: "q"}, quota.Key{Cluster: two, Namespace: "ns", Name: "q"}
	counted := make(recounts, 100)
	controller := resourcequota.New(counted)
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() { controller.Run(ctx) })
	defer running.Wait()
	defer cancel()
	ledger := quota.NewLedger(nil, nil, func(quota.Key) {})
	l := resourcequota.NewListener(ledger, controller)

	l.Began(cached.ResourceQuotas)
	l.Changed(cached.ResourceQuotas, quotaFor(one, "ns", "5", "count/secrets"))
	l.Changed(cached.ResourceQuotas, quotaFor(two, "ns", "6", "count/secrets"))
	l.Changed(cached.ResourceQuotas, quotaFor(two, "other", "7", "count/configmaps"))
	l.Synced(cached.ResourceQuotas)
	counted.expect(t, "quotas that are new", inOne, inTwo, quota.Key{Cluster: two, Namespace: "other", Name: "q"})

	l.Gone(secrets, secret(one, "ns", time.Hour))
	counted.expect(t, "an object of one is gone", inOne)
	l.Changed(secrets, secret(two, "ns", time.Second))
	counted.expect(t, "an object of the other is new", inTwo)
	l.Synced(secrets)
	counted.expect(t, "objects may have gone unheard", inOne, inTwo)
	l.Closed(secrets)
	counted.expect(t, "objects may go unheard from now on", inOne, inTwo)

	// None of these concerns a quota; the last event does, and comes behind them.
	l.Changed(secrets, secret(one, "ns", time.Hour))
	l.Changed(cached.ResourceQuotas, quotaFor(one, "ns", "5", "count/secrets"))
	l.Gone(secrets, secret(one, "other", time.Hour))
	l.Gone(cached.Namespaces, &core.Namespace{ObjectMeta: objectMeta(one, "", "ns", "9", time.Hour)})
	l.Gone(cached.ResourceQuotas, quotaFor(one, "ns", "5", "count/secrets"))
	l.Gone(secrets, secret(one, "ns", time.Hour))
	l.Gone(secrets, secret(two, "ns", time.Hour))
	counted.expect(t, "an object is gone", inTwo)
	if len(counted) > 0 {
		t.Errorf("%v was counted anew, of which nothing has changed", <-counted)
	}
}
