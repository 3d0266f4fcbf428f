package limits

import (
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/forkless/kcp/internal/servertest"
	corev1alpha1 "github.com/forkless/kcp/pkg/apis/core/v1alpha1"
)

const full = "total object count limit"

// kept are the resources of which the workspaces of these tests have objects.
var kept = []schema.GroupVersionResource{
	corev1.SchemeGroupVersion.WithResource("configmaps"),
	corev1.SchemeGroupVersion.WithResource("namespaces"),
	corev1.SchemeGroupVersion.WithResource("secrets"),
	corev1.SchemeGroupVersion.WithResource("serviceaccounts"),
	rbacv1.SchemeGroupVersion.WithResource("clusterrolebindings"),
	definitions, logicalClusters, workspaces, bindings, widgets,
}

// objects returns how many objects a workspace holds, as clients can see them.
func (w workspace) objects() int64 {
	w.t.Helper()
	var n int64
	for _, resource := range kept {
		list, err := w.dynamic.Resource(resource).List(w.t.Context(), metav1.ListOptions{})
		if apierrors.IsNotFound(err) {
			continue
		}
		ok(w.t, err)
		n += int64(len(list.Items))
	}
	return n
}

// limit sets the limit of a workspace and waits until it holds: until a dry run is
// answered as it says.
func (w workspace) limit(value string) {
	w.t.Helper()
	_, err := w.dynamic.Resource(logicalClusters).Patch(w.t.Context(), corev1alpha1.LogicalClusterName, types.MergePatchType,
		fmt.Appendf(nil, `{"metadata":{"annotations":{%q:%q}}}`, corev1alpha1.MaxTotalObjectsAnnotationKey, value), metav1.PatchOptions{})
	ok(w.t, err)
}

// dry creates an object that is not stored.
func (w workspace) dry() error {
	_, err := w.CoreV1().Secrets("default").Create(w.t.Context(), &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "dry"}},
		metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
	return err
}

// becomesFull waits until nothing can be created, becomesFree until something can.
func (w workspace) becomesFull() {
	w.t.Helper()
	servertest.Eventually(w.t, "the workspace is full", func() (bool, any) {
		err := w.dry()
		return refused(err, full), err
	})
}

func (w workspace) becomesFree() {
	w.t.Helper()
	servertest.Eventually(w.t, "the workspace has room", func() (bool, any) {
		err := w.dry()
		return err == nil, err
	})
}

// settled returns how many objects a new workspace holds when the server has put into it
// all that it does by itself.
func (w workspace) settled() int64 {
	w.t.Helper()
	last, same := int64(-1), 0
	servertest.Eventually(w.t, "the number of objects does not change", func() (bool, any) {
		n := w.objects()
		if n == last {
			same++
		} else {
			last, same = n, 0
		}
		return same >= 20, n
	})
	return last
}

func TestObjectLimit(t *testing.T) {
	s := servertest.Start(t)
	t.Run("On", func(t *testing.T) {
		for name, c := range map[string]struct {
			reason string
			test   func(t *testing.T, s *servertest.Server, w workspace)
		}{
			"Life":       {"creates stop at the limit, a delete gives one slot, 0 lifts it", objectsLife},
			"Together":   {"however many create at the same time, no more get through, and no less", objectsTogether},
			"Exempt":     {"events and the binding of the creator always go, updates and deletes too", objectsExempt},
			"Values":     {"what is no number is no limit, a negative one neither", objectsValues},
			"Definition": {"custom resources count, and all go with their definition", objectsDefinition},
			"Namespace":  {"what is in a namespace gives its slots back with it", objectsNamespace},
			"Workspace":  {"a workspace that goes leaves nothing counted, and its Workspace gives its slot back", objectsWorkspace},
		} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				t.Cleanup(func() {
					if t.Failed() {
						t.Logf("what is expected: %s", c.reason)
					}
				})
				c.test(t, s, workspaceOf(t, s))
			})
		}
	})
}

