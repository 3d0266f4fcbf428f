package lifecycle

import (
	"net/http"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/utils/ptr"

	"github.com/forkless/kcp/internal/servertest"
	corev1alpha1 "github.com/forkless/kcp/pkg/apis/core/v1alpha1"
)

// visible is what the controller of an initializer sees.
var visible = map[string]behavior{
	"List": {
		reason: "31, 33: what waits for the initializer is listed, and nothing else",
		test: func(t *testing.T, s *suite) {
			mine, other, plain := s.newborn(t, "first"), s.newborn(t, "second"), s.grown(t, "starting")
			list, err := s.all(t, first, initializing, "first").List(t.Context(), metav1.ListOptions{})
			must(t, err)
			if !contains(list, mine.Spec.Cluster) {
				t.Error("it is not listed")
			}
			for i := range list.Items {
				lc := as[corev1alpha1.LogicalCluster](t, &list.Items[i])
				if clusterOf(lc) == other.Spec.Cluster || clusterOf(lc) == plain.Spec.Cluster {
					t.Errorf("%s is listed, which does not wait for it", clusterOf(lc))
				}
				if lc.Status.Phase != corev1alpha1.PhaseInitializing {
					t.Errorf("%s is listed in phase %s", clusterOf(lc), lc.Status.Phase)
				}
			}
			if list.GetResourceVersion() == "" || list.GetKind() != "LogicalClusterList" {
				t.Errorf("a list of kind %q at version %q", list.GetKind(), list.GetResourceVersion())
			}
		},
	},
	"Waiting": {
		reason: "31: the workspace says what it waits for, in the order of the types, and the logical cluster has labels that say so",
		test: func(t *testing.T, s *suite) {
			ws := s.newborn(t, "both")
			lc := s.logicalCluster(t, ws.Spec.Cluster)
			for _, got := range [][]corev1alpha1.Initializer{ws.Status.Initializers, lc.Status.Initializers, lc.Spec.Initializers} {
				if len(got) != 2 || string(got[0]) != s.id("first") || string(got[1]) != s.id("second") {
					t.Errorf("it waits for %v", got)
				}
			}
			for _, hook := range []string{"first", "second"} {
				if key, value := corev1alpha1.InitializerLabel(corev1alpha1.Initializer(s.id(hook))); lc.Labels[key] != value {
					t.Errorf("labels %v", lc.Labels)
				}
			}
		},
	},
	"Nothing": {
		reason: "a hook that nobody waits for has an empty list, not an error",
		test: func(t *testing.T, s *suite) {
			list, err := s.all(t, first, initializing, "nobody").List(t.Context(), metav1.ListOptions{})
			must(t, err)
			if len(list.Items) != 0 {
				t.Errorf("listed %d", len(list.Items))
			}
		},
	},
	"Watch": {
		reason: "34: a new logical cluster is ADDED, and DELETED once the initializer is removed",
		test: func(t *testing.T, s *suite) {
			w := watchFrom(t, s.all(t, first, initializing, "first"), metav1.ListOptions{})
			ws := s.newborn(t, "first")
			if event := next(t, w, ws.Spec.Cluster); event.Type != watch.Added {
				t.Errorf("got %s %v", event.Type, event.Object)
			}
			_, err := patch(t, s.one(t, first, initializing, "first", ws.Spec.Cluster), mergePatch, `{"status":{"initializers":[]}}`)
			must(t, err)
			event := next(t, w, ws.Spec.Cluster)
			for event.Type == watch.Modified {
				event = next(t, w, ws.Spec.Cluster)
			}
			if event.Type != watch.Deleted {
				t.Errorf("got %s", event.Type)
			}
		},
	},
	"OneEvent": {
		reason: "the write that removes an initializer also ends that it is seen: there is no event in between in which it is pending no more",
		test: func(t *testing.T, s *suite) {
			ws := s.newborn(t, "both")
			w := watching(t, s.one(t, first, initializing, "first", ws.Spec.Cluster), metav1.ListOptions{})
			_, err := patch(t, s.one(t, first, initializing, "first", ws.Spec.Cluster), mergePatch, `{"status":{"initializers":["`+s.id("second")+`"]}}`)
			must(t, err)
			for {
				event := next(t, w, "")
				if event.Type == watch.Deleted {
					return
				}
				if lc := as[corev1alpha1.LogicalCluster](t, event.Object.(*unstructured.Unstructured)); len(lc.Status.Initializers) != 2 {
					t.Fatalf("%s with %v", event.Type, lc.Status.Initializers)
				}
			}
		},
	},
	"Gone": {
		reason: "36: once the initializer is removed the logical cluster is not found, at once",
		test: func(t *testing.T, s *suite) {
			ws := s.newborn(t, "both")
			client := s.one(t, first, initializing, "first", ws.Spec.Cluster)
			found, err := client.Get(t.Context(), corev1alpha1.LogicalClusterName, metav1.GetOptions{})
			must(t, err)
			if clusterOf(found) != ws.Spec.Cluster {
				t.Errorf("got that of %s", clusterOf(found))
			}
			_, err = client.Get(t.Context(), corev1alpha1.LogicalClusterName, metav1.GetOptions{}, "status")
			must(t, err)
			_, err = patch(t, client, mergePatch, `{"status":{"initializers":["`+s.id("second")+`"]}}`)
			must(t, err)
			for _, subresources := range [][]string{nil, {"status"}} {
				_, err = client.Get(t.Context(), corev1alpha1.LogicalClusterName, metav1.GetOptions{}, subresources...)
				wantCode(t, err, http.StatusNotFound, `logicalclusters.core.kcp.io "cluster" not found`)
			}
			_, err = patch(t, client, mergePatch, `{"status":{"initializers":[]}}`)
			wantCode(t, err, http.StatusNotFound)
			if listed(t, s.all(t, first, initializing, "first"), ws.Spec.Cluster, metav1.ListOptions{}) {
				t.Error("it is still listed")
			}
		},
	},
	"Foreign": {
		reason: "a logical cluster that never waited for it, or does not exist, is not found either",
		test: func(t *testing.T, s *suite) {
			other := s.newborn(t, "second")
			for _, cluster := range []string{other.Spec.Cluster, s.types, "root", "system:shard", "0123456789abcdef"} {
				client := s.one(t, first, initializing, "first", cluster)
				_, err := client.Get(t.Context(), corev1alpha1.LogicalClusterName, metav1.GetOptions{})
				wantCode(t, err, http.StatusNotFound)
				_, err = patch(t, client, mergePatch, `{"status":{"initializers":[]}}`)
				wantCode(t, err, http.StatusNotFound)
				list, err := client.List(t.Context(), metav1.ListOptions{})
				must(t, err)
				if len(list.Items) != 0 {
					t.Errorf("%s lists %d", cluster, len(list.Items))
				}
			}
		},
	},
	"Both": {
		reason: "39: where two are waited for, each sees the workspace until its own is removed, and it is ready when both are",
		test: func(t *testing.T, s *suite) {
			ws := s.newborn(t, "both")
			hooks := map[string]string{first: "first", second: "second"}
			for token, hook := range hooks {
				if !listed(t, s.all(t, token, initializing, hook), ws.Spec.Cluster, metav1.ListOptions{}) {
					t.Errorf("%s does not see it", hook)
				}
			}
			_, err := patch(t, s.one(t, second, initializing, "second", ws.Spec.Cluster), mergePatch, `{"status":{"initializers":["`+s.id("first")+`"]}}`)
			must(t, err)
			if listed(t, s.all(t, second, initializing, "second"), ws.Spec.Cluster, metav1.ListOptions{}) {
				t.Error("second sees it when it is done")
			}
			if !listed(t, s.all(t, first, initializing, "first"), ws.Spec.Cluster, metav1.ListOptions{}) {
				t.Error("first does not see it any more")
			}
			if phase := s.logicalCluster(t, ws.Spec.Cluster).Status.Phase; phase != corev1alpha1.PhaseInitializing {
				t.Errorf("it is %s", phase)
			}
			_, err = patch(t, s.one(t, first, initializing, "first", ws.Spec.Cluster), mergePatch, `{"status":{"initializers":[]}}`)
			must(t, err)
			s.awaitReady(t, ws.Name)
		},
	},
	"Single": {
		reason: "a cluster alone can be listed and watched as well, which caches of controllers do",
		test: func(t *testing.T, s *suite) {
			ws, other := s.newborn(t, "first"), s.newborn(t, "first")
			client := s.one(t, first, initializing, "first", ws.Spec.Cluster)
			list, err := client.List(t.Context(), metav1.ListOptions{})
			must(t, err)
			if len(list.Items) != 1 || !contains(list, ws.Spec.Cluster) {
				t.Errorf("listed %v", list.Items)
			}
			w := watchFrom(t, client, metav1.ListOptions{})
			for _, cluster := range []string{other.Spec.Cluster, ws.Spec.Cluster} {
				_, err := patch(t, s.one(t, first, initializing, "first", cluster), mergePatch, `{"status":{"initializers":[]}}`)
				must(t, err)
			}
			if event := next(t, w, ""); event.Type != watch.Deleted || clusterOf(event.Object.(*unstructured.Unstructured)) != ws.Spec.Cluster {
				t.Errorf("got %s %v", event.Type, event.Object)
			}
		},
	},
	"Formless": {
		reason: "a type that is deleted while workspaces wait for its initializer does not leave them alone: what may be done is by its name",
		test: func(t *testing.T, s *suite) {
			s.create(t, s.types, `[{apiVersion: tenancy.kcp.io/v1alpha1, kind: WorkspaceType, metadata: {name: former}, spec: {initializer: true}}]`)
			ws := s.newborn(t, "former")
			must(t, s.admin(t, s.types).Resource(workspacetypes).Delete(t.Context(), "former", metav1.DeleteOptions{}))
			if !listed(t, s.all(t, first, initializing, "former"), ws.Spec.Cluster, metav1.ListOptions{}) {
				t.Error("it is not listed")
			}
			_, err := patch(t, s.one(t, first, initializing, "former", ws.Spec.Cluster), mergePatch, `{"status":{"initializers":[]}}`)
			must(t, err)
			s.awaitReady(t, ws.Name)
		},
	},
	"Deleted": {
		reason: "a workspace that is deleted before it is ready is nobody's to initialize",
		test: func(t *testing.T, s *suite) {
			w := watchFrom(t, s.all(t, first, initializing, "first"), metav1.ListOptions{})
			ws := s.newborn(t, "first")
			next(t, w, ws.Spec.Cluster)
			s.remove(t, ws.Name)
			nextOf(t, w, func(event watch.Event) bool {
				return event.Type == watch.Deleted && clusterOf(event.Object.(*unstructured.Unstructured)) == ws.Spec.Cluster
			})
			_, err := s.one(t, first, initializing, "first", ws.Spec.Cluster).Get(t.Context(), corev1alpha1.LogicalClusterName, metav1.GetOptions{})
			wantCode(t, err, http.StatusNotFound)
			_, err = patch(t, s.one(t, first, ending, "first", ws.Spec.Cluster), mergePatch, `{"status":{"terminators":[]}}`)
			must(t, err)
			s.awaitGone(t, ws.Name)
		},
	},
	"Streaming": {
		reason: "an informer gets what exists as the beginning of its watch, and a bookmark at its end",
		test: func(t *testing.T, s *suite) {
			ws := s.newborn(t, "first")
			w := watching(t, s.all(t, first, initializing, "first"), metav1.ListOptions{
				SendInitialEvents: ptr.To(true), ResourceVersionMatch: metav1.ResourceVersionMatchNotOlderThan, AllowWatchBookmarks: true,
			})
			seen := false
			nextOf(t, w, func(event watch.Event) bool {
				object := event.Object.(*unstructured.Unstructured)
				seen = seen || event.Type == watch.Added && clusterOf(object) == ws.Spec.Cluster
				return event.Type == watch.Bookmark && object.GetAnnotations()[metav1.InitialEventsAnnotationKey] == "true"
			})
			if !seen {
				t.Error("what exists was not told before the bookmark")
			}
		},
	},
	"Labels": {
		reason: "what a client selects is selected of what waits",
		test: func(t *testing.T, s *suite) {
			ws := s.newborn(t, "first")
			client := s.all(t, first, initializing, "first")
			if listed(t, client, ws.Spec.Cluster, metav1.ListOptions{LabelSelector: "tenancy.kcp.io/phase!=Initializing"}) {
				t.Error("listed against the selector")
			}
			if !listed(t, client, ws.Spec.Cluster, metav1.ListOptions{LabelSelector: "tenancy.kcp.io/phase in (Initializing),!nothing"}) {
				t.Error("not listed, though selected")
			}
			ready, err := client.List(t.Context(), metav1.ListOptions{LabelSelector: "tenancy.kcp.io/phase=Ready"})
			must(t, err)
			if len(ready.Items) != 0 {
				t.Errorf("listed %d that do not wait", len(ready.Items))
			}
			_, err = client.List(t.Context(), metav1.ListOptions{LabelSelector: "a=b)("})
			wantCode(t, err, http.StatusBadRequest)
			if !listed(t, client, ws.Spec.Cluster, metav1.ListOptions{FieldSelector: "metadata.name=cluster"}) {
				t.Error("not selected by its name")
			}
			if listed(t, client, ws.Spec.Cluster, metav1.ListOptions{FieldSelector: "metadata.name=other"}) {
				t.Error("selected by another name")
			}
		},
	},
	"Forged": {
		reason: "a label does not make a logical cluster wait: whoever puts it there shows nothing to others that could be changed",
		test: func(t *testing.T, s *suite) {
			ws := s.newborn(t, "second")
			key, value := corev1alpha1.InitializerLabel(corev1alpha1.Initializer(s.id("first")))
			_, err := s.admin(t, ws.Spec.Cluster).Resource(logicalclusters).Patch(t.Context(), corev1alpha1.LogicalClusterName, mergePatch,
				[]byte(`{"metadata":{"labels":{"`+key+`":"`+value+`"}}}`), metav1.PatchOptions{})
			must(t, err)
			_, err = patch(t, s.one(t, first, initializing, "first", ws.Spec.Cluster), mergePatch, `{"status":{"initializers":[]}}`)
			wantCode(t, err, http.StatusNotFound)
			servertest.Eventually(t, "the label is taken away", func() (bool, any) {
				labels := s.logicalCluster(t, ws.Spec.Cluster).Labels
				return labels[key] == "", labels
			})
		},
	},
}
