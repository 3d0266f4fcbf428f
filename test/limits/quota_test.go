package limits

import (
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/forkless/kcp/internal/quota"
	"github.com/forkless/kcp/internal/servertest"
)

const exceeded = "exceeded quota: "

func refused(err error, text string) bool {
	return apierrors.IsForbidden(err) && strings.Contains(err.Error(), text)
}

// quota makes a quota and waits until it says what is used.
func (w workspace) quota(namespace, name string, limits map[corev1.ResourceName]int64) {
	w.t.Helper()
	w.newQuota(&corev1.ResourceQuota{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}, Spec: hard(limits)})
}

// clusterQuota is quota for the whole workspace.
func (w workspace) clusterQuota(name string, limits map[corev1.ResourceName]int64) {
	w.t.Helper()
	w.newQuota(&corev1.ResourceQuota{ObjectMeta: metav1.ObjectMeta{
		Namespace: quota.ClusterScopedNamespace, Name: name,
		Annotations: map[string]string{quota.ClusterScopedAnnotationKey: "true"},
	}, Spec: hard(limits)})
}

func (w workspace) newQuota(q *corev1.ResourceQuota) {
	w.t.Helper()
	_, err := w.CoreV1().ResourceQuotas(q.Namespace).Create(w.t.Context(), q, metav1.CreateOptions{})
	ok(w.t, err)
	servertest.Eventually(w.t, "the quota says what is used", func() (bool, any) {
		got, err := w.CoreV1().ResourceQuotas(q.Namespace).Get(w.t.Context(), q.Name, metav1.GetOptions{})
		return err == nil && len(got.Status.Hard) == len(q.Spec.Hard), got.Status
	})
}

// uses waits until a quota says that so many are used.
func (w workspace) uses(namespace, name string, key corev1.ResourceName, want int64) {
	w.t.Helper()
	servertest.Eventually(w.t, fmt.Sprintf("quota %s says that %s is %d", name, key, want), func() (bool, any) {
		got, err := w.CoreV1().ResourceQuotas(namespace).Get(w.t.Context(), name, metav1.GetOptions{})
		if err != nil {
			return false, err
		}
		used, ok := got.Status.Used[key]
		return ok && used.Value() == want, got.Status
	})
}

const (
	countSecrets    = corev1.ResourceName("count/secrets")
	countWidgets    = corev1.ResourceName("count/widgets.example.com")
	countWorkspaces = corev1.ResourceName("count/workspaces.tenancy.kcp.io")
)

