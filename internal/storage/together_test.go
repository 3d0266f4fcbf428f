package storage

import (
	"context"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/storage"

	"github.com/forkless/kcp/pkg/logicalcluster"
)

var ledgers = Resource{GroupResource: schema.GroupResource{Group: "example.com", Resource: "ledgers"}}

// completing is a layer that writes a line into the ledger of a cluster for everything that
// is created there with the label "noted".
type completing struct {
	*testing.T
	layer *Layer
	notes storage.Interface
	store storage.Interface
	// asked is how often it was asked, and done what it was told.
	asked int
	done  []bool
	// before is called before a transaction with the ledger as it will require it.
	before func(*corev1.ConfigMap)
}

func startCompleting(t *testing.T) *completing {
	t.Helper()
	layer, err := StartEmbedded(t.Context(), EmbeddedOptions{
		Settings:  Settings{Anchor: &Anchor{Resource: ledgers, Name: "ledger"}},
		Directory: t.TempDir(),
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(layer.Close)
	c := &completing{T: t, layer: layer, before: func(*corev1.ConfigMap) {}}
	for resource, store := range map[Resource]*storage.Interface{ledgers: &c.notes, configMaps: &c.store} {
		if *store, err = layer.Open(resource, configMapKind(t)); err != nil {
			t.Fatal(err)
		}
	}
	if err := layer.CompleteCreates(configMaps, c.complete); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the watch caches are ready", func() bool { return layer.Ready() == nil })
	ledger := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "ledger"}}
	if err := c.notes.Create(logicalcluster.NewContext(t.Context(), one), ledgers.Key("", "ledger"), ledger, &corev1.ConfigMap{}, 0); err != nil {
		t.Fatal(err)
	}
	return c
}

func (c *completing) ledger() *corev1.ConfigMap {
	c.Helper()
	ledger := &corev1.ConfigMap{}
	if err := c.notes.Get(logicalcluster.NewContext(c.Context(), one), ledgers.Key("", "ledger"), storage.GetOptions{}, ledger); err != nil {
		c.Fatal(err)
	}
	return ledger
}

// note writes a line into the ledger.
func (c *completing) note(ledger *corev1.ConfigMap, line string) {
	c.Helper()
	batch := c.layer.NewBatch()
	batch.Update(ledgers, one, noted(ledger, line))
	if err := batch.Commit(c.Context()); err != nil {
		c.Fatal(err)
	}
}

func noted(ledger *corev1.ConfigMap, line string) *corev1.ConfigMap {
	ledger = ledger.DeepCopy()
	if ledger.Data == nil {
		ledger.Data = map[string]string{}
	}
	ledger.Data[line] = "noted"
	return ledger
}

func (c *completing) complete(_ context.Context, cluster logicalcluster.Name, obj runtime.Object, again bool) *Completion {
	created := obj.(*corev1.ConfigMap).DeepCopy()
	if created.Labels["noted"] == "" {
		return nil
	}
	if again != (c.asked > 0) {
		c.Errorf("asked for the %dth time: again %v", c.asked+1, again)
	}
	c.asked++
	ledger := c.ledger()
	c.before(ledger)
	created.Data = map[string]string{"completed": "yes"}
	batch := c.layer.NewBatch()
	batch.Update(ledgers, cluster, noted(ledger, created.Name))
	return &Completion{Object: created, With: batch, Done: func(written bool) { c.done = append(c.done, written) }}
}

func (c *completing) create(name string, labels map[string]string) (*corev1.ConfigMap, error) {
	obj, out := configMap(name), &corev1.ConfigMap{}
	obj.Labels = labels
	return out, c.store.Create(logicalcluster.NewContext(c.Context(), one), "/core/configmaps/default/"+name, obj, out, 0)
}

var label = map[string]string{"noted": "please"}

func TestCreateCompleted(t *testing.T) {
	c := startCompleting(t)
	c.layer.CountObjects()
	counted := func() int64 {
		count, _, err := c.layer.ObjectCount(t.Context(), one)
		if err != nil {
			t.Fatal(err)
		}
		return count
	}
	before := counted()
	created, err := c.create("first", label)
	if err != nil {
		t.Fatal(err)
	}
	ledger := c.ledger()
	if diff := cmp.Diff(map[string]string{"first": "noted"}, ledger.Data); diff != "" {
		t.Errorf("what was written with it (-want +got):\n%s", diff)
	}
	if created.Data["completed"] != "yes" || created.ResourceVersion != ledger.ResourceVersion {
		t.Errorf("created %+v at the version of the ledger, %s", created, ledger.ResourceVersion)
	}
	if names, _ := list(t, c.store, one, storage.ListOptions{}); !cmp.Equal(names, []string{"one/first"}) {
		t.Errorf("listed: %v", names)
	}
	if got := counted() - before; got != 1 {
		t.Errorf("%d objects more, want 1: the ledger was there", got)
	}
	if _, err := c.create("plain", nil); err != nil || c.asked != 1 {
		t.Errorf("what is not to be completed: %v, asked %d times", err, c.asked)
	}
	if diff := cmp.Diff([]bool{true}, c.done); diff != "" {
		t.Errorf("what it was told (-want +got):\n%s", diff)
	}
}

