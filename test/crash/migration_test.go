package crash

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"sigs.k8s.io/yaml"

	"github.com/forkless/kcp/internal/servertest"
	apisv1alpha1 "github.com/forkless/kcp/pkg/apis/apis/v1alpha1"
	apisv1alpha2 "github.com/forkless/kcp/pkg/apis/apis/v1alpha2"
)

var (
	dials       = schema.GroupVersionResource{Group: "example.com", Version: "v1", Resource: "dials"}
	sharedKinds = map[string]schema.GroupVersionResource{
		"APIResourceSchema": apisv1alpha1.GroupVersion.WithResource("apiresourceschemas"),
		"APIConversion":     apisv1alpha1.GroupVersion.WithResource("apiconversions"),
		"APIExport":         apisv1alpha2.GroupVersion.WithResource("apiexports"),
		"APIBinding":        apisv1alpha2.GroupVersion.WithResource("apibindings"),
	}
)

// dialSchema is a schema with versions v1 and v2, one of which is stored, and what
// converts between them.
const dialSchema = `
apiVersion: apis.kcp.io/v1alpha1
kind: APIConversion
metadata: {name: sNUMBER.dials.example.com}
spec:
  conversions:
  - {from: v1, to: v2, rules: [{field: spec.text, destination: spec.number, transformation: int(self)}], preserve: [spec.kept]}
  - {from: v2, to: v1, rules: [{field: spec.number, destination: spec.text, transformation: string(self)}]}
---
apiVersion: apis.kcp.io/v1alpha1
kind: APIResourceSchema
metadata: {name: sNUMBER.dials.example.com}
spec:
  group: example.com
  names: {plural: dials, singular: dial, kind: Dial, listKind: DialList}
  scope: Namespaced
  conversion: {strategy: None}
  versions:
  - name: v1
    served: true
    storage: STORED1
    schema: {type: object, properties: {spec: {type: object, properties: {text: {type: string}, kept: {type: string}}}}}
  - name: v2
    served: true
    storage: STORED2
    schema: {type: object, properties: {spec: {type: object, properties: {number: {type: integer}}}}}
`

const dialExport = `
apiVersion: apis.kcp.io/v1alpha2
kind: APIExport
metadata: {name: dials}
spec: {resources: [{group: example.com, name: dials, schema: s0.dials.example.com}]}
---
apiVersion: apis.kcp.io/v1alpha2
kind: APIBinding
metadata: {name: dials}
spec: {reference: {export: {name: dials}}}
`

// TestKillWhileMigrating kills the server while the objects of a bound API are rewritten in
// another version and clients write them. After each start all are there, with all that
// was acknowledged, and in the end they are stored in the version of the last schema.
func TestKillWhileMigrating(t *testing.T) {
	const rounds, objects = 3, 400
	root := filepath.Join(t.TempDir(), "kcp")
	d := &dialed{process: start(t, root), acknowledged: make([]int, objects)}
	ws := &client{process: d.process, ledger: newLedger()}
	ws.ledger.await(-1)
	d.must(t, ws.workspace(t.Context(), "root", "dials"))
	d.offer(t, 0)
	d.create(t, dialExport)
	d.must(t, eventually(t.Context(), "waiting for dials", func() error {
		_, err := d.client().List(t.Context(), metav1.ListOptions{})
		return err
	}))
	for i := range objects {
		d.must(t, d.write(t.Context(), i, 1))
	}
	for round := 1; ; round++ {
		d.offer(t, round)
		d.must(t, d.serve(t.Context(), round))
		d.work(t)
		if round == rounds {
			break
		}
		d.process = start(t, root)
		d.check(t)
	}
	// An odd round was the last.
	const old, wanted = "v1", "v2"
	left := storedDials(t, root)
	t.Logf("stored when it was killed the last time: %v", left)
	d.process = start(t, root)
	d.check(t)
	d.await(t, left[old])
	d.check(t)
	d.process.stop(t)
	if stored := storedDials(t, root); stored[wanted] != objects || len(stored) != 1 {
		t.Errorf("%d objects have to be in %s, and are in %v", objects, wanted, stored)
	}
}

// storedDials counts dials by the version they are stored in, while there is no server.
func storedDials(t *testing.T, root string) map[string]int {
	t.Helper()
	versions := map[string]int{}
	// etcd is closed when the subtest ends.
	t.Run("Look", func(t *testing.T) {
		for _, value := range servertest.OpenEtcd(t, filepath.Join(root, "etcd-server")).Values(t, "/example.com/dials/") {
			version, _, _ := strings.Cut(strings.TrimPrefix(value, `{"apiVersion":"example.com/`), `"`)
			versions[version]++
		}
	})
	return versions
}

