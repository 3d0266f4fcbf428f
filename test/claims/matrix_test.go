package claims

import (
	"maps"
	"slices"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/utils/ptr"

	"github.com/forkless/kcp/internal/servertest"
	apisv1alpha2 "github.com/forkless/kcp/pkg/apis/apis/v1alpha2"
)

// objects are what every consumer of the matrix has, by name, with their labels. Namespaces
// have a config map of their own besides.
var objects = map[string]map[string]string{
	"red":   {"color": "red"},
	"blue":  {"color": "blue"},
	"plain": nil,
	"old":   {"color": "red", "old": "yes"},
}

const rootCA = "kube-root-ca.crt"

// outcome is what creating an object through the virtual workspace comes to: its labels,
// or a refusal.
type outcome struct {
	labels  map[string]string
	refused string
}

// selectors are the selectors of the matrix, with what they select of objects, and what
// creating objects like these comes to.
var selectors = map[string]struct {
	selector apisv1alpha2.PermissionClaimSelector
	sees     []string
	created  map[string]outcome
}{
	"All": {
		selector: everything,
		sees:     []string{"red", "blue", "plain", "old", rootCA},
		created: map[string]outcome{
			"red": {labels: objects["red"]}, "blue": {labels: objects["blue"]}, "plain": {}, "old": {labels: objects["old"]},
		},
	},
	"Labels": {
		selector: red,
		sees:     []string{"red", "old"},
		created: map[string]outcome{
			"red": {labels: objects["red"]}, "plain": {labels: objects["red"]}, "old": {labels: objects["old"]},
			"blue": {refused: "protected label color must have value red"},
		},
	},
	"Expressions": {
		selector: apisv1alpha2.PermissionClaimSelector{LabelSelector: metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{
			{Key: "color", Operator: metav1.LabelSelectorOpNotIn, Values: []string{"blue"}},
			{Key: "old", Operator: metav1.LabelSelectorOpDoesNotExist},
		}}},
		sees: []string{"red", "plain", rootCA},
		created: map[string]outcome{
			"red": {labels: objects["red"]}, "plain": {},
			"blue": {refused: "object does not match required labels"}, "old": {refused: "object does not match required labels"},
		},
	},
	"Both": {
		selector: apisv1alpha2.PermissionClaimSelector{LabelSelector: metav1.LabelSelector{
			MatchLabels:      map[string]string{"color": "red"},
			MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "old", Operator: metav1.LabelSelectorOpDoesNotExist}},
		}},
		sees: []string{"red"},
		created: map[string]outcome{
			"red": {labels: objects["red"]}, "plain": {labels: objects["red"]},
			"blue": {refused: "protected label color must have value red"}, "old": {refused: "object does not match required labels"},
		},
	},
}

var (
	reading = []string{"get", "list", "watch"}
	writing = []string{"create", "update", "patch", "delete", "deletecollection"}
)

// states are the answers of the matrix, with the verbs that they give. Who was not
// answered has no entry in the binding.
var states = map[string]struct {
	state apisv1alpha2.AcceptablePermissionClaimState
	verbs []string
}{
	"Accepted":   {apisv1alpha2.ClaimAccepted, slices.Concat(reading, writing)},
	"ReadOnly":   {apisv1alpha2.ClaimAccepted, reading},
	"WriteOnly":  {apisv1alpha2.ClaimAccepted, writing},
	"Rejected":   {apisv1alpha2.ClaimRejected, nil},
	"Unanswered": {},
}

// matrixCase is one consumer of the matrix.
type matrixCase struct {
	consumer, provider workspace
	selector, state    string
}

func (c matrixCase) allows(verb string) bool { return slices.Contains(states[c.state].verbs, verb) }

// sees says whether the selector selects an object.
func (c matrixCase) sees(name string) bool { return slices.Contains(selectors[c.selector].sees, name) }

// TestMatrix does everything that a provider can try, to every kind of object, under every
// kind of answer: 4 selectors, 5 answers, 4 objects, 9 requests.
func TestMatrix(t *testing.T) {
	server := servertest.Start(t)
	maps := claim(configMaps, slices.Concat(reading, writing)...)
	provider := newProvider(t, server, maps)
	key, value := label(t, provider, maps)
	var cases []matrixCase
	for selector := range selectors {
		for state := range states {
			consumer := newWorkspace(t, server)
			for name, labels := range objects {
				consumer.create(configMaps, configMap(name, labels))
				consumer.create(configMaps, configMap("doomed-"+name, labels))
			}
			var answers []apisv1alpha2.AcceptablePermissionClaim
			if given := states[state]; given.state != "" {
				answered := claim(configMaps, given.verbs...)
				if len(given.verbs) == 0 {
					answered.Verbs = maps.Verbs
				}
				answers = append(answers, answer(answered, given.state, selectors[selector].selector))
			}
			consumer.bind("sharing", provider, exportName, answers...)
			cases = append(cases, matrixCase{consumer, through(t, server, provider, consumer.cluster), selector, state})
		}
	}
	for _, c := range cases {
		c.consumer.awaitClaims("sharing")
	}
	t.Run("All", func(t *testing.T) { testAllConsumers(t, through(t, server, provider, "*"), cases) })
	for _, c := range cases {
		t.Run(c.selector+"/"+c.state, func(t *testing.T) {
			c.consumer, c.provider = c.consumer.in(t), c.provider.in(t)
			testFinding(t, c)
			for name := range objects {
				t.Run(name, func(t *testing.T) {
					testReading(t, c, name)
					testCreating(t, c, name, map[string]string{key: value})
					testChanging(t, c, name)
					testDeleting(t, c, "doomed-"+name, name)
				})
			}
			testDeletingMany(t, c)
		})
	}
}

