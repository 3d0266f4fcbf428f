package quota

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/forkless/kcp/config/rbac"
)

// known stores a quota, tells the ledger and has it counted.
func known(t *testing.T, m *memory, l *Ledger, q *corev1.ResourceQuota) Key {
	t.Helper()
	key, news := l.Hear(one, m.put(one, q))
	if !news {
		t.Fatal("a new quota is no news")
	}
	if _, err := l.Recount(t.Context(), key); err != nil {
		t.Fatal(err)
	}
	return key
}

func limits(n int64) map[corev1.ResourceName]int64 {
	return map[corev1.ResourceName]int64{countSecrets: n}
}

func TestChargesComeTogether(t *testing.T) {
	m := newMemory()
	l, _ := ledger(t, m)
	known(t, m, l, quotaOf("ns", "q", limits(20)))
	before := m.writes
	// Nobody can begin before all are there.
	l.gates[one] = &gate{}
	var admitted atomic.Int64
	var wait sync.WaitGroup
	const requests = 40
	for i := range requests {
		wait.Go(func() {
			switch err := l.Charge(t.Context(), one, create(secrets, "ns", fmt.Sprint(i), false)); {
			case err == nil:
				admitted.Add(1)
			case !apierrors.IsForbidden(err):
				t.Errorf("got error %v, want Forbidden", err)
			}
		})
	}
	deadline := time.Now().Add(time.Minute)
	for waiting := 0; waiting < requests; {
		l.mu.Lock()
		waiting = len(l.gates[one].waiting)
		l.mu.Unlock()
		if time.Now().After(deadline) {
			t.Fatalf("%d of %d requests wait", waiting, requests)
		}
		runtime.Gosched()
	}
	l.leave(one, []*turn{{}})
	wait.Wait()
	if admitted.Load() != 20 || m.used(one, "ns", "q", countSecrets) != "20" {
		t.Errorf("%d were admitted, %s are used, want 20", admitted.Load(), m.used(one, "ns", "q", countSecrets))
	}
	if got := m.writes - before; got != 1 {
		t.Errorf("%d transactions for what came together, want 1", got)
	}
	if len(l.gates) != 0 {
		t.Error("something is kept of a cluster in which nobody works")
	}
}

func TestCharge(t *testing.T) {
	for name, c := range map[string]struct {
		reason   string
		resource schema.GroupResource
		object   Object
		dryRun   bool
		want     string
		used     string
	}{
		"Counts":     {reason: "what is created is used", resource: secrets, object: Object{"ns", "new"}, used: "2"},
		"DryRun":     {reason: "a dry run creates nothing", resource: secrets, object: Object{"ns", "new"}, dryRun: true, used: "1"},
		"Elsewhere":  {reason: "nor does what is created in another namespace", resource: secrets, object: Object{"other", "new"}, used: "1"},
		"OtherKind":  {reason: "nor an object of another resource", resource: widgets, object: Object{"ns", "new"}, used: "1"},
		"Full":       {reason: "the limit holds", resource: secrets, object: Object{"full", "new"}, want: "exceeded quota: q, requested: count/secrets=1, used: count/secrets=1, limited: count/secrets=1", used: "1"},
		"FullDryRun": {reason: "also for dry runs", resource: secrets, object: Object{"full", "new"}, dryRun: true, want: "exceeded quota", used: "1"},
	} {
		t.Run(name, func(t *testing.T) {
			m := newMemory()
			l, _ := ledger(t, m)
			for namespace, n := range map[string]int64{"ns": 5, "full": 1} {
				m.store(one, secrets, namespace, "old")
				known(t, m, l, quotaOf(namespace, "q", limits(n)))
			}
			err := l.Charge(t.Context(), one, create(c.resource, c.object.Namespace, c.object.Name, c.dryRun))
			if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
				t.Errorf("%s: got error %v, want %q", c.reason, err, c.want)
			}
			namespace := c.object.Namespace
			if namespace == "other" {
				namespace = "ns"
			}
			if got := m.used(one, namespace, "q", countSecrets); got != c.used {
				t.Errorf("%s: %s are used, want %s", c.reason, got, c.used)
			}
			if err := l.Charge(t.Context(), two, create(secrets, "full", "new", false)); err != nil {
				t.Errorf("another cluster has no quota, got error %v", err)
			}
		})
	}
}

