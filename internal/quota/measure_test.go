package quota

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/kubernetes/pkg/apis/core"
)

var (
	podResource     = schema.GroupResource{Resource: "pods"}
	serviceResource = schema.GroupResource{Resource: "services"}
)

// hold stores an object that is measured.
func (m *memory) hold(resource schema.GroupResource, name string, object runtime.Object) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.revision++
	m.measured[stored{one, resource, Object{"ns", name}}] = object
}

func metaOf(name, version string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Namespace: "ns", Name: name, ResourceVersion: version}
}

// podOf asks for some processors; it asks for nothing if that is empty.
func podOf(name, cpu string, change ...func(*core.Pod)) *core.Pod {
	p := &core.Pod{ObjectMeta: metaOf(name, "1"), Spec: core.PodSpec{Containers: []core.Container{{Name: "main"}}}}
	if cpu != "" {
		p.Spec.Containers[0].Resources.Requests = core.ResourceList{core.ResourceCPU: resource.MustParse(cpu)}
	}
	for _, f := range change {
		f(p)
	}
	return p
}

func serviceOf(name, version string, kind core.ServiceType, ports int) *core.Service {
	return &core.Service{ObjectMeta: metaOf(name, version), Spec: core.ServiceSpec{Type: kind, Ports: make([]core.ServicePort, ports)}}
}

func ended(p *core.Pod)      { p.Status.Phase = core.PodSucceeded }
func limited(p *core.Pod)    { p.Spec.ActiveDeadlineSeconds = new(int64(10)) }
func important(p *core.Pod)  { p.Spec.PriorityClassName = "important" }
func overdue(p *core.Pod)    { leaving(p, time.Now().Add(-time.Hour)) }
func inItsGrace(p *core.Pod) { leaving(p, time.Now()) }

func leaving(p *core.Pod, at time.Time) {
	p.DeletionTimestamp, p.DeletionGracePeriodSeconds = &metav1.Time{Time: at}, new(int64(30))
}

func TestMeasured(t *testing.T) {
	half := []runtime.Object{podOf("a", "500m"), podOf("b", "")}
	for name, c := range map[string]struct {
		reason  string
		limits  []corev1.ResourceName
		scopes  []corev1.ResourceQuotaScope
		class   string
		pods    []runtime.Object
		service []runtime.Object
		want    map[corev1.ResourceName]string
		again   bool
	}{
		"Sums": {
			reason: "what pods ask for is added up, for all names of it",
			limits: []corev1.ResourceName{"cpu", "requests.cpu", "requests.memory", "pods", "count/pods", "count/secrets", "example.com/odd"},
			pods:   half,
			want: map[corev1.ResourceName]string{
				"cpu": "500m", "requests.cpu": "500m", "requests.memory": "0", "pods": "2", "count/pods": "2", "count/secrets": "0",
			},
		},
		"Ended": {
			reason: "a pod that has ended is there, and uses nothing",
			limits: []corev1.ResourceName{"cpu", "pods", "count/pods"},
			pods:   []runtime.Object{podOf("a", "1", ended), podOf("b", "1", overdue)},
			want:   map[corev1.ResourceName]string{"cpu": "0", "pods": "0", "count/pods": "2"},
		},
		"Grace": {
			reason: "one that is going counts until its time is over, and then it is looked at again",
			limits: []corev1.ResourceName{"pods"},
			pods:   []runtime.Object{podOf("a", "1", inItsGrace)},
			want:   map[corev1.ResourceName]string{"pods": "1"},
			again:  true,
		},
		"Terminating": {
			reason: "a scope picks pods",
			limits: []corev1.ResourceName{"pods"},
			scopes: []corev1.ResourceQuotaScope{corev1.ResourceQuotaScopeTerminating},
			pods:   []runtime.Object{podOf("a", "1", limited), podOf("b", "1")},
			want:   map[corev1.ResourceName]string{"pods": "1"},
		},
		"BestEffort": {
			reason: "and another picks others",
			limits: []corev1.ResourceName{"pods"},
			scopes: []corev1.ResourceQuotaScope{corev1.ResourceQuotaScopeBestEffort},
			pods:   half,
			want:   map[corev1.ResourceName]string{"pods": "1"},
		},
		"Class": {
			reason: "classes of priority are scopes with values",
			limits: []corev1.ResourceName{"cpu"},
			class:  "important",
			pods:   []runtime.Object{podOf("a", "1", important), podOf("b", "2")},
			want:   map[corev1.ResourceName]string{"cpu": "1"},
		},
		"Ports": {
			reason:  "a service uses as many ports on nodes as it has ports, if it has any there",
			limits:  []corev1.ResourceName{"services", "services.nodeports", "services.loadbalancers"},
			service: []runtime.Object{serviceOf("a", "1", core.ServiceTypeNodePort, 2), serviceOf("b", "1", core.ServiceTypeClusterIP, 2)},
			want:    map[corev1.ResourceName]string{"services": "2", "services.nodeports": "2", "services.loadbalancers": "0"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			m := newMemory()
			l, _ := ledger(t, m)
			for i, p := range c.pods {
				m.hold(podResource, fmt.Sprint(i), p)
			}
			for i, s := range c.service {
				m.hold(serviceResource, fmt.Sprint(i), s)
			}
			q := quotaOf("ns", "q", nil)
			q.Spec.Scopes = c.scopes
			if c.class != "" {
				q.Spec.ScopeSelector = &corev1.ScopeSelector{MatchExpressions: []corev1.ScopedResourceSelectorRequirement{{
					ScopeName: corev1.ResourceQuotaScopePriorityClass, Operator: corev1.ScopeSelectorOpIn, Values: []string{c.class},
				}}}
			}
			for _, key := range c.limits {
				q.Spec.Hard[key] = resource.MustParse("100")
			}
			used, again, err := l.usage(t.Context(), placeOf(one, q), q)
			if err != nil {
				t.Fatal(err)
			}
			got := map[corev1.ResourceName]string{}
			for key, quantity := range used {
				got[key] = quantity.String()
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("%s: -want +got\n%s", c.reason, diff)
			}
			if (again > 0) != c.again {
				t.Errorf("%s: again after %s, want some time: %t", c.reason, again, c.again)
			}
		})
	}
}