func TestCreateNotCompleted(t *testing.T) {
	for name, tc := range map[string]struct {
		reason string
		// act happens before each transaction.
		act    func(c *completing, ledger *corev1.ConfigMap)
		asked  int
		done   []bool
		failed func(error) bool
		// complete and lines are what becomes of the object and the ledger.
		complete bool
		lines    []string
	}{
		"ChangedOnce": {
			reason: "the decision is taken anew",
			act: func(c *completing, ledger *corev1.ConfigMap) {
				if c.asked == 1 {
					c.note(ledger, "other")
				}
			},
			asked: 2, done: []bool{false, true}, complete: true, lines: []string{"mine", "other"},
		},
		"ChangesAllTheTime": {
			reason: "then it is created as it is",
			act:    func(c *completing, ledger *corev1.ConfigMap) { c.note(ledger, "other-"+ledger.ResourceVersion) },
			asked:  completions, done: []bool{false, false, false},
		},
		"Exists": {
			reason: "who creates what exists hears just that, and nothing is written",
			act: func(c *completing, _ *corev1.ConfigMap) {
				if _, err := c.create("mine", nil); err != nil {
					c.Error(err)
				}
			},
			asked: 1, done: []bool{false}, failed: storage.IsExist, lines: []string{},
		},
		"ExistsAndChanged": {
			reason: "that it exists comes first",
			act: func(c *completing, ledger *corev1.ConfigMap) {
				if _, err := c.create("mine", nil); err != nil {
					c.Error(err)
				}
				c.note(ledger, "other")
			},
			asked: 1, done: []bool{false}, failed: storage.IsExist, lines: []string{"other"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			c := startCompleting(t)
			c.before = func(ledger *corev1.ConfigMap) { tc.act(c, ledger) }
			created, err := c.create("mine", label)
			if tc.failed == nil && err != nil || tc.failed != nil && !tc.failed(err) {
				t.Fatalf("%s: %v", tc.reason, err)
			}
			if complete := created.Data["completed"] == "yes"; complete != tc.complete {
				t.Errorf("%s: completed %v", tc.reason, complete)
			}
			if c.asked != tc.asked || !cmp.Equal(c.done, tc.done) {
				t.Errorf("%s: asked %d times and told %v", tc.reason, c.asked, c.done)
			}
			if ledger := c.ledger(); tc.lines != nil {
				want := map[string]string{}
				for _, line := range tc.lines {
					want[line] = "noted"
				}
				if len(ledger.Data)+len(want) > 0 && !cmp.Equal(ledger.Data, want) {
					t.Errorf("%s: the ledger says %v, want %v", tc.reason, ledger.Data, want)
				}
			}
		})
	}
}

// TestCreateCompletedWithoutAnAnchor: what has gone with its cluster does not come back.
func TestCreateCompletedWithoutAnAnchor(t *testing.T) {
	c := startCompleting(t)
	c.before = func(*corev1.ConfigMap) {
		batch := c.layer.NewBatch()
		batch.Purge(one, ledgers)
		if err := batch.Commit(t.Context()); err != nil {
			t.Error(err)
		}
	}
	if _, err := c.create("late", label); !apierrors.IsForbidden(err) {
		t.Errorf("got %v", err)
	}
	if diff := cmp.Diff([]bool{false}, c.done); diff != "" {
		t.Errorf("what it was told (-want +got):\n%s", diff)
	}
}

func TestRequireExists(t *testing.T) {
	c := startCompleting(t)
	for name, tc := range map[string]struct {
		reason  string
		require func(*Batch)
		want    error
	}{
		"There":     {"it is there, whatever its version", func(b *Batch) { b.RequireExists(ledgers, one, "", "ledger") }, nil},
		"NotThere":  {"there is none of that name", func(b *Batch) { b.RequireExists(ledgers, one, "", "other") }, ErrBatchConflict},
		"Elsewhere": {"it is in another cluster", func(b *Batch) { b.RequireExists(ledgers, two, "", "ledger") }, ErrBatchConflict},
		"Namespace": {"it is in another namespace", func(b *Batch) { b.RequireExists(ledgers, one, "default", "ledger") }, ErrBatchConflict},
	} {
		t.Run(name, func(t *testing.T) {
			batch := c.layer.NewBatch()
			tc.require(batch)
			batch.Create(configMaps, one, configMap("with-"+name))
			if err := batch.Commit(t.Context()); !errors.Is(err, tc.want) {
				t.Errorf("%s: got %v, want %v", tc.reason, err, tc.want)
			}
		})
	}
}