// TestChargeOfWhatIsNotAsKnown: quotas that are not as the ledger knows them are read.
func TestChargeOfWhatIsNotAsKnown(t *testing.T) {
	m := newMemory()
	l, _ := ledger(t, m)
	known(t, m, l, quotaOf("ns", "q", limits(1)))
	changed, err := m.Get(t.Context(), one, "ns", "q")
	if err != nil {
		t.Fatal(err)
	}
	changed.Labels = map[string]string{"changed": "yes"}
	m.put(one, changed)
	if err := chargeSecret(t, l, "a"); err != nil {
		t.Errorf("somebody has changed the quota: %v", err)
	}
	m.store(one, secrets, "ns", "a")
	if err := chargeSecret(t, l, "b"); !apierrors.IsForbidden(err) {
		t.Errorf("got error %v, want Forbidden", err)
	}
	m.remove(one, secrets, "ns", "a")
	if err := chargeSecret(t, l, "c"); !apierrors.IsForbidden(err) {
		t.Errorf("what is pending still counts, got error %v", err)
	}

	// One that was made anew has no usage yet: it is counted before anything is charged.
	again := quotaOf("ns", "q", limits(1))
	again.UID = "another"
	m.store(one, secrets, "ns", "old")
	l.Hear(one, m.put(one, again))
	if err := chargeSecret(t, l, "d"); !apierrors.IsForbidden(err) {
		t.Errorf("got error %v, want Forbidden", err)
	}

	changed.Spec.Hard[countSecrets], changed.UID = resource.MustParse("100"), "another"
	l.Hear(one, m.put(one, changed))
	delete(m.quotas, Key{one, "ns", "q"})
	if err := chargeSecret(t, l, "e"); err != nil {
		t.Errorf("the quota is gone: %v", err)
	}
}

func chargeSecret(t *testing.T, l *Ledger, name string) error {
	t.Helper()
	return l.Charge(t.Context(), one, create(secrets, "ns", name, false))
}

func TestFailedWriteIsRefusedAndCountedAnew(t *testing.T) {
	m := newMemory()
	l, ended := ledger(t, m)
	key := known(t, m, l, quotaOf("ns", "q", limits(5)))
	m.fails = errors.New("broken")
	if err := chargeSecret(t, l, "a"); !apierrors.IsInternalError(err) {
		t.Errorf("got error %v, want an internal error", err)
	}
	if got := <-ended; got != key {
		t.Errorf("%v is to be counted anew, want %v", got, key)
	}
	if len(l.pending) != 0 {
		t.Error("an object is pending that was refused")
	}
}

