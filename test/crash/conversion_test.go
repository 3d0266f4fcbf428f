package crash

import (
	"context"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"sync"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"

	"github.com/forkless/kcp/internal/servertest"
)

var (
	gaugesV1 = schema.GroupVersionResource{Group: "example.com", Version: "v1", Resource: "gauges"}
	gaugesV2 = schema.GroupVersionResource{Group: "example.com", Version: "v2", Resource: "gauges"}
)

// TestKillWhileConverting kills the server while objects are written and read through a
// conversion webhook and the version that is stored changes. What was acknowledged is
// there afterwards, whole, in both versions.
func TestKillWhileConverting(t *testing.T) {
	const rounds, objects, writes = 3, 20, 150
	root := filepath.Join(t.TempDir(), "kcp")
	p := start(t, root)
	ws := &client{process: p, ledger: newLedger()}
	ws.ledger.await(-1)
	if err := ws.workspace(t.Context(), "root", "converting"); err != nil {
		t.Fatal(err)
	}
	hook := gaugeWebhook(t)
	g := &gauges{process: p, values: make([]value, objects)}
	if err := g.define(t.Context(), hook); err != nil {
		t.Fatal(err)
	}
	for round := range rounds {
		g.work(t, writes*(round+1))
		g.process = start(t, root)
		g.check(t)
	}
	g.process.stop(t)
	etcd := servertest.OpenEtcd(t, filepath.Join(root, "etcd-server"))
	keys, err := etcd.Keys("gauges/customresources/")
	if err != nil {
		t.Fatal(err)
	}
	if len(keys) > objects {
		t.Errorf("%d objects are stored, %d were made: %v", len(keys), objects, keys)
	}
}

// value is what is known of one object.
type value struct{ tried, acknowledged int }

// gauges are objects that are written through both versions: v1 has spec.text, v2 has
// spec.left and spec.right, which are equal in all that was ever written.
type gauges struct {
	*process
	mu     sync.Mutex
	values []value
	// total counts acknowledged writes.
	total int
}

func (g *gauges) define(ctx context.Context, hook *httptest.Server) error {
	text := func(names ...string) map[string]any {
		properties := map[string]any{}
		for _, name := range names {
			properties[name] = map[string]any{"type": "string"}
		}
		return map[string]any{"openAPIV3Schema": map[string]any{"type": "object", "properties": map[string]any{
			"spec": map[string]any{"type": "object", "properties": properties},
		}}}
	}
	definition := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
		"metadata": map[string]any{"name": "gauges.example.com"},
		"spec": map[string]any{
			"group": "example.com", "scope": "Namespaced",
			"names": map[string]any{"plural": "gauges", "kind": "Gauge"},
			"conversion": map[string]any{"strategy": "Webhook", "webhook": map[string]any{
				"conversionReviewVersions": []any{"v1"},
				"clientConfig": map[string]any{
					"url":      hook.URL,
					"caBundle": pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: hook.Certificate().Raw}),
				},
			}},
			"versions": []any{
				map[string]any{"name": "v1", "served": true, "storage": true, "schema": text("text")},
				map[string]any{"name": "v2", "served": true, "storage": false, "schema": text("left", "right")},
			},
		},
	}}
	// Bytes are base64 in JSON and cannot be in an unstructured object.
	content, err := json.Marshal(definition.Object)
	if err != nil {
		return err
	}
	if err := definition.UnmarshalJSON(content); err != nil {
		return err
	}
	if _, err := g.in("root:converting", definitions).Create(ctx, definition, metav1.CreateOptions{}); err != nil {
		return err
	}
	o := object{workspace: "root:converting", resource: definitions, name: "gauges.example.com"}
	return eventually(ctx, "waiting for "+o.String(), func() error { return g.established(ctx, o) })
}

func (g *gauges) client(resource schema.GroupVersionResource) dynamic.ResourceInterface {
	return g.in("root:converting", resource).Namespace("default")
}

// work writes until there are so many acknowledged writes, and kills the server.
func (g *gauges) work(t *testing.T, writes int) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	enough, failed := make(chan struct{}), make(chan error, len(g.values))
	var group sync.WaitGroup
	for i := range g.values {
		group.Go(func() {
			for n := 0; ; n++ {
				if err := g.write(ctx, i, n); err != nil {
					failed <- err
					return
				}
				g.acknowledged(writes, enough)
			}
		})
	}
	group.Go(func() {
		for n := 0; g.store(ctx, n%2) == nil; n++ {
			// What is stored in another version is read and written for a while.
			select {
			case <-ctx.Done():
			case <-time.After(20 * poll):
			}
		}
	})
	select {
	case <-enough:
	case err := <-failed:
		t.Errorf("before the kill: %v", err)
	case <-ctx.Done():
		t.Errorf("%d writes took longer than %s", writes, patience)
	}
	g.kill()
	group.Wait()
	if t.Failed() {
		t.FailNow()
	}
}