func TestQuotas(t *testing.T) {
	s := servertest.Start(t)
	// Returns when all parallel subtests have: the server has to outlive them.
	t.Run("On", func(t *testing.T) {
		for name, c := range map[string]struct {
			reason string
			test   func(t *testing.T, s *servertest.Server, w workspace)
		}{
			"Life":            {"creates are charged, what is beyond is refused, deletes give room", quotaLife},
			"Together":        {"however many create at the same time, no more get through, and no less", quotaTogether},
			"Names":           {"the older names of Kubernetes work, those of what is not there say nothing", quotaNames},
			"Elsewhere":       {"equal quotas of namespaces and workspaces know nothing of each other", quotaElsewhere},
			"NotCharged":      {"dry runs, updates, subresources, reviews and events are no objects", quotaNotCharged},
			"Failed":          {"what is charged and then not created is given back", quotaFailed},
			"Definitions":     {"custom resources count, also when they are defined later, and again", quotaDefinitions},
			"Cluster":         {"a quota of the whole workspace counts all namespaces and what is in none", quotaCluster},
			"Changed":         {"limits may be changed, also to less than is used; the status is the server's", quotaChanged},
			"Scoped":          {"a quota with scopes counts nothing, as upstream, since no object is in one", quotaScoped},
			"NamespaceGone":   {"a namespace that is emptied gives everything back to the workspace", quotaNamespaceGone},
			"ByTheServer":     {"what the server creates by itself counts too", quotaByTheServer},
			"SeveralAtOnce":   {"an object is charged to all quotas that count it, or to none", quotaSeveral},
			"DeleteAndCreate": {"what was just deleted leaves its place to the next, without waiting", quotaDeleteAndCreate},
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

func quotaLife(t *testing.T, _ *servertest.Server, w workspace) {
	ok(t, w.secret("default", "before"))
	w.quota("default", "few", map[corev1.ResourceName]int64{countSecrets: 3})
	w.uses("default", "few", countSecrets, 1)
	ok(t, w.secret("default", "a"))
	ok(t, w.secret("default", "b"))
	w.uses("default", "few", countSecrets, 3)
	want := `secrets "c" is forbidden: exceeded quota: few, requested: count/secrets=1, used: count/secrets=3, limited: count/secrets=3`
	if err := w.secret("default", "c"); err == nil || err.Error() != want {
		t.Errorf("got error %v, want %s", err, want)
	}
	w.removeSecret("default", "a")
	w.uses("default", "few", countSecrets, 2)
	ok(t, w.secret("default", "c"))
	ok(t, w.CoreV1().Secrets("default").DeleteCollection(t.Context(), metav1.DeleteOptions{}, metav1.ListOptions{}))
	w.uses("default", "few", countSecrets, 0)
	ok(t, w.CoreV1().ResourceQuotas("default").Delete(t.Context(), "few", metav1.DeleteOptions{}))
	servertest.Eventually(t, "without a quota nothing is refused", func() (bool, any) {
		for i := range 5 {
			if err := w.secret("default", fmt.Sprint("free-", i)); err != nil && !apierrors.IsAlreadyExists(err) {
				return false, err
			}
		}
		return true, nil
	})
}

func quotaTogether(t *testing.T, _ *servertest.Server, w workspace) {
	const limit = 20
	w.quota("default", "few", map[corev1.ResourceName]int64{countSecrets: limit})
	create := func(name string) error { return w.secret("default", name) }
	if got := together(t, create, exceeded); got != limit {
		t.Errorf("%d could create an object, want %d", got, limit)
	}
	w.uses("default", "few", countSecrets, limit)
	list, err := w.CoreV1().Secrets("default").List(t.Context(), metav1.ListOptions{})
	ok(t, err)
	if len(list.Items) != limit {
		t.Errorf("there are %d, want %d", len(list.Items), limit)
	}
	for _, secret := range list.Items[:7] {
		w.removeSecret("default", secret.Name)
	}
	if got := together(t, func(name string) error { return create("again-" + name) }, exceeded); got != 7 {
		t.Errorf("%d could create an object where 7 had been removed", got)
	}
	w.uses("default", "few", countSecrets, limit)
}

func quotaNames(t *testing.T, _ *servertest.Server, w workspace) {
	w.namespace("names")
	ok(t, w.secret("names", "a"))
	w.quota("names", "all", map[corev1.ResourceName]int64{
		corev1.ResourceSecrets: 2, countSecrets: 5, corev1.ResourceQuotas: 1, corev1.ResourcePods: 5,
		corev1.ResourceRequestsCPU: 1, "count/replicasets.apps": 4, "count/events": 3,
	})
	w.uses("names", "all", corev1.ResourceSecrets, 1)
	w.uses("names", "all", countSecrets, 1)
	w.uses("names", "all", corev1.ResourceQuotas, 1)
	w.uses("names", "all", "count/replicasets.apps", 0)
	got, err := w.CoreV1().ResourceQuotas("names").Get(t.Context(), "all", metav1.GetOptions{})
	ok(t, err)
	for _, key := range []corev1.ResourceName{corev1.ResourcePods, corev1.ResourceRequestsCPU, "count/events"} {
		if used, ok := got.Status.Used[key]; ok {
			t.Errorf("%s of %s are used, though nobody counts them", used.String(), key)
		}
	}
	ok(t, w.secret("names", "b"))
	if err := w.secret("names", "c"); !refused(err, "requested: secrets=1, used: secrets=2, limited: secrets=2") {
		t.Errorf("the lower of two limits holds, got %v", err)
	}
	if _, err := w.CoreV1().ResourceQuotas("names").Create(t.Context(), &corev1.ResourceQuota{
		ObjectMeta: metav1.ObjectMeta{Name: "more"},
	}, metav1.CreateOptions{}); !refused(err, "requested: resourcequotas=1, used: resourcequotas=1, limited: resourcequotas=1") {
		t.Errorf("quotas count too, got %v", err)
	}
}

func quotaElsewhere(t *testing.T, s *servertest.Server, w workspace) {
	other := workspaceOf(t, s)
	w.namespace("other")
	one := map[corev1.ResourceName]int64{countSecrets: 1}
	w.quota("default", "one", one)
	w.quota("other", "one", one)
	other.quota("default", "one", one)
	for i, create := range []func(string) error{
		func(name string) error { return w.secret("default", name) },
		func(name string) error { return w.secret("other", name) },
		func(name string) error { return other.secret("default", name) },
	} {
		ok(t, create("a"))
		if err := create("b"); !refused(err, exceeded+"one") {
			t.Errorf("place %d: got error %v, want Forbidden", i, err)
		}
	}
	w.removeSecret("default", "a")
	w.uses("default", "one", countSecrets, 0)
	w.uses("other", "one", countSecrets, 1)
	other.uses("default", "one", countSecrets, 1)
}

func quotaNotCharged(t *testing.T, _ *servertest.Server, w workspace) {
	w.quota("default", "none", map[corev1.ResourceName]int64{countSecrets: 1, "count/serviceaccounts": 1000, "count/events": 0})
	dryRun := func(name string) error {
		_, err := w.CoreV1().Secrets("default").Create(t.Context(), &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: name}},
			metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
		return err
	}
	ok(t, dryRun("dry"))
	ok(t, dryRun("dry"))
	ok(t, w.secret("default", "a"))
	if err := dryRun("b"); !refused(err, exceeded) {
		t.Errorf("a dry run says what would be, got %v", err)
	}
	_, err := w.CoreV1().Secrets("default").Patch(t.Context(), "a", types.MergePatchType, []byte(`{"data":{"k":"dg=="}}`), metav1.PatchOptions{})
	ok(t, err)
	_, err = w.CoreV1().Secrets("default").Patch(t.Context(), "applied", types.ApplyPatchType,
		[]byte(`{"apiVersion":"v1","kind":"Secret","metadata":{"name":"applied"}}`), metav1.PatchOptions{FieldManager: "test"})
	if !refused(err, exceeded) {
		t.Errorf("an apply that creates is a create, got %v", err)
	}
	_, err = w.CoreV1().Events("default").Create(t.Context(), &corev1.Event{
		ObjectMeta:     metav1.ObjectMeta{Name: "e", Namespace: "default"},
		InvolvedObject: corev1.ObjectReference{Namespace: "default"},
	}, metav1.CreateOptions{})
	ok(t, err)
	w.uses("default", "none", countSecrets, 1)
}

func quotaFailed(t *testing.T, _ *servertest.Server, w workspace) {
	w.quota("default", "three", map[corev1.ResourceName]int64{countSecrets: 3})
	ok(t, w.secret("default", "a"))
	for range 10 {
		if err := w.secret("default", "a"); !apierrors.IsAlreadyExists(err) && !refused(err, exceeded) {
			t.Fatalf("got error %v, want that it exists", err)
		}
	}
	w.uses("default", "three", countSecrets, 1)
	ok(t, w.secret("default", "b"))
	ok(t, w.secret("default", "c"))
}

func quotaDefinitions(t *testing.T, _ *servertest.Server, w workspace) {
	w.quota("default", "widgets", map[corev1.ResourceName]int64{countWidgets: 2})
	for range 2 {
		w.define()
		ok(t, w.widget("default", "a"))
		ok(t, w.widget("default", "b"))
		if err := w.widget("default", "c"); !refused(err, exceeded) {
			t.Errorf("got error %v, want Forbidden", err)
		}
		w.uses("default", "widgets", countWidgets, 2)
		w.undefine()
		w.uses("default", "widgets", countWidgets, 0)
	}
}

func quotaCluster(t *testing.T, _ *servertest.Server, w workspace) {
	w.namespace(quota.ClusterScopedNamespace)
	w.namespace("other")
	ok(t, w.secret("other", "before"))
	bindings := corev1.ResourceName("count/clusterrolebindings.rbac.authorization.k8s.io")
	w.clusterQuota("all", map[corev1.ResourceName]int64{countSecrets: 3, countWorkspaces: 1, bindings: 1})
	w.uses("admin", "all", countSecrets, 1)
	w.uses("admin", "all", bindings, 0)
	ok(t, w.secret("default", "a"))
	ok(t, w.secret("admin", "a"))
	for _, namespace := range []string{"default", "other", "admin"} {
		if err := w.secret(namespace, "b"); !refused(err, exceeded+"all") {
			t.Errorf("in namespace %s: got error %v, want Forbidden", namespace, err)
		}
	}
	ok(t, w.child("one"))
	if err := w.child("two"); !refused(err, exceeded+"all, requested: count/workspaces.tenancy.kcp.io=1") {
		t.Errorf("workspaces count too, got %v", err)
	}
	binding := func(name string) error {
		_, err := w.RbacV1().ClusterRoleBindings().Create(t.Context(), &rbacv1.ClusterRoleBinding{
			ObjectMeta: metav1.ObjectMeta{Name: name}, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "view"},
		}, metav1.CreateOptions{})
		return err
	}
	ok(t, binding("one"))
	if err := binding("two"); !refused(err, exceeded) {
		t.Errorf("bindings count too, got %v", err)
	}
	ok(t, w.RbacV1().ClusterRoleBindings().Delete(t.Context(), "workspace-admin", metav1.DeleteOptions{}))
	if err := binding("workspace-admin"); err != nil && !apierrors.IsAlreadyExists(err) {
		t.Errorf("the binding of the creator never counts, got %v", err)
	}
	w.uses("admin", "all", bindings, 1)

	// Only in one namespace, and only with the annotation.
	w.namespace("stray")
	w.newQuota(&corev1.ResourceQuota{ObjectMeta: metav1.ObjectMeta{
		Namespace: "stray", Name: "stray", Annotations: map[string]string{quota.ClusterScopedAnnotationKey: "true"},
	}, Spec: hard(map[corev1.ResourceName]int64{countSecrets: 10})})
	w.quota("admin", "plain", map[corev1.ResourceName]int64{countSecrets: 10})
	w.uses("stray", "stray", countSecrets, 0)
	w.uses("admin", "plain", countSecrets, 1)
	_, err := w.CoreV1().ResourceQuotas("admin").Patch(t.Context(), "all", types.MergePatchType,
		[]byte(`{"metadata":{"annotations":{"`+quota.ClusterScopedAnnotationKey+`":null}}}`), metav1.PatchOptions{})
	ok(t, err)
	w.uses("admin", "all", countSecrets, 1)
	ok(t, w.secret("other", "b"))
}

func quotaChanged(t *testing.T, _ *servertest.Server, w workspace) {
	quotas := w.CoreV1().ResourceQuotas("default")
	w.quota("default", "some", map[corev1.ResourceName]int64{countSecrets: 5})
	ok(t, w.secret("default", "a"))
	ok(t, w.secret("default", "b"))
	patch := func(body string, subresources ...string) {
		t.Helper()
		_, err := quotas.Patch(t.Context(), "some", types.MergePatchType, []byte(body), metav1.PatchOptions{}, subresources...)
		ok(t, err)
	}
	settles := func(hardWant, usedWant string) {
		t.Helper()
		servertest.Eventually(t, "the status is "+usedWant+" of "+hardWant, func() (bool, any) {
			got, err := quotas.Get(t.Context(), "some", metav1.GetOptions{})
			if err != nil {
				return false, err
			}
			limit, used := got.Status.Hard[countSecrets], got.Status.Used[countSecrets]
			return limit.Cmp(resource.MustParse(hardWant)) == 0 && used.Cmp(resource.MustParse(usedWant)) == 0, got.Status
		})
	}
	patch(`{"spec":{"hard":{"count/secrets":"1"}}}`)
	settles("1", "2")
	if err := w.secret("default", "c"); !refused(err, exceeded) {
		t.Errorf("got error %v, want Forbidden", err)
	}
	patch(`{"spec":{"hard":{"count/secrets":"3"}}}`)
	settles("3", "2")
	patch(`{"status":{"hard":{"count/secrets":"100"},"used":{"count/secrets":"0"}}}`, "status")
	settles("3", "2")
	ok(t, w.secret("default", "c"))
	if err := w.secret("default", "d"); !refused(err, exceeded) {
		t.Errorf("got error %v, want Forbidden", err)
	}
}

func quotaScoped(t *testing.T, _ *servertest.Server, w workspace) {
	q := &corev1.ResourceQuota{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "scoped"}, Spec: hard(map[corev1.ResourceName]int64{countSecrets: 0})}
	q.Spec.Scopes = []corev1.ResourceQuotaScope{corev1.ResourceQuotaScopeNotBestEffort}
	_, err := w.CoreV1().ResourceQuotas("default").Create(t.Context(), q, metav1.CreateOptions{})
	if apierrors.IsInvalid(err) {
		// Upstream's validation knows that scopes are for pods.
		return
	}
	ok(t, err)
	w.uses("default", "scoped", countSecrets, 0)
	ok(t, w.secret("default", "a"))
	w.uses("default", "scoped", countSecrets, 0)
}

func quotaNamespaceGone(t *testing.T, _ *servertest.Server, w workspace) {
	w.namespace(quota.ClusterScopedNamespace)
	w.namespace("gone")
	w.clusterQuota("all", map[corev1.ResourceName]int64{countSecrets: 10, "count/namespaces": 10})
	w.quota("gone", "own", map[corev1.ResourceName]int64{countSecrets: 5})
	namespaces, err := w.CoreV1().Namespaces().List(t.Context(), metav1.ListOptions{})
	ok(t, err)
	before := int64(len(namespaces.Items))
	w.uses("admin", "all", "count/namespaces", before)
	for i := range 5 {
		ok(t, w.secret("gone", fmt.Sprint(i)))
	}
	w.uses("admin", "all", countSecrets, 5)
	ok(t, w.CoreV1().Namespaces().Delete(t.Context(), "gone", metav1.DeleteOptions{}))
	w.uses("admin", "all", countSecrets, 0)
	w.uses("admin", "all", "count/namespaces", before-1)
}

func quotaByTheServer(t *testing.T, s *servertest.Server, w workspace) {
	// Nothing tells when the server is done with what it creates in a new namespace, so
	// quota and namespace are made at the same time, and the quota has to follow.
	w.namespace(quota.ClusterScopedNamespace)
	w.clusterQuota("all", map[corev1.ResourceName]int64{"count/serviceaccounts": 1000, "count/configmaps": 1000})
	w.namespace("fresh")
	servertest.Eventually(t, "the quota says how much there is", func() (bool, any) {
		accounts, err := w.CoreV1().ServiceAccounts("").List(t.Context(), metav1.ListOptions{})
		if err != nil {
			return false, err
		}
		configMaps, err := w.CoreV1().ConfigMaps("").List(t.Context(), metav1.ListOptions{})
		if err != nil {
			return false, err
		}
		got, err := w.CoreV1().ResourceQuotas("admin").Get(t.Context(), "all", metav1.GetOptions{})
		if err != nil {
			return false, err
		}
		a, c := got.Status.Used["count/serviceaccounts"], got.Status.Used["count/configmaps"]
		return a.Value() == int64(len(accounts.Items)) && c.Value() == int64(len(configMaps.Items)), got.Status
	})
}

func quotaSeveral(t *testing.T, _ *servertest.Server, w workspace) {
	w.namespace(quota.ClusterScopedNamespace)
	w.clusterQuota("all", map[corev1.ResourceName]int64{countSecrets: 30})
	w.quota("default", "a", map[corev1.ResourceName]int64{countSecrets: 25})
	w.quota("default", "b", map[corev1.ResourceName]int64{countSecrets: 10})
	if got := together(t, func(name string) error { return w.secret("default", name) }, exceeded+"b"); got != 10 {
		t.Errorf("%d could create an object, want 10", got)
	}
	for namespace, name := range map[string]string{"admin": "all", "default": "a"} {
		w.uses(namespace, name, countSecrets, 10)
	}
	if got := together(t, func(name string) error { return w.secret("admin", name) }, exceeded+"all"); got != 20 {
		t.Errorf("%d could create an object, want the 20 that the workspace has room for", got)
	}
}

func quotaDeleteAndCreate(t *testing.T, _ *servertest.Server, w workspace) {
	w.quota("default", "one", map[corev1.ResourceName]int64{countSecrets: 1})
	for i := range 20 {
		name := fmt.Sprint("s", i)
		if err := w.secret("default", name); err != nil {
			t.Fatalf("creating secret %d after the one before was deleted: %v", i, err)
		}
		w.removeSecret("default", name)
	}
}

// TestQuotaAfterRestart: usage is in the status of quotas, and what was defined has to
// count before anybody has asked for it.
func TestQuotaAfterRestart(t *testing.T) {
	root := t.TempDir()
	s := servertest.StartIn(t, root)
	w := workspaceOf(t, s)
	w.define()
	w.quota("default", "few", map[corev1.ResourceName]int64{countSecrets: 2, countWidgets: 1})
	ok(t, w.secret("default", "a"))
	ok(t, w.widget("default", "a"))
	s.Stop()

	s = servertest.StartIn(t, root)
	w = in(t, s, w.cluster)
	if err := w.widget("default", "b"); !refused(err, exceeded) {
		t.Errorf("got error %v, want Forbidden", err)
	}
	ok(t, w.secret("default", "b"))
	if err := w.secret("default", "c"); !refused(err, exceeded) {
		t.Errorf("got error %v, want Forbidden", err)
	}
	w.uses("default", "few", countSecrets, 2)
	w.uses("default", "few", countWidgets, 1)
	ok(t, w.dynamic.Resource(widgets).Namespace("default").Delete(t.Context(), "a", metav1.DeleteOptions{}))
	w.uses("default", "few", countWidgets, 0)
}