// dialed are the objects of TestKillWhileMigrating, and what they were acknowledged to be.
type dialed struct {
	*process
	mu           sync.Mutex
	acknowledged []int
}

func (d *dialed) must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// create creates objects of apis.kcp.io in the workspace.
func (d *dialed) create(t *testing.T, text string) {
	t.Helper()
	for _, document := range strings.Split(text, "\n---\n") {
		u := &unstructured.Unstructured{}
		d.must(t, yaml.Unmarshal([]byte(document), &u.Object))
		_, err := d.in("root:dials", sharedKinds[u.GetKind()]).Create(t.Context(), u, metav1.CreateOptions{})
		d.must(t, err)
	}
}

// offer makes the schema of a round: v1 is stored in even rounds, v2 in odd ones.
func (d *dialed) offer(t *testing.T, round int) {
	t.Helper()
	d.create(t, strings.NewReplacer("NUMBER", fmt.Sprint(round),
		"STORED1", fmt.Sprint(round%2 == 0), "STORED2", fmt.Sprint(round%2 == 1)).Replace(dialSchema))
}

// serve makes the export offer the schema of a round.
func (d *dialed) serve(ctx context.Context, round int) error {
	patch := fmt.Appendf(nil, `{"spec":{"resources":[{"group":"example.com","name":"dials","schema":"s%d.dials.example.com","storage":{"crd":{}}}]}}`, round)
	_, err := d.in("root:dials", sharedKinds["APIExport"]).Patch(ctx, "dials", types.MergePatchType, patch, metav1.PatchOptions{})
	return err
}

func (d *dialed) client() dynamic.ResourceInterface {
	return d.in("root:dials", dials).Namespace("default")
}

// write makes a dial say a number.
func (d *dialed) write(ctx context.Context, i, number int) error {
	u := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "example.com/v1", "kind": "Dial", "metadata": map[string]any{"name": fmt.Sprintf("d%04d", i)},
		"spec": map[string]any{"text": fmt.Sprint(number), "kept": fmt.Sprint(i)},
	}}
	if _, err := d.client().Apply(ctx, u.GetName(), u, metav1.ApplyOptions{FieldManager: "crash", Force: true}); err != nil {
		return err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.acknowledged[i] = number
	return nil
}

// work writes while the objects are migrated, and kills the server when some are.
func (d *dialed) work(t *testing.T) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	var group sync.WaitGroup
	group.Go(func() {
		for n := 2; ; n++ {
			for i := 0; i < len(d.acknowledged); i += 20 {
				if d.write(ctx, i, n) != nil {
					return
				}
			}
		}
	})
	err := eventually(ctx, "waiting for the migration to be under way", func() error { return d.migrated(ctx, 20) })
	d.kill()
	group.Wait()
	d.must(t, err)
}

// await waits until the process has migrated a number of objects.
func (d *dialed) await(t *testing.T, count int) {
	t.Helper()
	d.must(t, eventually(t.Context(), "waiting for the migration to be over", func() error { return d.migrated(t.Context(), count) }))
}

// migrationLine is what the metrics say of migrated objects.
var migrationLine = regexp.MustCompile(`kcp_storage_migration_objects_total\{result="migrated"\} (\d+)`)

// migrated returns an error unless the process has migrated at least so many objects.
func (d *dialed) migrated(ctx context.Context, count int) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, d.url+"/metrics", http.NoBody)
	if err != nil {
		return err
	}
	resp, err := d.process.client.Do(req)
	if err != nil {
		return err
	}
	defer func() { _ = resp.Body.Close() }()
	metrics, err := io.ReadAll(resp.Body)
	if err != nil {
		return err
	}
	got := 0
	if match := migrationLine.FindSubmatch(metrics); match != nil {
		got, _ = strconv.Atoi(string(match[1]))
	}
	if got < count {
		return fmt.Errorf("%d of %d are migrated", got, count)
	}
	return nil
}

// check compares the objects with what was acknowledged.
func (d *dialed) check(t *testing.T) {
	t.Helper()
	list, err := d.client().List(t.Context(), metav1.ListOptions{})
	d.must(t, err)
	if len(list.Items) != len(d.acknowledged) {
		t.Fatalf("there are %d objects, want %d", len(list.Items), len(d.acknowledged))
	}
	for i := range list.Items {
		text, _, _ := unstructured.NestedString(list.Items[i].Object, "spec", "text")
		kept, _, _ := unstructured.NestedString(list.Items[i].Object, "spec", "kept")
		var found int
		if _, err := fmt.Sscan(text, &found); err != nil || found < d.acknowledged[i] || kept != fmt.Sprint(i) {
			t.Errorf("%s says %q and has kept %q; %d was acknowledged", list.Items[i].GetName(), text, kept, d.acknowledged[i])
		}
	}
}