func objectsLife(t *testing.T, s *servertest.Server, w workspace) {
	other := workspaceOf(t, s)
	n := w.settled()
	w.limit(fmt.Sprint(n + 2))
	w.becomesFree()
	ok(t, w.secret("default", "a"))
	ok(t, w.secret("default", "b"))
	w.becomesFull()
	want := fmt.Sprintf(`secrets "c" is forbidden: logical cluster %q has reached its total object count limit (%d/%d objects); delete objects to free up capacity`,
		w.cluster, n+2, n+2)
	if err := w.secret("default", "c"); err == nil || err.Error() != want {
		t.Errorf("got error %v, want %s", err, want)
	}
	ok(t, other.secret("default", "c"))
	w.removeSecret("default", "a")
	ok(t, w.secret("default", "c"))
	if err := w.secret("default", "d"); !refused(err, full) {
		t.Errorf("one slot was free, got error %v for a second object", err)
	}
	if err := w.child("child"); !refused(err, full) {
		t.Errorf("workspaces are objects too, got error %v", err)
	}
	w.limit("0")
	w.becomesFree()
	ok(t, w.secret("default", "d"))
}

func objectsTogether(t *testing.T, _ *servertest.Server, w workspace) {
	const room = 20
	n := w.settled()
	w.limit(fmt.Sprint(n))
	w.becomesFull()
	w.limit(fmt.Sprint(n + room))
	w.becomesFree()
	if got := together(t, func(name string) error { return w.secret("default", name) }, full); got != room {
		t.Errorf("%d could create an object, want %d", got, room)
	}
	if got := w.objects(); got != n+room {
		t.Errorf("there are %d objects, want %d", got, n+room)
	}
}

func objectsExempt(t *testing.T, _ *servertest.Server, w workspace) {
	ok(t, w.secret("default", "a"))
	w.settled()
	w.limit("1")
	w.becomesFull()
	for i := range 3 {
		_, err := w.CoreV1().Events("default").Create(t.Context(), &corev1.Event{
			ObjectMeta:     metav1.ObjectMeta{Name: fmt.Sprint("e", i), Namespace: "default"},
			InvolvedObject: corev1.ObjectReference{Namespace: "default"},
		}, metav1.CreateOptions{})
		ok(t, err)
	}
	before := w.objects()
	ok(t, w.RbacV1().ClusterRoleBindings().Delete(t.Context(), "workspace-admin", metav1.DeleteOptions{}))
	_, err := w.RbacV1().ClusterRoleBindings().Create(t.Context(), &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: "workspace-admin"},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "cluster-admin"},
	}, metav1.CreateOptions{})
	if err != nil && !apierrors.IsAlreadyExists(err) {
		t.Errorf("the binding of the creator: %v", err)
	}
	if after := w.objects(); after != before {
		t.Errorf("there were %d objects and are %d", before, after)
	}
	_, err = w.CoreV1().Secrets("default").Patch(t.Context(), "a", types.MergePatchType, []byte(`{"data":{"k":"dg=="}}`), metav1.PatchOptions{})
	ok(t, err)
	_, err = w.CoreV1().Secrets("default").Patch(t.Context(), "applied", types.ApplyPatchType,
		[]byte(`{"apiVersion":"v1","kind":"Secret","metadata":{"name":"applied"}}`), metav1.PatchOptions{FieldManager: "test"})
	if !refused(err, full) {
		t.Errorf("an apply that creates is a create, got error %v", err)
	}
	w.removeSecret("default", "a")
}

func objectsValues(t *testing.T, _ *servertest.Server, w workspace) {
	w.settled()
	for _, value := range []string{"-1", "many", "", "1.5"} {
		w.limit("1")
		w.becomesFull()
		w.limit(value)
		w.becomesFree()
	}
}