func (g *gauges) acknowledged(writes int, enough chan struct{}) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.total++; g.total == writes {
		close(enough)
	}
}

// write creates or changes an object, in one version or the other, and reads it.
func (g *gauges) write(ctx context.Context, i, n int) error {
	name, next := fmt.Sprintf("g-%d", i), g.values[i].tried+1
	resource, spec := gaugesV1, map[string]any{"text": fmt.Sprint(next)}
	if (i+n)%2 == 0 {
		resource, spec = gaugesV2, map[string]any{"left": fmt.Sprint(next), "right": fmt.Sprint(next)}
	}
	g.values[i].tried = next
	patch, err := json.Marshal(map[string]any{"apiVersion": resource.GroupVersion().String(), "kind": "Gauge", "metadata": map[string]any{"name": name}, "spec": spec})
	if err != nil {
		return err
	}
	manager := metav1.PatchOptions{FieldManager: "crash-" + resource.Version}
	manager.Force = new(bool)
	*manager.Force = true
	if _, err := g.client(resource).Patch(ctx, name, types.ApplyPatchType, patch, manager); err != nil {
		return err
	}
	g.values[i].acknowledged = next
	_, err = g.client(gaugesV2).List(ctx, metav1.ListOptions{})
	return err
}

// store makes one of the two versions the stored one.
func (g *gauges) store(ctx context.Context, version int) error {
	patch := fmt.Sprintf(`[{"op":"replace","path":"/spec/versions/0/storage","value":%t},{"op":"replace","path":"/spec/versions/1/storage","value":%t}]`, version == 0, version == 1)
	_, err := g.in("root:converting", definitions).Patch(ctx, "gauges.example.com", types.JSONPatchType, []byte(patch), metav1.PatchOptions{})
	return err
}

// check compares both versions of all objects with what was acknowledged.
func (g *gauges) check(t *testing.T) {
	t.Helper()
	for i, known := range g.values {
		if known.acknowledged == 0 {
			continue
		}
		name := fmt.Sprintf("g-%d", i)
		one, err := g.client(gaugesV1).Get(t.Context(), name, metav1.GetOptions{})
		if err != nil {
			t.Fatal(err)
		}
		two, err := g.client(gaugesV2).Get(t.Context(), name, metav1.GetOptions{})
		if err != nil {
			t.Fatal(err)
		}
		text, _, _ := unstructured.NestedString(one.Object, "spec", "text")
		left, _, _ := unstructured.NestedString(two.Object, "spec", "left")
		right, _, _ := unstructured.NestedString(two.Object, "spec", "right")
		var found int
		if _, err := fmt.Sscan(text, &found); err != nil || text != left || left != right {
			t.Errorf("%s is %q in v1 and %q, %q in v2", name, text, left, right)
		}
		if found < known.acknowledged || found > known.tried {
			t.Errorf("%s is %d, and %d was acknowledged, %d tried", name, found, known.acknowledged, known.tried)
		}
		g.values[i] = value{tried: known.tried, acknowledged: found}
	}
}

// gaugeWebhook converts gauges until the test ends.
func gaugeWebhook(t *testing.T) *httptest.Server {
	t.Helper()
	hook := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		var review struct {
			APIVersion string         `json:"apiVersion"`
			Kind       string         `json:"kind"`
			Request    map[string]any `json:"request,omitempty"`
			Response   map[string]any `json:"response"`
		}
		if err := json.NewDecoder(req.Body).Decode(&review); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		objects, _ := review.Request["objects"].([]any)
		for _, object := range objects {
			if u, ok := object.(map[string]any); ok {
				convertGauge(u, fmt.Sprint(review.Request["desiredAPIVersion"]))
			}
		}
		review.Response = map[string]any{"uid": review.Request["uid"], "convertedObjects": objects, "result": map[string]any{"status": "Success"}}
		review.Request = nil
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(review)
	}))
	t.Cleanup(hook.Close)
	return hook
}

func convertGauge(object map[string]any, to string) {
	object["apiVersion"] = to
	spec, _ := object["spec"].(map[string]any)
	if text, ok := spec["text"]; ok && to == "example.com/v2" {
		object["spec"] = map[string]any{"left": text, "right": text}
	}
	if left, ok := spec["left"]; ok && to == "example.com/v1" {
		object["spec"] = map[string]any{"text": left}
	}
}
