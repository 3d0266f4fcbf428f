package workloads

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"

	"github.com/forkless/kcp/internal/servertest"
)

// TestQuota is about what pods and services ask for; test/limits is about their number.
func TestQuota(t *testing.T) {
	server := servertest.Start(t, battery)
	client := workspace(t, server, "quota")
	t.Run("Together", func(t *testing.T) { quotaTogether(t, client) })
	t.Run("Changes", func(t *testing.T) { quotaChanges(t, client) })
	t.Run("Scopes", func(t *testing.T) { quotaScopes(t, client) })
}

// limited makes a namespace with a quota and waits until that says what is used.
func limited(t *testing.T, client kubernetes.Interface, namespace string, spec corev1.ResourceQuotaSpec) {
	t.Helper()
	must[*corev1.Namespace](t)(client.CoreV1().Namespaces().Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}}, metav1.CreateOptions{}))
	must[*corev1.ResourceQuota](t)(client.CoreV1().ResourceQuotas(namespace).Create(t.Context(), &corev1.ResourceQuota{
		ObjectMeta: metav1.ObjectMeta{Name: "q"}, Spec: spec,
	}, metav1.CreateOptions{}))
	servertest.Eventually(t, "the quota says what is used", func() (bool, any) {
		got, err := client.CoreV1().ResourceQuotas(namespace).Get(t.Context(), "q", metav1.GetOptions{})
		return err == nil && len(got.Status.Used) == len(spec.Hard), got
	})
}

// uses waits until the quota of a namespace says so.
func uses(t *testing.T, client kubernetes.Interface, namespace string, key corev1.ResourceName, want string) {
	t.Helper()
	servertest.Eventually(t, fmt.Sprintf("%s of %s used", want, key), func() (bool, any) {
		got, err := client.CoreV1().ResourceQuotas(namespace).Get(t.Context(), "q", metav1.GetOptions{})
		if err != nil {
			return false, err
		}
		used := got.Status.Used[key]
		return used.Cmp(resource.MustParse(want)) == 0, got.Status.Used
	})
}

func quantities(pairs ...string) corev1.ResourceQuotaSpec {
	hard := corev1.ResourceList{}
	for i := 0; i < len(pairs); i += 2 {
		hard[corev1.ResourceName(pairs[i])] = resource.MustParse(pairs[i+1])
	}
	return corev1.ResourceQuotaSpec{Hard: hard}
}

func asking(name, cpu string) *corev1.Pod {
	p := pod(name, nil)
	p.Spec.Containers[0].Resources.Requests = corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(cpu)}
	return p
}

// quotaTogether: however many pods come at the same time, no more get through than there
// is room for, and no less; what is deleted gives room.
func quotaTogether(t *testing.T, client kubernetes.Interface) {
	limited(t, client, "together", quantities("requests.cpu", "1", "pods", "100"))
	pods := client.CoreV1().Pods("together")
	var passed atomic.Int32
	var group sync.WaitGroup
	for i := range 20 {
		group.Go(func() {
			_, err := pods.Create(t.Context(), asking(fmt.Sprintf("p%d", i), "300m"), metav1.CreateOptions{})
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
		t.Errorf("%d pods of 300m were created where there is 1, want 3", got)
	}
	uses(t, client, "together", "requests.cpu", "900m")
	all := must[*corev1.PodList](t)(pods.List(t.Context(), metav1.ListOptions{}))
	if err := pods.Delete(t.Context(), all.Items[0].Name, metav1.DeleteOptions{GracePeriodSeconds: new(int64(0))}); err != nil {
		t.Fatal(err)
	}
	// What nobody has counted yet is found out before somebody is refused.
	must[*corev1.Pod](t)(pods.Create(t.Context(), asking("next", "400m"), metav1.CreateOptions{}))
	uses(t, client, "together", "requests.cpu", "1")
	done := all.Items[1].DeepCopy()
	done.Status.Phase = corev1.PodSucceeded
	must[*corev1.Pod](t)(pods.UpdateStatus(t.Context(), done, metav1.UpdateOptions{}))
	uses(t, client, "together", "requests.cpu", "700m")
}

// quotaChanges: an object that is there may ask for more, and for less.
func quotaChanges(t *testing.T, client kubernetes.Interface) {
	limited(t, client, "changes", quantities("services.nodeports", "1", "services", "5"))
	services := client.CoreV1().Services("changes")
	become := func(name string, kind corev1.ServiceType) error {
		_, err := services.Patch(t.Context(), name, types.MergePatchType, fmt.Appendf(nil, `{"spec":{"type":%q}}`, kind), metav1.PatchOptions{})
		return err
	}
	for _, name := range []string{"a", "b"} {
		must[*corev1.Service](t)(services.Create(t.Context(), service(name, corev1.ServiceTypeClusterIP), metav1.CreateOptions{}))
	}
	uses(t, client, "changes", "services.nodeports", "0")
	for range 5 {
		if err := become("a", corev1.ServiceTypeNodePort); err != nil {
			t.Fatal(err)
		}
		if err := become("b", corev1.ServiceTypeNodePort); !apierrors.IsForbidden(err) {
			t.Errorf("a second port on nodes: %v", err)
		}
		if err := become("a", corev1.ServiceTypeClusterIP); err != nil {
			t.Fatal(err)
		}
		// At once: nothing lingers.
		if err := become("b", corev1.ServiceTypeNodePort); err != nil {
			t.Errorf("the port of the other is free: %v", err)
		}
		if err := become("b", corev1.ServiceTypeClusterIP); err != nil {
			t.Fatal(err)
		}
	}
	uses(t, client, "changes", "services.nodeports", "0")
	uses(t, client, "changes", "services", "2")
}

// quotaScopes: a quota with a scope counts what is in it, and refuses no other.
func quotaScopes(t *testing.T, client kubernetes.Interface) {
	spec := quantities("pods", "1")
	spec.Scopes = []corev1.ResourceQuotaScope{corev1.ResourceQuotaScopeBestEffort}
	limited(t, client, "scopes", spec)
	pods := client.CoreV1().Pods("scopes")
	must[*corev1.Pod](t)(pods.Create(t.Context(), pod("best-effort", nil), metav1.CreateOptions{}))
	if _, err := pods.Create(t.Context(), pod("another", nil), metav1.CreateOptions{}); !apierrors.IsForbidden(err) {
		t.Errorf("a second pod in the scope: %v", err)
	}
	must[*corev1.Pod](t)(pods.Create(t.Context(), asking("burstable", "1"), metav1.CreateOptions{}))
	uses(t, client, "scopes", "pods", "1")
}
