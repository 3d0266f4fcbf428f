package lifecycle

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	"github.com/forkless/kcp/internal/servertest"
	"github.com/forkless/kcp/pkg/apis/conditions"
	corev1alpha1 "github.com/forkless/kcp/pkg/apis/core/v1alpha1"
)

// statuses is what the controller of an initializer may write.
var statuses = map[string]behavior{
	"Foreign": {
		reason: "35: the initializer of another is not removed, nor one added or put in the place of another",
		test: func(t *testing.T, s *suite) {
			ws := s.newborn(t, "both")
			client := s.one(t, first, initializing, "first", ws.Spec.Cluster)
			text := fmt.Sprintf(`only removing the %q initializer is supported`, s.id("first"))
			for reason, list := range map[string][]string{
				"that of another":          {s.id("first")},
				"both":                     {},
				"one more":                 {s.id("first"), s.id("second"), "root:universal"},
				"another instead":          {s.id("first"), "root:universal"},
				"one removed, one added":   {s.id("second"), "root:universal"},
				"one that sounds like it":  {s.id("second"), s.id("first") + "x"},
				"the same one again twice": {s.id("first"), s.id("first")},
			} {
				data, err := json.Marshal(map[string]any{"status": map[string]any{"initializers": list}})
				must(t, err)
				_, err = patch(t, client, mergePatch, string(data))
				if err == nil {
					t.Fatalf("%s: it was let through", reason)
				}
				wantCode(t, err, http.StatusUnprocessableEntity, text, "status.initializers")
			}
			if got := s.logicalCluster(t, ws.Spec.Cluster).Status.Initializers; len(got) != 2 {
				t.Errorf("left %v", got)
			}
		},
	},
	"JSONPatch": {
		reason: "entries can be removed by index, with a test that they are what they were",
		test: func(t *testing.T, s *suite) {
			ws := s.newborn(t, "both")
			client := s.one(t, second, initializing, "second", ws.Spec.Cluster)
			patched, err := patch(t, client, types.JSONPatchType, fmt.Sprintf(
				`[{"op":"test","path":"/status/initializers/1","value":%q},{"op":"remove","path":"/status/initializers/1"}]`, s.id("second")))
			must(t, err)
			if got := as[corev1alpha1.LogicalCluster](t, patched).Status.Initializers; len(got) != 1 || string(got[0]) != s.id("first") {
				t.Errorf("the answer has %v", got)
			}
		},
	},
	"Apply": {
		reason: "a condition can be applied, and is its manager's, who takes the list from whoever had it; what the server says itself stays",
		test: func(t *testing.T, s *suite) {
			ws := s.newborn(t, "first")
			client := s.one(t, first, initializing, "first", ws.Spec.Cluster)
			applied, err := client.Patch(t.Context(), corev1alpha1.LogicalClusterName, types.ApplyPatchType, []byte(`{
				"apiVersion":"core.kcp.io/v1alpha1","kind":"LogicalCluster","metadata":{"name":"cluster"},
				"status":{"conditions":[{"type":"Prepared","status":"True","lastTransitionTime":"2024-01-01T00:00:00Z"}]}
			}`), metav1.PatchOptions{FieldManager: "test", Force: ptr.To(true)}, "status")
			must(t, err)
			lc := as[corev1alpha1.LogicalCluster](t, applied)
			if !slices.ContainsFunc(lc.ManagedFields, func(e metav1.ManagedFieldsEntry) bool {
				return e.Manager == "test" && e.Operation == metav1.ManagedFieldsOperationApply && e.Subresource == "status"
			}) {
				t.Errorf("managed by %v", lc.ManagedFields)
			}
			if stored := s.logicalCluster(t, ws.Spec.Cluster); !conditions.IsTrue(stored, "Prepared") || !conditions.Has(stored, corev1alpha1.WorkspaceInitialized) {
				t.Errorf("it has %v", stored.Status.Conditions)
			}
		},
	},
	"Conditions": {
		reason: "conditions can be set and removed, but not those in which the server says itself how far it is",
		test: func(t *testing.T, s *suite) {
			ws := s.newborn(t, "first")
			client := s.one(t, first, initializing, "first", ws.Spec.Cluster)
			_, err := patch(t, client, mergePatch, `{"status":{"conditions":[{"type":"Prepared","status":"False","severity":"Info","reason":"Working","message":"Half done."},
				{"type":"WorkspaceInitialized","status":"True"},{"type":"APIBindingsInitialized","status":"True"}]}}`)
			must(t, err)
			lc := s.logicalCluster(t, ws.Spec.Cluster)
			if conditions.Reason(lc, "Prepared") != "Working" || conditions.IsTrue(lc, corev1alpha1.WorkspaceInitialized) || conditions.Has(lc, corev1alpha1.APIBindingsInitialized) {
				t.Errorf("it has %v", lc.Status.Conditions)
			}
			if condition, _ := conditions.Get(lc, "Prepared"); condition.LastTransitionTime.IsZero() {
				t.Error("it does not say since when")
			}
			_, err = patch(t, client, mergePatch, `{"status":{"conditions":[]}}`)
			must(t, err)
			lc = s.logicalCluster(t, ws.Spec.Cluster)
			if conditions.Has(lc, "Prepared") || !conditions.Has(lc, corev1alpha1.WorkspaceInitialized) {
				t.Errorf("it has %v", lc.Status.Conditions)
			}
		},
	},
	"Put": {
		reason: "an update works like a patch, and has to be of what is there",
		test: func(t *testing.T, s *suite) {
			ws := s.newborn(t, "first")
			client := s.one(t, first, initializing, "first", ws.Spec.Cluster)
			found, err := client.Get(t.Context(), corev1alpha1.LogicalClusterName, metav1.GetOptions{})
			must(t, err)
			stale := found.DeepCopy()
			_, err = patch(t, client, mergePatch, `{"status":{"conditions":[{"type":"Prepared","status":"False","reason":"Working"}]}}`)
			must(t, err)
			_, err = client.UpdateStatus(t.Context(), stale, metav1.UpdateOptions{})
			wantCode(t, err, http.StatusConflict)
			unversioned := stale.DeepCopy()
			unversioned.SetResourceVersion("")
			_, err = client.UpdateStatus(t.Context(), unversioned, metav1.UpdateOptions{})
			wantCode(t, err, http.StatusUnprocessableEntity, "metadata.resourceVersion")
			servertest.Eventually(t, "an update of what is there is taken", func() (bool, any) {
				found, err := client.Get(t.Context(), corev1alpha1.LogicalClusterName, metav1.GetOptions{})
				must(t, err)
				found.Object["status"].(map[string]any)["initializers"] = []any{}
				_, err = client.UpdateStatus(t.Context(), found, metav1.UpdateOptions{})
				return err == nil, err
			})
			s.awaitReady(t, ws.Name)
		},
	},
	"StalePatch": {
		reason: "a patch that says what version it is of is refused if that has changed",
		test: func(t *testing.T, s *suite) {
			ws := s.newborn(t, "first")
			client := s.one(t, first, initializing, "first", ws.Spec.Cluster)
			_, err := patch(t, client, mergePatch, `{"metadata":{"resourceVersion":"1"},"status":{"initializers":[]}}`)
			wantCode(t, err, http.StatusConflict)
			_, err = patch(t, client, mergePatch, `{"metadata":{"uid":"another"},"status":{"initializers":[]}}`)
			wantCode(t, err, http.StatusConflict)
		},
	},
	"Concurrent": {
		reason: "two controllers that remove their own entries from the list that both have read both succeed, and none comes back",
		test: func(t *testing.T, s *suite) {
			ws := s.newborn(t, "both")
			done := make(chan error)
			for token, hooks := range map[string][2]string{first: {"first", "second"}, second: {"second", "first"}} {
				client := s.one(t, token, initializing, hooks[0], ws.Spec.Cluster)
				data := `{"status":{"initializers":["` + s.id(hooks[1]) + `"]}}`
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
			s.awaitReady(t, ws.Name)
		},
	},
	"Rest": {
		reason: "nothing but the status can be written: what else is in a patch of it is left out, and objects are not written at all",
		test: func(t *testing.T, s *suite) {
			ws := s.newborn(t, "first")
			client := s.one(t, first, initializing, "first", ws.Spec.Cluster)
			before := s.logicalCluster(t, ws.Spec.Cluster)
			_, err := patch(t, client, mergePatch, `{"metadata":{"labels":{"mine":"x"},"annotations":{"kcp.io/path":"root"},"finalizers":["mine.io/x"]},
				"spec":{"initializers":[],"owner":{"name":"other"},"directlyDeletable":true},"status":{"conditions":[{"type":"Prepared","status":"True"}]}}`)
			must(t, err)
			after := s.logicalCluster(t, ws.Spec.Cluster)
			if after.Spec.DirectlyDeletable || len(after.Spec.Initializers) != 1 || after.Spec.Owner.Name != before.Spec.Owner.Name {
				t.Errorf("the spec is %+v", after.Spec)
			}
			if after.Labels["mine"] != "" || after.Annotations["kcp.io/path"] != before.Annotations["kcp.io/path"] || len(after.Finalizers) != len(before.Finalizers) {
				t.Errorf("the metadata is %+v", after.ObjectMeta)
			}
		},
	},
	"Recorded": {
		reason: "a write is remembered: who waits for the workspace reads who has last been at it",
		test: func(t *testing.T, s *suite) {
			ws := s.newborn(t, "both")
			_, err := patch(t, s.one(t, first, initializing, "first", ws.Spec.Cluster), mergePatch, `{"status":{"conditions":[{"type":"Prepared","status":"True"}]}}`)
			must(t, err)
			servertest.Eventually(t, "the condition names him", func() (bool, any) {
				condition, _ := conditions.Get(s.logicalCluster(t, ws.Spec.Cluster), corev1alpha1.WorkspaceInitialized)
				_, ofFirst, _ := strings.Cut(condition.Message, s.id("first"))
				return strings.Contains(ofFirst, `last written by "user-1"`), condition
			})
		},
	},
	"Refused": {
		reason: "phase, address and terminators are none of its business, and what it says has to make sense",
		test: func(t *testing.T, s *suite) {
			ws := s.newborn(t, "first")
			client := s.one(t, first, initializing, "first", ws.Spec.Cluster)
			for data, text := range map[string]string{
				`{"status":{"phase":"Ready","initializers":[]}}`:                                         "status.phase",
				`{"status":{"URL":"https://evil.example.com"}}`:                                          "status.URL",
				`{"status":{"terminators":[]}}`:                                                          "status.terminators",
				`{"status":null}`:                                                                        "status.phase",
				`{"status":{"conditions":[{"type":"Prepared","status":"Maybe"}]}}`:                       "status.conditions[0].status",
				`{"status":{"conditions":[{"status":"True"}]}}`:                                          "status.conditions[0].type",
				`{"status":{"conditions":[{"type":"Prepared","status":"False","severity":"Terrible"}]}}`: "status.conditions[0].severity",
			} {
				_, err := patch(t, client, mergePatch, data)
				if err == nil {
					t.Fatalf("%s was let through", data)
				}
				wantCode(t, err, http.StatusUnprocessableEntity, text)
			}
			for _, data := range []string{`{"status":{"initializers":"none"}}`, `{"status":"none"}`, `{"status":{"conditions":[7]}}`} {
				if _, err := patch(t, client, mergePatch, data); err == nil || strings.Contains(err.Error(), "Internal") {
					t.Errorf("%s: got %v", data, err)
				}
			}
		},
	},
	"DryRun": {
		reason: "a dry run says what would be, and leaves it",
		test: func(t *testing.T, s *suite) {
			ws := s.newborn(t, "first")
			client := s.one(t, first, initializing, "first", ws.Spec.Cluster)
			dry := metav1.PatchOptions{DryRun: []string{metav1.DryRunAll}}
			patched, err := client.Patch(t.Context(), corev1alpha1.LogicalClusterName, mergePatch, []byte(`{"status":{"initializers":[]}}`), dry, "status")
			must(t, err)
			if got := as[corev1alpha1.LogicalCluster](t, patched).Status.Initializers; len(got) != 0 {
				t.Errorf("it would have %v", got)
			}
			_, err = client.Patch(t.Context(), corev1alpha1.LogicalClusterName, mergePatch, []byte(`{"status":{"phase":"Ready"}}`), dry, "status")
			wantCode(t, err, http.StatusUnprocessableEntity)
			if got := s.logicalCluster(t, ws.Spec.Cluster).Status.Initializers; len(got) != 1 {
				t.Errorf("it has %v", got)
			}
		},
	},
	"Methods": {
		reason: "35: everything else than reading, and writing the status, is no method",
		test: func(t *testing.T, s *suite) {
			ws := s.newborn(t, "first")
			one, all := s.at(initializing, "first", ws.Spec.Cluster), s.at(initializing, "first", everywhere)
			const objects = "/apis/core.kcp.io/v1alpha1/logicalclusters"
			for _, r := range []struct{ method, path string }{
				{http.MethodPatch, one + objects + "/cluster"}, {http.MethodPut, one + objects + "/cluster"}, {http.MethodDelete, one + objects + "/cluster"},
				{http.MethodPost, one + objects}, {http.MethodDelete, one + objects}, {http.MethodDelete, one + objects + "/cluster/status"},
				{http.MethodPost, all + objects}, {http.MethodDelete, all + objects}, {http.MethodGet, all + objects + "/cluster"},
				{http.MethodPatch, all + objects + "/cluster/status"}, {http.MethodGet, all + objects + "/cluster/status"},
				{http.MethodPatch, s.at(ending, "first", ws.Spec.Cluster) + objects + "/cluster"}, {http.MethodPut, s.at(ending, "first", ws.Spec.Cluster) + objects + "/cluster"},
			} {
				got := s.send(t, first, r.method, r.path, `{"metadata":{"name":"cluster"}}`, map[string]string{"Content-Type": "application/merge-patch+json"})
				if got.code != http.StatusMethodNotAllowed || !strings.Contains(got.body, `"kind":"Status"`) || !strings.Contains(got.body, `"reason":"MethodNotAllowed"`) {
					t.Errorf("%s %s: got %d %s", r.method, r.path, got.code, got.body)
				}
			}
		},
	},
	"Media": {
		reason: "a patch of a form that custom resources do not know is told so",
		test: func(t *testing.T, s *suite) {
			ws := s.newborn(t, "first")
			_, err := patch(t, s.one(t, first, initializing, "first", ws.Spec.Cluster), types.StrategicMergePatchType, `{"status":{"initializers":[]}}`)
			wantCode(t, err, http.StatusUnsupportedMediaType)
		},
	},
}
