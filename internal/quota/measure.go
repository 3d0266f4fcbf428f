package quota

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/admission"
	quota "k8s.io/apiserver/pkg/quota/v1"
	"k8s.io/apiserver/pkg/quota/v1/generic"
	"k8s.io/kubernetes/pkg/apis/core"
	evaluators "k8s.io/kubernetes/pkg/quota/v1/evaluator/core"
	"k8s.io/utils/clock"
)

// Measures are how objects are measured of which more counts than that they are there.
type Measures map[schema.GroupResource]quota.Evaluator

// Workloads are upstream's measures of what pods, services and claims ask for. They are
// given objects, and never look for any.
func Workloads() Measures {
	controllers := schema.GroupResource{Resource: "replicationcontrollers"}
	measures := Measures{}
	for _, evaluator := range []quota.Evaluator{
		evaluators.NewPodEvaluator(nil, clock.RealClock{}),
		evaluators.NewServiceEvaluator(nil),
		evaluators.NewPersistentVolumeClaimEvaluator(nil),
		// These have an older name, which does not exist where they do not.
		generic.NewObjectCountEvaluator(controllers, nil, corev1.ResourceReplicationControllers),
	} {
		measures[evaluator.GroupResource()] = evaluator
	}
	return measures
}

// of returns how objects of a resource are measured or, if only their number counts,
// upstream's way to count them.
func (m Measures) of(resource schema.GroupResource) quota.Evaluator {
	if evaluator := m[resource]; evaluator != nil {
		return evaluator
	}
	return evaluator(resource)
}

// counts says whether a quota counts objects of a resource, by what it says now or by
// what it should say.
func (m Measures) counts(q *corev1.ResourceQuota, resource schema.GroupResource) bool {
	measure := m[resource]
	if measure == nil {
		return counts(q, resource)
	}
	return len(measure.MatchingResources(quota.ResourceNames(q.Spec.Hard))) > 0 ||
		len(measure.MatchingResources(quota.ResourceNames(q.Status.Hard))) > 0
}

// concerns says whether a request may use more of quotas: it creates an object or, where
// they are measured, changes what upstream looks at.
func (m Measures) concerns(a admission.Attributes) bool {
	if measure := m[a.GetResource().GroupResource()]; measure != nil {
		return measure.Handles(a)
	}
	return a.GetOperation() == admission.Create && a.GetSubresource() == ""
}

// Measured says whether more counts of objects of a resource than that they are there, so
// that a change of one may change what is used.
func (l *Ledger) Measured(resource schema.GroupResource) bool { return l.measures[resource] != nil }

// measured adds to used what objects use of the limits that somebody measures. again is as
// for Recount.
func (l *Ledger) measured(ctx context.Context, at place, q *corev1.ResourceQuota, used corev1.ResourceList) (again time.Duration, err error) {
	limits := quota.ResourceNames(q.Spec.Hard)
	for resource, measure := range l.measures {
		names := measure.MatchingResources(limits)
		if len(names) == 0 {
			continue
		}
		sum, look, err := l.weigh(ctx, at, measure, q)
		if err != nil {
			return 0, fmt.Errorf("measuring %s: %w", resource, err)
		}
		again = sooner(again, look)
		for _, name := range names {
			total, ok := used[name]
			if !ok {
				total = none()
			}
			total.Add(sum[name])
			used[name] = total
		}
	}
	return again, nil
}

// weigh returns what objects of a resource use of the limits of a quota, with those that
// are about to be, and as those will be that are about to change.
func (l *Ledger) weigh(ctx context.Context, at place, measure quota.Evaluator, q *corev1.ResourceQuota) (corev1.ResourceList, time.Duration, error) {
	resource := measure.GroupResource()
	expected := l.expected(at, resource)
	stored, revision, err := l.store.List(ctx, at.cluster, at.namespace, resource)
	if err != nil {
		return nil, 0, err
	}
	versions := make(map[Object]string, len(stored))
	var again time.Duration
	for _, object := range stored {
		accessor, err := meta.Accessor(object)
		if err != nil {
			return nil, 0, err
		}
		versions[Object{accessor.GetNamespace(), accessor.GetName()}] = accessor.GetResourceVersion()
		again = sooner(again, ends(object, time.Now()))
	}
	seen := make([]sight, len(expected))
	for i, p := range expected {
		version, found := versions[p.Object]
		seen[i] = sight{found: found, version: version}
	}
	open, look := l.open(at.cluster, expected, seen, revision)
	sum, err := weight(measure, q, stored, open)
	return sum, sooner(again, look), err
}

// weight returns what objects use of the limits of a quota. Of an object that may be stored
// in several forms that counts which is most, for each limit.
func weight(measure quota.Evaluator, q *corev1.ResourceQuota, stored []runtime.Object, open []*pending) (corev1.ResourceList, error) {
	// Upstream looks at the limits that are in force.
	limits := &corev1.ResourceQuota{Spec: q.Spec, Status: corev1.ResourceQuotaStatus{Hard: q.Spec.Hard}}
	uses := func(object runtime.Object) (corev1.ResourceList, error) {
		if matches, err := measure.Matches(limits, object); err != nil || !matches {
			return nil, err
		}
		return measure.Usage(object)
	}
	forms := map[Object]corev1.ResourceList{}
	for _, p := range open {
		use, err := uses(p.object)
		if err != nil {
			return nil, err
		}
		forms[p.Object] = quota.Max(forms[p.Object], use)
	}
	sum := corev1.ResourceList{}
	for _, object := range stored {
		use, err := uses(object)
		if err != nil {
			return nil, err
		}
		if len(forms) > 0 {
			accessor, err := meta.Accessor(object)
			if err != nil {
				return nil, err
			}
			name := Object{accessor.GetNamespace(), accessor.GetName()}
			use = quota.Max(use, forms[name])
			delete(forms, name)
		}
		sum = quota.Add(sum, use)
	}
	for _, use := range forms {
		sum = quota.Add(sum, use)
	}
	return sum, nil
}

// ends returns after which time an object uses less by itself, 0 for never: a pod that is
// not gone when its time is over counts no more.
func ends(object runtime.Object, now time.Time) time.Duration {
	pod, ok := object.(*core.Pod)
	if !ok || pod.DeletionTimestamp == nil || pod.DeletionGracePeriodSeconds == nil {
		return 0
	}
	grace := time.Duration(*pod.DeletionGracePeriodSeconds) * time.Second
	return max(0, pod.DeletionTimestamp.Add(grace).Sub(now)+time.Millisecond)
}

// sooner returns the shorter of two times, of which 0 is never.
func sooner(a, b time.Duration) time.Duration {
	if a == 0 || b != 0 && b < a {
		return b
	}
	return a
}

// none is the quantity of what nobody uses.
func none() resource.Quantity { return *resource.NewQuantity(0, resource.DecimalSI) }