// testAllConsumers: over all workspaces the provider finds what he may list in each.
func testAllConsumers(t *testing.T, all workspace, cases []matrixCase) {
	want := map[string][]string{}
	for _, c := range cases {
		if c.allows("list") {
			want[c.consumer.cluster] = found(c)
		}
	}
	servertest.Eventually(t, "the list over all workspaces to be right", func() (bool, any) {
		list, err := all.client.Resource(configMaps).List(t.Context(), metav1.ListOptions{})
		if err != nil {
			t.Fatal(err)
		}
		got := byCluster(list.Items)
		return maps.EqualFunc(want, got, slices.Equal), got
	})
	same(t, "and so is what a watch begins with", want, byCluster(initial(all)))
}

// byCluster returns the names of the objects in the default namespaces, sorted.
func byCluster(items []unstructured.Unstructured) map[string][]string {
	got := map[string][]string{}
	for i := range items {
		if items[i].GetNamespace() != home {
			continue
		}
		cluster := items[i].GetAnnotations()["kcp.io/cluster"]
		got[cluster] = append(got[cluster], items[i].GetName())
	}
	for _, names := range got {
		slices.Sort(names)
	}
	return got
}

// found returns what there is to be found in a consumer, sorted.
func found(c matrixCase) []string {
	names := []string{}
	for _, name := range selectors[c.selector].sees {
		names = append(names, name)
		if name != rootCA {
			names = append(names, "doomed-"+name)
		}
	}
	slices.Sort(names)
	return names
}

// initial returns what a watch begins with.
func initial(w workspace) []unstructured.Unstructured {
	w.Helper()
	events, err := w.client.Resource(configMaps).Watch(w.Context(), metav1.ListOptions{
		SendInitialEvents: ptr.To(true), AllowWatchBookmarks: true,
		ResourceVersionMatch: metav1.ResourceVersionMatchNotOlderThan,
	})
	if err != nil {
		w.Fatalf("watching: %v", err)
	}
	defer events.Stop()
	var items []unstructured.Unstructured
	for event := range events.ResultChan() {
		object, ok := event.Object.(*unstructured.Unstructured)
		if !ok {
			w.Fatalf("got %s with %v", event.Type, event.Object)
		}
		switch {
		case event.Type == watch.Added:
			items = append(items, *object)
		case object.GetAnnotations()[metav1.InitialEventsAnnotationKey] == "true":
			return items
		}
	}
	w.Fatal("the watch has ended before all that exists was told")
	return nil
}

// testFinding: lists and watches show what is selected, all of it and nothing else.
func testFinding(t *testing.T, c matrixCase) {
	want := found(c)
	list, err := c.provider.client.Resource(configMaps).List(t.Context(), metav1.ListOptions{})
	events, watchErr := c.provider.client.Resource(configMaps).Watch(t.Context(), metav1.ListOptions{})
	if watchErr == nil {
		events.Stop()
	}
	for verb, err := range map[string]error{"list": err, "watch": watchErr} {
		if c.allows(verb) != (err == nil) || err != nil && !apierrors.IsForbidden(err) {
			t.Errorf("%s: got error %v", verb, err)
		}
	}
	if c.allows("list") {
		same(t, "list", map[string][]string{c.consumer.cluster: want}, byCluster(list.Items))
	}
	if c.allows("watch") {
		same(t, "watch", map[string][]string{c.consumer.cluster: want}, byCluster(initial(c.provider)))
	}
	for name := range objects {
		for _, verb := range []string{"list", "watch"} {
			t.Run(verb+"/"+name, func(t *testing.T) {
				if !c.allows(verb) {
					_, err := c.provider.client.Resource(configMaps).Namespace(home).List(t.Context(), metav1.ListOptions{FieldSelector: "metadata.name=" + name})
					if verb == "list" && !apierrors.IsForbidden(err) {
						t.Errorf("got error %v, want Forbidden", err)
					}
					return
				}
				list, err := c.provider.client.Resource(configMaps).Namespace(home).List(t.Context(), metav1.ListOptions{FieldSelector: "metadata.name=" + name})
				if err != nil {
					t.Fatal(err)
				}
				if got := len(list.Items) == 1; got != c.sees(name) {
					t.Errorf("found %t", got)
				}
			})
		}
	}
}