// TestPending: what is charged counts until it is stored, or it is sure that it will not
// be.
func TestPending(t *testing.T) {
	m := newMemory()
	l, ended := ledger(t, m)
	key := known(t, m, l, quotaOf("ns", "q", limits(9)))
	recount := func(when, want string, wantAgain bool) {
		t.Helper()
		again, err := l.Recount(t.Context(), key)
		if err != nil {
			t.Fatal(err)
		}
		if got := m.used(one, "ns", "q", countSecrets); got != want || (again > 0) != wantAgain {
			t.Errorf("%s: %s are used, to be counted again in %s, want %s, again %t", when, got, again, want, wantAgain)
		}
	}
	countedAnew := func(why string) {
		t.Helper()
		select {
		case got := <-ended:
			if got != key {
				t.Errorf("%s: %v is to be counted anew, want %v", why, got, key)
			}
		case <-time.After(time.Minute):
			t.Errorf("%s: nothing is counted anew", why)
		}
	}
	settled := func(name string, revision int) {
		l.Settled(one, secrets, Object{"ns", name}, int64(revision))
	}
	ctx, end := context.WithCancel(t.Context())
	for _, name := range []string{"stored", "removed", "exists", "refused", "lost"} {
		if err := l.Charge(ctx, one, create(secrets, "ns", name, false)); err != nil {
			t.Fatal(err)
		}
	}
	recount("nothing is stored yet", "5", false)
	m.store(one, secrets, "ns", "stored")
	recount("one is, which the ledger has not heard", "5", false)
	settled("stored", m.revision)
	recount("nor does it make a difference when it has", "5", false)
	m.store(one, secrets, "ns", "removed")
	settled("removed", m.revision)
	m.remove(one, secrets, "ns", "removed")
	recount("one is stored and removed again", "4", false)
	settled("exists", 0)
	countedAnew("one was not stored")
	recount("one was not stored", "3", false)

	end()
	countedAnew("the requests have ended")
	countedAnew("the requests have ended")
	recount("two have not come to the store, or nobody knows", "3", true)
	m.store(one, secrets, "ns", "lost")
	recount("one of them was stored all the same", "3", true)
	for p := range l.pending[one] {
		p.ended = p.ended.Add(-settles)
	}
	recount("some time has passed", "2", false)
	if len(l.pending) != 0 {
		t.Error("something is pending for ever")
	}
}

// TestStoredWhileCounting: what is stored after the moment that is counted is added, and
// what was stored before it and is not there any more is not.
func TestStoredWhileCounting(t *testing.T) {
	l, _ := ledger(t, newMemory())
	before := &pending{Object: Object{"ns", "before"}, resource: secrets, stored: 5}
	after := &pending{Object: Object{"ns", "after"}, resource: secrets, stored: 7}
	never := &pending{Object: Object{"ns", "never"}, resource: secrets}
	open, again := l.open(one, []*pending{before, after, never}, make([]sight, 3), 6)
	if len(open) != 1 || open[0] != after || again != 0 {
		t.Errorf("%v are added, to be counted again in %s, want the one that was stored later", open, again)
	}
}

func TestQuotaOfTheCluster(t *testing.T) {
	m := newMemory()
	l, _ := ledger(t, m)
	all := quotaOf(ClusterScopedNamespace, "all", map[corev1.ResourceName]int64{
		countSecrets: 3, "count/widgets.example.com": 1, "count/clusterrolebindings.rbac.authorization.k8s.io": 1,
	})
	all.Annotations = map[string]string{ClusterScopedAnnotationKey: "true"}
	m.store(one, secrets, "a", "old")
	m.store(two, secrets, "a", "old")
	m.store(one, clusterRoleBindings, "", rbac.WorkspaceAdminBinding)
	known(t, m, l, all)
	if got := m.used(one, "admin", "all", "count/clusterrolebindings.rbac.authorization.k8s.io"); got != "0" {
		t.Errorf("%s bindings are used: that of the creator does not count", got)
	}
	for _, object := range []Object{{"a", "x"}, {"b", "x"}} {
		if err := l.Charge(t.Context(), one, create(secrets, object.Namespace, object.Name, false)); err != nil {
			t.Error(err)
		}
	}
	for _, a := range []struct {
		resource schema.GroupResource
		object   Object
		refused  bool
	}{
		{secrets, Object{"c", "x"}, true},
		{widgets, Object{"", "x"}, false},
		{widgets, Object{"", "y"}, true},
		{clusterRoleBindings, Object{"", "x"}, false},
		{clusterRoleBindings, Object{"", "y"}, true},
		{clusterRoleBindings, Object{"", rbac.WorkspaceAdminBinding}, false},
	} {
		err := l.Charge(t.Context(), one, create(a.resource, a.object.Namespace, a.object.Name, false))
		if apierrors.IsForbidden(err) != a.refused {
			t.Errorf("%s %v: got error %v, want refused %t", a.resource, a.object, err, a.refused)
		}
	}
	if got := m.used(one, "admin", "all", countSecrets); got != "3" {
		t.Errorf("%s are used, want 3", got)
	}
}

