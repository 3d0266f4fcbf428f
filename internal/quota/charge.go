package quota

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/admission/plugin/resourcequota"
	quota "k8s.io/apiserver/pkg/quota/v1"

	"github.com/forkless/kcp/pkg/logicalcluster"
)

const (
	// maxTogether is how many requests are charged in one transaction at most.
	maxTogether = 50
	// maxWritten is how many quotas fit into one.
	maxWritten = 100
	// attempts is how often a write is tried while others change the same quotas.
	attempts = 10
	// writeTimeout bounds how long those wait who are charged.
	writeTimeout = 10 * time.Second
)

// charge is an object that is to be created, and what became of it.
type charge struct {
	ctx        context.Context
	attributes admission.Attributes
	object     *pending
	// settled says that err is the answer.
	settled bool
	err     error
}

func (c *charge) settle(err error) { c.settled, c.err = true, err }

// Charge charges an object that is about to be created, or to be changed if it is measured,
// to the quotas that count it, or returns the Status with which it is refused. The object
// counts until ctx, that of the request, has ended without its being stored. Dry runs are
// checked and not charged.
func (l *Ledger) Charge(ctx context.Context, cluster logicalcluster.Name, a admission.Attributes) error {
	resource := a.GetResource().GroupResource()
	if !Counted(resource) || Exempt(resource, a.GetName()) || a.GetOperation() != admission.Create && !l.Measured(resource) {
		return nil
	}
	if err := l.wait(ctx); err != nil {
		return apierrors.NewServiceUnavailable(err.Error())
	}
	object := Object{namespaceOf(a), a.GetName()}
	if len(l.Counting(cluster, object.Namespace, resource)) == 0 || !l.measures.concerns(a) {
		return nil
	}
	p, err := l.pendingOf(a, object)
	if err != nil {
		return apierrors.NewInternalError(err)
	}
	c := &charge{ctx: ctx, attributes: a, object: p}
	l.take(cluster, &turn{charge: c}, func(together []*turn) {
		charges := make([]*charge, len(together))
		for i, t := range together {
			charges[i] = t.charge
		}
		l.chargeAll(cluster, charges)
	})
	if !c.settled {
		return apierrors.NewInternalError(errUnsettled)
	}
	return c.err
}

// take works when it is the turn of t, unless somebody else has done its work.
func (l *Ledger) take(cluster logicalcluster.Name, t *turn, work func(together []*turn)) {
	together, done := l.enter(cluster, t)
	if done {
		return
	}
	defer l.leave(cluster, together)
	work(together)
}

// namespaceOf returns the namespace that an object is to be created in. Namespaces are in
// none, though their requests may name one.
func namespaceOf(a admission.Attributes) string {
	if a.GetResource().GroupResource() == (schema.GroupResource{Resource: "namespaces"}) {
		return ""
	}
	return a.GetNamespace()
}

// chargeAll settles charges of one cluster.
func (l *Ledger) chargeAll(cluster logicalcluster.Name, charges []*charge) {
	ctx, cancel := context.WithTimeout(context.Background(), writeTimeout)
	defer cancel()
	recounted := false
	for range attempts {
		r := l.running(cluster, charges)
		if unknown := r.withoutUsage(); len(unknown) > 0 && l.recountAll(ctx, unknown) {
			continue
		}
		refusing := r.admit(charges, l.measures)
		// Something may have been removed that the quotas do not know of yet.
		if len(refusing) > 0 && !recounted {
			recounted = true
			if l.recountAll(ctx, refusing) {
				continue
			}
		}
		r.settleUncharged(charges)
		if l.write(ctx, cluster, r.changed(), charges) {
			return
		}
	}
	for _, c := range charges {
		if !c.settled {
			c.settle(apierrors.NewConflict(quotaResource, "", errBusy))
		}
	}
}

// write writes what the charges that are not settled have changed, and settles them. It
// returns false if the quotas are not what they were thought to be, and have been read.
func (l *Ledger) write(ctx context.Context, cluster logicalcluster.Name, changed []*corev1.ResourceQuota, charges []*charge) bool {
	if len(changed) == 0 {
		return true
	}
	open := slices.DeleteFunc(slices.Clone(charges), func(c *charge) bool { return c.settled })
	for _, c := range open {
		// Before it is in the quota: who counts the quota anew must know of it.
		l.expect(cluster, c.object)
	}
	var err error
	for part := range slices.Chunk(changed, maxWritten) {
		if err = l.store.UpdateStatus(ctx, cluster, part...); err != nil {
			break
		}
		l.learn(cluster, part...)
	}
	if err == nil {
		for _, c := range open {
			c.settle(nil)
			l.follow(c.ctx, cluster, c.object)
		}
		return true
	}
	for _, c := range open {
		l.unexpect(cluster, c.object)
	}
	// Some may have been written, or all: nobody knows.
	for _, q := range changed {
		l.ended(Key{cluster, q.Namespace, q.Name})
	}
	if apierrors.IsConflict(err) || apierrors.IsNotFound(err) {
		err = l.refresh(ctx, cluster, changed)
	}
	if err == nil {
		return false
	}
	for _, c := range open {
		c.settle(apierrors.NewInternalError(fmt.Errorf("charging resource quotas: %w", err)))
	}
	return true
}

