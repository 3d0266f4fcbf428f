package bindings

import (
	"fmt"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/forkless/kcp/internal/servertest"
	apisv1alpha1 "github.com/forkless/kcp/pkg/apis/apis/v1alpha1"
	apisv1alpha2 "github.com/forkless/kcp/pkg/apis/apis/v1alpha2"
	"github.com/forkless/kcp/pkg/apis/conditions"
	corev1alpha1 "github.com/forkless/kcp/pkg/apis/core/v1alpha1"
)

// TestCreatedBound: where all that it needs is known, a binding is bound as it is created.
func TestCreatedBound(t *testing.T) {
	server := servertest.Start(t)
	p := provider(t, server)
	// From now on the definition is known. The first one waits for the controller.
	newWorkspace(t, server).bind("first", p, "cowboys")
	for name, test := range map[string]func(*testing.T, *servertest.Server, workspace){
		"InTheAnswer":          boundInTheAnswer,
		"WithAGeneratedName":   boundWithAGeneratedName,
		"InTheOldVersion":      boundInTheOldVersion,
		"NotByADryRun":         notBoundByADryRun,
		"ExistsAlready":        boundExistsAlready,
		"BeyondTheLimit":       notBoundBeyondTheLimit,
		"ManyAtOnce":           manyBoundAtOnce,
		"AgainAndAgain":        boundAgainAndAgain,
		"ConflictsAreNoErrors": conflictsAreNoErrors,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, server, p)
		})
	}
}

// isBound says whether an answer shows a binding that is bound.
func isBound(t *testing.T, answer *unstructured.Unstructured) bool {
	t.Helper()
	b := into[*apisv1alpha2.APIBinding](t, answer)
	return b.Status.Phase == apisv1alpha2.APIBindingPhaseBound && conditions.IsTrue(b, conditions.Ready)
}

func boundInTheAnswer(t *testing.T, server *servertest.Server, p workspace) {
	c := newWorkspace(t, server)
	list, err := c.client.Resource(bindings).List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	events, err := c.client.Resource(bindings).Watch(t.Context(), metav1.ListOptions{ResourceVersion: list.GetResourceVersion()})
	if err != nil {
		t.Fatal(err)
	}
	defer events.Stop()

	created := c.create(bindings, "APIBinding", newBinding("cowboys", p.path, "cowboys"))
	if !isBound(t, created) {
		t.Fatalf("the answer is not bound: %v", created.Object["status"])
	}
	// Without waiting: it is served, and the LogicalCluster says whose it is.
	c.put(cowboys, "billy")
	if got, want := c.locks(), `{"cowboys.wildwest.dev":{"n":"cowboys"}}`; got != want {
		t.Errorf("locks are %s, want %s", got, want)
	}
	for _, entry := range created.GetManagedFields() {
		if entry.Subresource != "" {
			t.Errorf("%s manages the subresource %s, which nobody has written to", entry.Manager, entry.Subresource)
		}
	}
	event := <-events.ResultChan()
	if got, ok := event.Object.(*unstructured.Unstructured); !ok || event.Type != watch.Added {
		t.Errorf("a watch says %+v", event)
	} else if diff := cmp.Diff(created.Object, got.Object); diff != "" {
		t.Errorf("a watch says something else than the answer (-answer +watch):\n%s", diff)
	}
	// The controller finds nothing to do: the next event is that of a change of ours.
	c.patch(bindings, "", "cowboys", `{"metadata":{"labels":{"changed":"by-us"}}}`)
	event = <-events.ResultChan()
	if got, ok := event.Object.(*unstructured.Unstructured); !ok || event.Type != watch.Modified || got.GetLabels()["changed"] != "by-us" {
		t.Errorf("the binding was written again: %+v", event)
	}
	if billy, err := c.resource(cowboys, "default").Get(t.Context(), "billy", metav1.GetOptions{}); err != nil {
		t.Errorf("%v: %v", billy, err)
	}
}

func boundWithAGeneratedName(t *testing.T, server *servertest.Server, p workspace) {
	c := newWorkspace(t, server)
	wanted := newBinding("", p.path, "cowboys")
	wanted.GenerateName = "some-"
	created := c.create(bindings, "APIBinding", wanted)
	if !isBound(t, created) {
		t.Errorf("the answer is not bound: %v", created.Object)
	}
	if got, want := c.locks(), fmt.Sprintf(`{"cowboys.wildwest.dev":{"n":%q}}`, created.GetName()); got != want {
		t.Errorf("locks are %s, want %s", got, want)
	}
}