// request are the attributes of one that stores an object in place of old, or creates it.
func request(resource schema.GroupResource, object, old runtime.Object, name string) admission.Attributes {
	operation := admission.Create
	if old != nil {
		operation = admission.Update
	}
	return admission.NewAttributesRecord(object, old, schema.GroupVersionKind{Version: "v1", Kind: "Kind"},
		"ns", name, resource.WithVersion("v1"), "", operation, nil, false, nil)
}

// TestMeasuredTogether: however many pods come at the same time, no more get through than
// there is room for what they ask for, and no less.
func TestMeasuredTogether(t *testing.T) {
	m := newMemory()
	l, _ := ledger(t, m)
	q := quotaOf("ns", "q", nil)
	q.Spec.Hard["requests.cpu"] = resource.MustParse("1")
	known(t, m, l, q)
	var passed atomic.Int32
	var group sync.WaitGroup
	for i := range 20 {
		group.Go(func() {
			name := fmt.Sprint(i)
			err := l.Charge(t.Context(), one, request(podResource, podOf(name, "300m"), nil, name))
			switch {
			case err == nil:
				passed.Add(1)
			case !apierrors.IsForbidden(err):
				t.Error(err)
			}
		})
	}
	group.Wait()
	if got := passed.Load(); got != 3 {
		t.Errorf("%d pods of 300m have passed, want 3", got)
	}
	if err := l.Charge(t.Context(), one, request(podResource, podOf("none", ""), nil, "none")); !apierrors.IsForbidden(err) {
		t.Errorf("a pod that does not say what it asks for: %v", err)
	}
}

// TestMeasuredChange: a change that may be stored yet counts for the most that the object
// may be, and no longer than the version that it changes is stored.
func TestMeasuredChange(t *testing.T) {
	const nodePorts = corev1.ResourceServicesNodePorts
	m := newMemory()
	l, _ := ledger(t, m)
	before := serviceOf("s", "7", core.ServiceTypeNodePort, 1)
	m.hold(serviceResource, "s", before)
	known(t, m, l, quotaOf("ns", "q", map[corev1.ResourceName]int64{nodePorts: 6}))
	recount := func(reason, want string) (again time.Duration) {
		t.Helper()
		again, err := l.Recount(t.Context(), Key{one, "ns", "q"})
		if err != nil {
			t.Fatal(err)
		}
		if got := m.used(one, "ns", "q", nodePorts); got != want {
			t.Errorf("%s: %s are used, want %s", reason, got, want)
		}
		return again
	}
	ctx, end := context.WithCancel(t.Context())
	change := func(ports int) error {
		return l.Charge(ctx, one, request(serviceResource, serviceOf("s", "7", core.ServiceTypeNodePort, ports), before, "s"))
	}
	if err := change(3); err != nil {
		t.Fatal(err)
	}
	recount("it may have three ports", "3")
	if err := change(4); err != nil {
		t.Errorf("there is room for three more: %v", err)
	}
	recount("it may have three or four, and not seven", "4")
	if err := change(7); !apierrors.IsForbidden(err) {
		t.Errorf("there is no room for seven: %v", err)
	}
	end()
	for {
		if again := recount("the requests have ended, and nobody knows how", "4"); again > 0 {
			break
		}
	}
	m.hold(serviceResource, "s", serviceOf("s", "8", core.ServiceTypeNodePort, 2))
	if again := recount("somebody else has changed it to two, so the others cannot", "2"); again != 0 || len(l.pending) != 0 {
		t.Errorf("%d are pending, again after %s", len(l.pending), again)
	}
}