func objectsDefinition(t *testing.T, _ *servertest.Server, w workspace) {
	w.settled()
	w.define()
	n := w.objects()
	w.limit(fmt.Sprint(n))
	w.becomesFull()
	w.limit(fmt.Sprint(n + 2))
	w.becomesFree()
	ok(t, w.widget("default", "a"))
	ok(t, w.widget("default", "b"))
	if err := w.widget("default", "c"); !refused(err, full) {
		t.Errorf("got error %v, want Forbidden", err)
	}
	w.undefine()
	for i := range 3 {
		ok(t, w.secret("default", fmt.Sprint(i)))
	}
	if err := w.secret("default", "more"); !refused(err, fmt.Sprintf("(%d/%d objects)", n+2, n+2)) {
		t.Errorf("got error %v, want Forbidden", err)
	}
}

func objectsNamespace(t *testing.T, _ *servertest.Server, w workspace) {
	n := w.settled()
	w.namespace("gone")
	for i := range 5 {
		ok(t, w.secret("gone", fmt.Sprint(i)))
	}
	w.settled()
	w.limit("1")
	w.becomesFull()
	ok(t, w.CoreV1().Namespaces().Delete(t.Context(), "gone", metav1.DeleteOptions{}))
	servertest.Eventually(t, "the namespace is gone", func() (bool, any) {
		_, err := w.CoreV1().Namespaces().Get(t.Context(), "gone", metav1.GetOptions{})
		return apierrors.IsNotFound(err), err
	})
	servertest.Eventually(t, "nothing of it is counted", func() (bool, any) {
		err := w.dry()
		return refused(err, fmt.Sprintf("(%d/1 objects)", n)), err
	})
}

func objectsWorkspace(t *testing.T, s *servertest.Server, w workspace) {
	n := w.settled()
	ok(t, w.child("child"))
	child := w.readyChild("child")
	below := in(t, s, child)
	below.settled()
	below.limit("1")
	below.becomesFull()
	if err := below.dry(); !refused(err, child) {
		t.Errorf("got error %v, want Forbidden", err)
	}
	w.limit("1")
	w.becomesFull()
	ok(t, w.dynamic.Resource(workspaces).Delete(t.Context(), "child", metav1.DeleteOptions{}))
	servertest.Eventually(t, "the workspace is gone", func() (bool, any) {
		err := w.dry()
		return refused(err, fmt.Sprintf("(%d/1 objects)", n)), err
	})
}

// TestObjectLimitOfTheServer: the flag holds for all workspaces, but not for root, whose
// own annotation does; also after a restart, which counts what is there.
func TestObjectLimitOfTheServer(t *testing.T) {
	directory := t.TempDir()
	s := servertest.StartIn(t, directory)
	w := workspaceOf(t, s)
	generous := workspaceOf(t, s)
	free := workspaceOf(t, s)
	ok(t, w.secret("default", "before"))
	n := w.settled()
	generous.limit("1000000")
	s.Stop()

	s = servertest.StartIn(t, directory, fmt.Sprintf("--logical-cluster-total-object-limit=%d", n+1),
		"--logical-cluster-object-count-scan-interval=1h")
	w, generous, free = in(t, s, w.cluster), in(t, s, generous.cluster), in(t, s, free.cluster)
	ok(t, w.secret("default", "after"))
	if err := w.secret("default", "more"); !refused(err, fmt.Sprintf("(%d/%d objects)", n+1, n+1)) {
		t.Errorf("got error %v, want Forbidden", err)
	}
	for i := range 10 {
		ok(t, generous.secret("default", fmt.Sprint(i)))
	}
	free.limit("0")
	servertest.Eventually(t, "0 lifts the limit of the server", func() (bool, any) {
		for i := range 10 {
			if err := free.secret("default", fmt.Sprint(i)); err != nil && !apierrors.IsAlreadyExists(err) {
				return false, err
			}
		}
		return true, nil
	})
	root := in(t, s, "root")
	for i := range n + 2 {
		ok(t, root.secret("default", fmt.Sprint(i)))
	}
	root.limit("1")
	root.becomesFull()
}
