package footprint

import (
	"context"
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/forkless/kcp/internal/servertest"
	tenancyv1alpha1 "github.com/forkless/kcp/pkg/apis/tenancy/v1alpha1"
)

const (
	busy = 10
	// idleHeap bounds the heap of a workspace at rest, in bytes: its objects, in the watch
	// caches and in the index of etcd.
	idleHeap = 64 << 10
)

// TestIdleWorkspaces: many workspaces at rest beside a few that use what has controllers,
// namespaces, quota and garbage collection, cost no goroutine and no metric series, and
// nothing on the heap but their objects.
func TestIdleWorkspaces(t *testing.T) {
	idle := 290
	if long {
		idle = 990
	}
	server := servertest.Start(t)
	atRest := resting(t)
	client, in := administrator(t, server)
	create(t, in, "busy", busy)
	// Twice, so that what the first round makes once is there before.
	work(t, in)
	work(t, in)
	before := measure(t, server, client, atRest, "busy")

	create(t, in, "idle", idle)
	work(t, in)
	after := measure(t, server, client, atRest, "busy")
	each := (after.heap - before.heap) / int64(idle)
	t.Logf("%d busy workspaces: %s", busy, before)
	t.Logf("and %d idle ones:  %s; %.1f KB each", idle, after, float64(each)/(1<<10))
	checkSeries(t, before, after)
	if each > idleHeap {
		t.Errorf("an idle workspace takes %d bytes of the heap", each)
	}
}

func create(t *testing.T, in func(string) access, prefix string, n int) {
	t.Helper()
	root := in("root")
	inParallel(t, n, func(ctx context.Context, i int) error {
		ws := &tenancyv1alpha1.Workspace{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("%s-%d", prefix, i)}}
		_, err := servertest.CreateWorkspace(ctx, root.config, ws)
		return err
	})
}

// work makes every controller work in the busy workspaces.
func work(t *testing.T, in func(string) access) {
	t.Helper()
	inParallel(t, busy, func(ctx context.Context, i int) error {
		workspace := in(fmt.Sprintf("root:busy-%d", i))
		client, err := kubernetes.NewForConfigAndClient(workspace.config, workspace.client)
		if err != nil {
			return err
		}
		return useNamespace(ctx, client)
	})
}

// useNamespace makes a namespace with a quota, an owner and its dependents, deletes the
// owner, waits until the dependents are gone and counted no more, and deletes the namespace.
func useNamespace(ctx context.Context, client kubernetes.Interface) error {
	const dependents = 5
	made, err := client.CoreV1().Namespaces().Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "busy-"}}, metav1.CreateOptions{})
	if err != nil {
		return err
	}
	_, err = client.CoreV1().ResourceQuotas(made.Name).Create(ctx, &corev1.ResourceQuota{
		ObjectMeta: metav1.ObjectMeta{Name: "quota"},
		Spec:       corev1.ResourceQuotaSpec{Hard: corev1.ResourceList{"count/secrets": resource.MustParse("100")}},
	}, metav1.CreateOptions{})
	if err != nil {
		return err
	}
	owner, err := client.CoreV1().ConfigMaps(made.Name).Create(ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "owner"}}, metav1.CreateOptions{})
	if err != nil {
		return err
	}
	for range dependents {
		_, err := client.CoreV1().Secrets(made.Name).Create(ctx, &corev1.Secret{ObjectMeta: metav1.ObjectMeta{
			GenerateName:    "dependent-",
			OwnerReferences: []metav1.OwnerReference{{APIVersion: "v1", Kind: "ConfigMap", Name: owner.Name, UID: owner.UID}},
		}}, metav1.CreateOptions{})
		if err != nil {
			return err
		}
	}
	if err := counted(ctx, client, made.Name, dependents); err != nil {
		return fmt.Errorf("waiting for dependents to be counted: %w", err)
	}
	if err := client.CoreV1().ConfigMaps(made.Name).Delete(ctx, owner.Name, metav1.DeleteOptions{}); err != nil {
		return err
	}
	if err := counted(ctx, client, made.Name, 0); err != nil {
		return fmt.Errorf("waiting for dependents to be gone: %w", err)
	}
	if err := client.CoreV1().Namespaces().Delete(ctx, made.Name, metav1.DeleteOptions{}); err != nil {
		return err
	}
	return eventually(ctx, func() (bool, error) {
		_, err := client.CoreV1().Namespaces().Get(ctx, made.Name, metav1.GetOptions{})
		return apierrors.IsNotFound(err), nil
	})
}

// counted waits until the quota of a namespace says that there are n secrets.
func counted(ctx context.Context, client kubernetes.Interface, namespace string, n int64) error {
	return eventually(ctx, func() (bool, error) {
		quota, err := client.CoreV1().ResourceQuotas(namespace).Get(ctx, "quota", metav1.GetOptions{})
		if err != nil {
			return false, err
		}
		used, ok := quota.Status.Used["count/secrets"]
		return ok && used.Value() == n, nil
	})
}