// TestHearing: what is older than what is known is no news, and what is not heard of
// again is gone.
func TestHearing(t *testing.T) {
	m := newMemory()
	l, _ := ledger(t, m)
	old := m.put(one, quotaOf("ns", "q", limits(1)))
	l.Hear(one, old)
	if _, err := l.Recount(t.Context(), Key{one, "ns", "q"}); err != nil {
		t.Fatal(err)
	}
	if _, news := l.Hear(one, old); news {
		t.Error("what was written since makes the older state no news")
	}
	current, err := m.Get(t.Context(), one, "ns", "q")
	if err != nil {
		t.Fatal(err)
	}
	if _, news := l.Hear(one, current); news {
		t.Error("what the ledger has written is no news")
	}
	again := quotaOf("ns", "q", limits(2))
	again.UID = "another"
	if _, news := l.Hear(one, m.put(one, again)); !news {
		t.Error("another quota of that name is news")
	}
	l.Gone(one, old)
	if len(l.Counting(one, "ns", secrets)) != 1 {
		t.Error("the older quota of that name is gone, not this one")
	}

	l.Hear(two, m.put(two, quotaOf("ns", "q", limits(1))))
	l.Began()
	l.Hear(one, m.put(one, again))
	l.Synced()
	if len(l.Counting(one, "ns", secrets)) != 1 || len(l.Counting(two, "ns", secrets)) != 0 {
		t.Error("after all was told anew there is what was told")
	}
	l.Gone(one, again)
	if b := l.book; len(b.quotas)+len(b.at)+len(b.clusters) != 0 {
		t.Errorf("something is kept of clusters without quotas: %+v", b)
	}
}

func TestNobodyIsChargedBeforeQuotasAreKnown(t *testing.T) {
	l := NewLedger(newMemory(), nil, func(Key) {})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := l.Charge(ctx, one, create(secrets, "ns", "a", false)); !apierrors.IsServiceUnavailable(err) {
		t.Errorf("got error %v, want that the service is not available yet", err)
	}
}

func TestResource(t *testing.T) {
	for key, want := range map[corev1.ResourceName]string{
		"count/secrets":                     "secrets",
		"count/widgets.example.com":         "widgets.example.com",
		"count/workspaces.tenancy.kcp.io":   "workspaces.tenancy.kcp.io",
		"configmaps":                        "configmaps",
		"secrets":                           "secrets",
		"resourcequotas":                    "resourcequotas",
		"pods":                              "",
		"services.nodeports":                "",
		"requests.cpu":                      "",
		"count/":                            "",
		"count/secrets/status":              "",
		"count/events":                      "",
		"count/events.events.k8s.io":        "",
		"count/logicalclusters.core.kcp.io": "",
		"count/tokenreviews.authentication.k8s.io": "",
	} {
		got := ""
		if resource, ok := Resource(key); ok {
			got = resource.String()
		}
		if got != want {
			t.Errorf("%s counts %q, want %q", key, got, want)
		}
	}
}

// BenchmarkNoQuota is what every create pays that no quota counts.
func BenchmarkNoQuota(b *testing.B) {
	m := newMemory()
	l := NewLedger(m, nil, func(Key) {})
	l.Synced()
	l.Hear(two, quotaOf("ns", "q", limits(1)))
	a := create(secrets, "ns", "a", false)
	b.ReportAllocs()
	for b.Loop() {
		if err := l.Charge(b.Context(), one, a); err != nil {
			b.Fatal(err)
		}
	}
}