// expect fails the test unless a request for an object ended as it has to: Forbidden if
// the verb is not given, NotFound if the object is not, and well otherwise. It says
// whether it ended well.
func expect(t *testing.T, c matrixCase, verb, name string, err error) bool {
	t.Helper()
	switch {
	case !c.allows(verb):
		if !apierrors.IsForbidden(err) {
			t.Errorf("%s: got error %v, want Forbidden", verb, err)
		}
	case !c.sees(name):
		if !apierrors.IsNotFound(err) {
			t.Errorf("%s: got error %v, want NotFound", verb, err)
		}
	case err != nil:
		t.Errorf("%s: %v", verb, err)
	default:
		return true
	}
	return false
}

func testReading(t *testing.T, c matrixCase, name string) {
	t.Run("get", func(t *testing.T) {
		_, err := c.provider.resource(configMaps).Get(t.Context(), name, metav1.GetOptions{})
		expect(t, c, "get", name, err)
	})
}

func testCreating(t *testing.T, c matrixCase, name string, claimed map[string]string) {
	t.Run("create", func(t *testing.T) {
		want := selectors[c.selector].created[name]
		created, err := c.provider.in(t).tryCreate(configMaps, configMap("new-"+name, objects[name]))
		switch {
		case !c.allows("create"):
			isRefused(t, "the verb is not given", err, metav1.StatusReasonForbidden, "")
		case want.refused != "":
			isRefused(t, "the provider could not see it", err, metav1.StatusReasonForbidden, want.refused)
		case err != nil:
			t.Error(err)
		default:
			labels := maps.Clone(want.labels)
			if c.allows("list") {
				labels = maps.Clone(claimed)
				maps.Copy(labels, want.labels)
			}
			same(t, "what is created has the labels by which it is given", labels, created.GetLabels())
			c.consumer.in(t).delete(configMaps, "new-"+name)
		}
	})
}

// testChanging changes an object in all ways, and looks at what has come of it.
func testChanging(t *testing.T, c matrixCase, name string) {
	client := c.provider.resource(configMaps)
	changed := func(by string) *unstructured.Unstructured {
		u := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "data": map[string]any{"by": by}}}
		u.SetNamespace(home)
		u.SetName(name)
		u.SetLabels(objects[name])
		return u
	}
	for request, do := range map[string]func() (verb string, err error){
		"update": func() (string, error) {
			_, err := client.Update(t.Context(), changed("update"), metav1.UpdateOptions{})
			return "update", err
		},
		"patch": func() (string, error) {
			_, err := client.Patch(t.Context(), name, types.MergePatchType, []byte(`{"data":{"by":"patch"}}`), metav1.PatchOptions{})
			return "patch", err
		},
		"apply": func() (string, error) {
			_, err := client.Apply(t.Context(), name, changed("apply"), metav1.ApplyOptions{FieldManager: "provider", Force: true})
			return "patch", err
		},
	} {
		t.Run(request, func(t *testing.T) {
			verb, err := do()
			ended := expect(t, c, verb, name, err)
			by, _, _ := unstructured.NestedString(c.consumer.in(t).get(configMaps, name).Object, "data", "by")
			if (by == request) != ended {
				t.Errorf("the object was last changed by %q", by)
			}
		})
	}
}

func testDeleting(t *testing.T, c matrixCase, doomed, like string) {
	t.Run("delete", func(t *testing.T) {
		err := c.provider.resource(configMaps).Delete(t.Context(), doomed, metav1.DeleteOptions{})
		ended := expect(t, c, "delete", like, err)
		if left := slices.Contains(c.consumer.in(t).names(configMaps), doomed); left == ended {
			t.Errorf("left: %t", left)
		}
	})
}

func testDeletingMany(t *testing.T, c matrixCase) {
	err := c.provider.resource(configMaps).DeleteCollection(t.Context(), metav1.DeleteOptions{}, metav1.ListOptions{})
	if c.allows("deletecollection") != (err == nil) || err != nil && !apierrors.IsForbidden(err) {
		t.Errorf("deletecollection: got error %v", err)
	}
	left := c.consumer.names(configMaps)
	for name := range objects {
		t.Run("deletecollection/"+name, func(t *testing.T) {
			gone := c.allows("deletecollection") && c.sees(name)
			if slices.Contains(left, name) == gone {
				t.Errorf("gone: want %t, left are %v", gone, left)
			}
		})
	}
}
