package lifecycle

import (
	"fmt"
	"net/http"
	"slices"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/utils/ptr"

	corev1alpha1 "github.com/forkless/kcp/pkg/apis/core/v1alpha1"
)

// terminating is what the controller of a terminator sees and may write.
var terminating = map[string]behavior{
	"Life": {
		reason: "41, 42: a workspace that is ready has its terminator, which sees it from its deletion on; when it is removed the workspace goes",
		test: func(t *testing.T, s *suite) {
			ws := s.grown(t, "first")
			if got := ws.Status.Terminators; len(got) != 1 || string(got[0]) != s.id("first") {
				t.Errorf("terminators %v", got)
			}
			if finalizers := s.logicalCluster(t, ws.Spec.Cluster).Finalizers; !slices.Contains(finalizers, "kcp.io/has-terminators") {
				t.Errorf("finalizers %v", finalizers)
			}
			all, one := s.all(t, first, ending, "first"), s.one(t, first, ending, "first", ws.Spec.Cluster)
			if listed(t, all, ws.Spec.Cluster, metav1.ListOptions{}) {
				t.Error("it is listed before its end")
			}
			_, err := one.Get(t.Context(), corev1alpha1.LogicalClusterName, metav1.GetOptions{})
			wantCode(t, err, http.StatusNotFound)
			_, err = patch(t, one, mergePatch, `{"status":{"terminators":[]}}`)
			wantCode(t, err, http.StatusNotFound)

			s.remove(t, ws.Name)
			s.awaitTerminating(t, ws.Name)
			if !listed(t, all, ws.Spec.Cluster, metav1.ListOptions{}) {
				t.Error("it is not listed")
			}
			_, err = one.Get(t.Context(), corev1alpha1.LogicalClusterName, metav1.GetOptions{})
			must(t, err)
			_, err = patch(t, one, mergePatch, `{"status":{"terminators":[]}}`)
			must(t, err)
			s.awaitGone(t, ws.Name)
			_, err = one.Get(t.Context(), corev1alpha1.LogicalClusterName, metav1.GetOptions{})
			wantCode(t, err, http.StatusNotFound)
		},
	},
	"Watch": {
		reason: "a watch does not hear of what lives; what ends is MODIFIED first, and DELETED when the terminator is removed",
		test: func(t *testing.T, s *suite) {
			w := watchFrom(t, s.all(t, first, ending, "first"), metav1.ListOptions{})
			ws := s.grown(t, "both")
			s.remove(t, ws.Name)
			event := next(t, w, ws.Spec.Cluster)
			object := event.Object.(*unstructured.Unstructured)
			if event.Type != watch.Modified || object.GetDeletionTimestamp() == nil {
				t.Errorf("got %s, deleted at %v", event.Type, object.GetDeletionTimestamp())
			}
			_, err := patch(t, s.one(t, first, ending, "first", ws.Spec.Cluster), mergePatch, `{"status":{"terminators":["`+s.id("second")+`"]}}`)
			must(t, err)
			for event.Type == watch.Modified {
				event = next(t, w, ws.Spec.Cluster)
			}
			if event.Type != watch.Deleted {
				t.Errorf("got %s", event.Type)
			}
			if !listed(t, s.all(t, second, ending, "second"), ws.Spec.Cluster, metav1.ListOptions{}) {
				t.Error("second does not see it any more")
			}
			_, err = patch(t, s.one(t, second, ending, "second", ws.Spec.Cluster), mergePatch, `{"status":{"terminators":[]}}`)
			must(t, err)
			s.awaitGone(t, ws.Name)
		},
	},
	"List": {
		reason: "what a list shows is what a watch shows: it is there with its deletion, and selected by name as by labels",
		test: func(t *testing.T, s *suite) {
			client := s.all(t, first, ending, "first")
			w := watchFrom(t, client, metav1.ListOptions{})
			living, ws := s.grown(t, "first"), s.grown(t, "first")
			s.remove(t, ws.Name)
			next(t, w, ws.Spec.Cluster)
			for _, options := range []metav1.ListOptions{{}, {FieldSelector: "metadata.name=cluster"}, {LabelSelector: "!nothing"}, {ResourceVersion: "0"}, {Limit: 500}} {
				list, err := client.List(t.Context(), options)
				must(t, err)
				if !contains(list, ws.Spec.Cluster) || contains(list, living.Spec.Cluster) {
					t.Errorf("%+v: listed %d", options, len(list.Items))
				}
			}
			if listed(t, client, ws.Spec.Cluster, metav1.ListOptions{FieldSelector: "metadata.name=other"}) {
				t.Error("listed by another name")
			}
			_, err := client.List(t.Context(), metav1.ListOptions{FieldSelector: "kcp.io/deleted=true"})
			wantCode(t, err, http.StatusBadRequest)
		},
	},
	"Bookmarks": {
		reason: "43: a watch has bookmarks when they are asked for, the one behind what exists among them",
		test: func(t *testing.T, s *suite) {
			living, ws := s.grown(t, "first"), s.dying(t, "first")
			w := watching(t, s.all(t, first, ending, "first"), metav1.ListOptions{
				SendInitialEvents: ptr.To(true), ResourceVersionMatch: metav1.ResourceVersionMatchNotOlderThan, AllowWatchBookmarks: true,
			})
			seen := map[string]bool{}
			nextOf(t, w, func(event watch.Event) bool {
				object := event.Object.(*unstructured.Unstructured)
				if event.Type == watch.Added {
					seen[clusterOf(object)] = true
				}
				return event.Type == watch.Bookmark && object.GetAnnotations()[metav1.InitialEventsAnnotationKey] == "true"
			})
			if !seen[ws.Spec.Cluster] || seen[living.Spec.Cluster] {
				t.Errorf("saw %v, and not only %s", seen, ws.Spec.Cluster)
			}
		},
	},
	"Foreign": {
		reason: "the terminator of another is not removed, and none added",
		test: func(t *testing.T, s *suite) {
			ws := s.dying(t, "both")
			client := s.one(t, first, ending, "first", ws.Spec.Cluster)
			for _, list := range []string{
				`["` + s.id("first") + `"]`, `[]`, `["` + s.id("second") + `","root:universal"]`,
				`["` + s.id("first") + `","` + s.id("second") + `","root:universal"]`,
			} {
				_, err := patch(t, client, mergePatch, `{"status":{"terminators":`+list+`}}`)
				if err == nil {
					t.Fatalf("%s was let through", list)
				}
				wantCode(t, err, http.StatusUnprocessableEntity, fmt.Sprintf(`only removing the %q terminator is supported`, s.id("first")))
			}
			_, err := patch(t, client, mergePatch, `{"status":{"initializers":["`+s.id("first")+`"]}}`)
			wantCode(t, err, http.StatusUnprocessableEntity, "status.initializers")
			_, err = patch(t, client, mergePatch, `{"status":{"phase":"Ready"}}`)
			wantCode(t, err, http.StatusUnprocessableEntity, "status.phase")
		},
	},
	"Concurrent": {
		reason: "two controllers that remove their terminators from the list that both have read both succeed",
		test: func(t *testing.T, s *suite) {
			ws := s.dying(t, "both")
			done := make(chan error)
			for token, hooks := range map[string][2]string{first: {"first", "second"}, second: {"second", "first"}} {
				client := s.one(t, token, ending, hooks[0], ws.Spec.Cluster)
				data := `{"status":{"terminators":["` + s.id(hooks[1]) + `"]}}`
				go func() {
					_, err := client.Patch(t.Context(), corev1alpha1.LogicalClusterName, mergePatch, []byte(data), metav1.PatchOptions{}, "status")
					done <- err
				}()
			}
			for range 2 {
				if err := <-done; err != nil {
					t.Error(err)
				}
			}
			s.awaitGone(t, ws.Name)
		},
	},
}
