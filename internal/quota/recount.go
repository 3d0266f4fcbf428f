package quota

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/forkless/kcp/config/rbac"
)

var (
	quotaResource = schema.GroupResource{Resource: "resourcequotas"}
	errBusy       = errors.New("others change the quotas of the workspace all the time; please try again")
	errUnsettled  = errors.New("quotas could not be evaluated")
)

// Recount makes the status of a quota what it should be: its limits those of the
// specification, its usage what there is. again is when to do it again because something
// may or may not be stored yet, 0 if there is no need.
func (l *Ledger) Recount(ctx context.Context, key Key) (again time.Duration, err error) {
	ctx, cancel := context.WithTimeout(ctx, writeTimeout)
	defer cancel()
	l.take(key.Cluster, &turn{}, func([]*turn) { _, again, err = l.recount(ctx, key) })
	return again, err
}

// recountAll counts quotas anew and says whether that has changed any.
func (l *Ledger) recountAll(ctx context.Context, keys []Key) bool {
	changed := false
	slices.SortFunc(keys, compareKeys)
	for _, key := range slices.Compact(keys) {
		// What cannot be counted is as it was.
		c, _, err := l.recount(ctx, key)
		changed = changed || err == nil && c
	}
	return changed
}

// recount is Recount for those whose turn it is.
func (l *Ledger) recount(ctx context.Context, key Key) (changed bool, again time.Duration, err error) {
	for range attempts {
		changed, again, err = l.recountOnce(ctx, key)
		if !apierrors.IsConflict(err) {
			break
		}
	}
	return changed, again, err
}

func (l *Ledger) recountOnce(ctx context.Context, key Key) (changed bool, again time.Duration, err error) {
	q, err := l.store.Get(ctx, key.Cluster, key.Namespace, key.Name)
	if apierrors.IsNotFound(err) {
		return false, 0, nil
	}
	if err != nil {
		return false, 0, fmt.Errorf("reading resource quota %s: %w", key.Name, err)
	}
	used, again, err := l.usage(ctx, placeOf(key.Cluster, q), q)
	if err != nil {
		return false, 0, err
	}
	sameLimits := apiequality.Semantic.DeepEqual(q.Spec.Hard, q.Status.Hard)
	if sameLimits && apiequality.Semantic.DeepEqual(used, q.Status.Used) {
		l.learn(key.Cluster, q)
		return false, again, nil
	}
	if !sameLimits {
		// Requests that came before they were known have not been charged.
		again = settles
	}
	q.Status = corev1.ResourceQuotaStatus{Hard: q.Spec.DeepCopy().Hard, Used: used}
	if err := l.store.UpdateStatus(ctx, key.Cluster, q); err != nil {
		return false, 0, err
	}
	l.learn(key.Cluster, q)
	return true, again, nil
}

// usage returns how much there is of what a quota counts. With scopes it counts only what
// is measured: other objects are in none of those that Kubernetes has.
func (l *Ledger) usage(ctx context.Context, at place, q *corev1.ResourceQuota) (used corev1.ResourceList, again time.Duration, err error) {
	used = corev1.ResourceList{}
	if again, err = l.measured(ctx, at, q, used); err != nil {
		return nil, 0, err
	}
	scoped := len(q.Spec.Scopes) > 0 || q.Spec.ScopeSelector != nil && len(q.Spec.ScopeSelector.MatchExpressions) > 0
	for name := range q.Spec.Hard {
		if _, measured := used[name]; measured {
			continue
		}
		counted, ok := Resource(name)
		if !ok {
			continue
		}
		var n int64
		if !scoped {
			var look time.Duration
			if n, look, err = l.count(ctx, at, counted); err != nil {
				return nil, 0, fmt.Errorf("counting %s: %w", counted, err)
			}
			again = sooner(again, look)
		}
		used[name] = *resource.NewQuantity(n, resource.DecimalSI)
	}
	if len(used) == 0 {
		used = nil
	}
	return used, again, nil
}

// count returns how many objects of a resource there are at a place, with those that are
// about to be.
func (l *Ledger) count(ctx context.Context, at place, resource schema.GroupResource) (n int64, again time.Duration, err error) {
	expected := l.expected(at, resource)
	look := make([]Object, 0, len(expected)+1)
	for _, p := range expected {
		look = append(look, p.Object)
	}
	if resource == clusterRoleBindings {
		look = append(look, Object{Name: rbac.WorkspaceAdminBinding})
	}
	n, found, revision, err := l.store.Count(ctx, at.cluster, at.namespace, resource, look)
	if err != nil {
		return 0, 0, err
	}
	if resource == clusterRoleBindings && found[len(expected)] {
		n--
	}
	seen := make([]sight, len(expected))
	for i := range expected {
		seen[i].found = found[i]
	}
	open, again := l.open(at.cluster, expected, seen, revision)
	missing := map[Object]bool{}
	for _, p := range open {
		missing[p.Object] = true
	}
	return n + int64(len(missing)), again, nil
}

func compareKeys(a, b Key) int {
	for _, pair := range [][2]string{{a.Cluster.String(), b.Cluster.String()}, {a.Namespace, b.Namespace}, {a.Name, b.Name}} {
		if pair[0] != pair[1] {
			if pair[0] < pair[1] {
				return -1
			}
			return 1
		}
	}
	return 0
}