// refresh reads quotas.
func (l *Ledger) refresh(ctx context.Context, cluster logicalcluster.Name, quotas []*corev1.ResourceQuota) error {
	for _, q := range quotas {
		stored, err := l.store.Get(ctx, cluster, q.Namespace, q.Name)
		switch {
		case apierrors.IsNotFound(err):
			l.Gone(cluster, q)
		case err != nil:
			return fmt.Errorf("reading resource quota %s: %w", q.Name, err)
		default:
			l.Hear(cluster, stored)
		}
	}
	return nil
}

// learn notes quotas as they have been written.
func (l *Ledger) learn(cluster logicalcluster.Name, quotas ...*corev1.ResourceQuota) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, q := range quotas {
		l.book.update(Key{cluster, q.Namespace, q.Name}, q)
	}
}

// running are quotas with what is being charged to them.
type running struct {
	before, now map[Key]*corev1.ResourceQuota
	// of are the quotas that a namespace counts for, by name.
	of map[string][]Key
}

// running returns the quotas that count for charges, as they are known.
func (l *Ledger) running(cluster logicalcluster.Name, charges []*charge) *running {
	r := &running{before: map[Key]*corev1.ResourceQuota{}, now: map[Key]*corev1.ResourceQuota{}, of: map[string][]Key{}}
	l.mu.RLock()
	defer l.mu.RUnlock()
	for _, c := range charges {
		if _, ok := r.of[c.object.Namespace]; ok {
			continue
		}
		keys := []Key{}
		l.book.each(cluster, c.object.Namespace, func(key Key, q *corev1.ResourceQuota) {
			keys = append(keys, key)
			r.before[key] = q
			if r.now[key] == nil {
				r.now[key] = q
			}
		})
		r.of[c.object.Namespace] = keys
	}
	return r
}

// withoutUsage returns the quotas whose status does not say yet what is used of what they
// limit.
func (r *running) withoutUsage() []Key {
	var keys []Key
	for key, q := range r.before {
		if !apiequality.Semantic.DeepEqual(q.Spec.Hard, q.Status.Hard) {
			keys = append(keys, key)
		}
	}
	return keys
}

// admit checks the charges that are not settled against the quotas, one after the other,
// and adds those that fit. It returns the quotas of those that do not, whose err says
// why.
func (r *running) admit(charges []*charge, measures Measures) (refusing []Key) {
	for _, c := range charges {
		if c.settled {
			continue
		}
		keys := r.of[c.object.Namespace]
		quotas := make([]corev1.ResourceQuota, len(keys))
		for i, key := range keys {
			quotas[i] = *r.now[key]
		}
		c.object.quotas = nil
		var charged []corev1.ResourceQuota
		charged, c.err = resourcequota.CheckRequest(quotas, c.attributes, measures.of(c.object.resource), nil)
		if c.err != nil {
			refusing = append(refusing, keys...)
			continue
		}
		if c.attributes.IsDryRun() {
			continue
		}
		for i, key := range keys {
			if !quota.Equals(quotas[i].Status.Used, charged[i].Status.Used) {
				c.object.quotas = append(c.object.quotas, key)
				r.now[key] = &charged[i]
			}
		}
	}
	return refusing
}

// settleUncharged settles the charges for which nothing has to be written.
func (r *running) settleUncharged(charges []*charge) {
	for _, c := range charges {
		if !c.settled && (c.err != nil || len(c.object.quotas) == 0) {
			c.settle(c.err)
		}
	}
}

// changed returns the quotas to which something was charged, in order.
func (r *running) changed() []*corev1.ResourceQuota {
	var changed []*corev1.ResourceQuota
	for key, q := range r.now {
		if q != r.before[key] {
			changed = append(changed, q)
		}
	}
	slices.SortFunc(changed, func(a, b *corev1.ResourceQuota) int {
		return strings.Compare(a.Namespace+"/"+a.Name, b.Namespace+"/"+b.Name)
	})
	return changed
}