func boundInTheOldVersion(t *testing.T, server *servertest.Server, p workspace) {
	c := newWorkspace(t, server)
	old := apisv1alpha1.GroupVersion.WithResource("apibindings")
	wanted := &apisv1alpha1.APIBinding{ObjectMeta: metav1.ObjectMeta{Name: "cowboys"}}
	wanted.Spec.Reference.Export = &apisv1alpha1.ExportBindingReference{Path: p.path, Name: "cowboys"}
	created := c.create(old, "APIBinding", wanted)
	if phase, _, _ := unstructured.NestedString(created.Object, "status", "phase"); phase != "Bound" || created.GetAPIVersion() != "apis.kcp.io/v1alpha1" {
		t.Errorf("the answer is %v", created.Object)
	}
	c.bound("cowboys")
}

func notBoundByADryRun(t *testing.T, server *servertest.Server, p workspace) {
	c := newWorkspace(t, server)
	before := c.locks()
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(newBinding("cowboys", p.path, "cowboys"))
	if err != nil {
		t.Fatal(err)
	}
	u := &unstructured.Unstructured{Object: content}
	u.SetGroupVersionKind(bindings.GroupVersion().WithKind("APIBinding"))
	if _, err := c.client.Resource(bindings).Create(t.Context(), u, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}}); err != nil {
		t.Fatal(err)
	}
	if _, err := c.client.Resource(bindings).Get(t.Context(), "cowboys", metav1.GetOptions{}); !apierrors.IsNotFound(err) {
		t.Errorf("there is a binding: %v", err)
	}
	if got := c.locks(); got != before {
		t.Errorf("locks are %s, were %s", got, before)
	}
	served(t, c, "cowboys")
}

// boundExistsAlready: who creates what is there gets an error, and what is there stays.
func boundExistsAlready(t *testing.T, server *servertest.Server, p workspace) {
	c := newWorkspace(t, server)
	c.schemaFor("own", "horses", nil)
	c.export("horses", "own.horses."+group)
	newWorkspace(t, server).bind("horses", c, "horses")
	c.create(bindings, "APIBinding", newBinding("taken", p.path, "cowboys"))
	for range 5 {
		if _, err := c.tryCreate(bindings, "APIBinding", newBinding("taken", c.path, "horses")); !apierrors.IsAlreadyExists(err) {
			t.Errorf("got %v", err)
		}
		c.put(cowboys, "billy")
		if err := c.resource(cowboys, "default").Delete(t.Context(), "billy", metav1.DeleteOptions{}); err != nil {
			t.Error(err)
		}
	}
	if got, want := c.locks(), `{"cowboys.wildwest.dev":{"n":"taken"}}`; got != want {
		t.Errorf("locks are %s, want %s", got, want)
	}
	if _, err := c.client.Resource(horses).List(t.Context(), metav1.ListOptions{}); !apierrors.IsNotFound(err) {
		t.Errorf("what was not bound is served: %v", err)
	}
}

// notBoundBeyondTheLimit: a binding that may not be stored binds nothing.
func notBoundBeyondTheLimit(t *testing.T, server *servertest.Server, p workspace) {
	c := newWorkspace(t, server)
	root := dynamicClient(t, server.In(t, "base", c.cluster))
	admin := workspace{TB: t, client: root, path: c.path, cluster: c.cluster}
	admin.patch(logicalClusters, "", corev1alpha1.LogicalClusterName,
		fmt.Sprintf(`{"metadata":{"annotations":{%q:"1"}}}`, corev1alpha1.MaxTotalObjectsAnnotationKey))
	servertest.Eventually(t, "the workspace is full", func() (bool, any) {
		_, err := c.tryCreate(corev1.SchemeGroupVersion.WithResource("configmaps"), "ConfigMap",
			&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "default", GenerateName: "one-"}})
		return apierrors.IsForbidden(err), err
	})
	_, err := c.tryCreate(bindings, "APIBinding", newBinding("cowboys", p.path, "cowboys"))
	if !apierrors.IsForbidden(err) {
		t.Fatalf("a binding beyond the limit: %v", err)
	}
	if got := c.locks(); got != `{}` && got != "" {
		t.Errorf("locks are %s", got)
	}
	servertest.Eventually(t, "nothing is served", func() (bool, any) {
		_, err := c.client.Resource(cowboys).List(t.Context(), metav1.ListOptions{})
		return apierrors.IsNotFound(err), err
	})
	admin.patch(logicalClusters, "", corev1alpha1.LogicalClusterName,
		fmt.Sprintf(`{"metadata":{"annotations":{%q:null}}}`, corev1alpha1.MaxTotalObjectsAnnotationKey))
	servertest.Eventually(t, "it can be bound then", func() (bool, any) {
		_, err := c.tryCreate(bindings, "APIBinding", newBinding("cowboys", p.path, "cowboys"))
		return err == nil || apierrors.IsAlreadyExists(err), err
	})
	c.bound("cowboys")
}

// manyBoundAtOnce: bindings of one workspace that are created together all change the
// LogicalCluster.
func manyBoundAtOnce(t *testing.T, server *servertest.Server, _ workspace) {
	const many = 12
	offers, other, c := newWorkspace(t, server), newWorkspace(t, server), newWorkspace(t, server)
	for i := range many {
		plural := fmt.Sprintf("things%ds", i)
		offers.schemaFor("today", plural, nil)
		offers.export(plural, "today."+plural+"."+group)
		other.bind(plural, offers, plural)
	}
	var creating sync.WaitGroup
	for i := range many {
		creating.Go(func() {
			name := fmt.Sprintf("things%ds", i)
			if _, err := c.tryCreate(bindings, "APIBinding", newBinding(name, offers.path, name)); err != nil {
				t.Error(err)
			}
		})
	}
	creating.Wait()
	for i := range many {
		c.bound(fmt.Sprintf("things%ds", i))
	}
	if got, want := c.locks(), other.locks(); got != want {
		t.Errorf("locks are %s, want %s", got, want)
	}
}

// boundAgainAndAgain: the controller hears of what has gone while the same is there again.
func boundAgainAndAgain(t *testing.T, server *servertest.Server, p workspace) {
	c := newWorkspace(t, server)
	for round := range 25 {
		created := c.create(bindings, "APIBinding", newBinding("cowboys", p.path, "cowboys"))
		if !isBound(t, created) {
			t.Fatalf("round %d: the answer is not bound: %v", round, created.Object["status"])
		}
		// What is bound is served from the first moment, and stays so.
		for i := range 3 {
			c.put(cowboys, fmt.Sprintf("cowboy-%d", i))
		}
		if n := c.count(cowboys); n != 3 {
			t.Fatalf("round %d: %d objects", round, n)
		}
		c.delete(bindings, "", "cowboys")
		c.gone(bindings, "", "cowboys")
	}
	if got := c.locks(); got != "{}" {
		t.Errorf("locks are %s", got)
	}
	servertest.Eventually(t, "nothing is served", func() (bool, any) {
		_, err := c.client.Resource(cowboys).List(t.Context(), metav1.ListOptions{})
		return apierrors.IsNotFound(err), err
	})
}

// conflictsAreNoErrors: what stands in the way is said in the status, not to the creator.
func conflictsAreNoErrors(t *testing.T, server *servertest.Server, p workspace) {
	other, c := provider(t, server), newWorkspace(t, server)
	newWorkspace(t, server).bind("other", other, "cowboys")
	c.create(bindings, "APIBinding", newBinding("first", p.path, "cowboys"))
	c.put(cowboys, "billy")
	second := c.create(bindings, "APIBinding", newBinding("second", other.path, "cowboys"))
	if isBound(t, second) {
		t.Errorf("two bindings have one resource: %v", second.Object["status"])
	}
	c.says("second", apisv1alpha1.InitialBindingCompleted, apisv1alpha1.ReasonNamingConflicts)
	if got, want := c.locks(), `{"cowboys.wildwest.dev":{"n":"first"}}`; got != want {
		t.Errorf("locks are %s, want %s", got, want)
	}
	if n := c.count(cowboys); n != 1 {
		t.Errorf("%d objects of the first are served", n)
	}
}
