package crash

import (
	"context"
	"fmt"
	"path/filepath"
	"testing"

	"golang.org/x/sync/errgroup"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

const (
	// families is how many owners are deleted in each way, and dependents how many each
	// of them has of each resource.
	families   = 3
	dependents = 80
)

// ways are the ways to delete an owner.
var ways = []metav1.DeletionPropagation{
	metav1.DeletePropagationBackground, metav1.DeletePropagationForeground, metav1.DeletePropagationOrphan,
}

// TestKillCollectingGarbage kills the server when some dependents of deleted owners are
// gone and others are not. The next one finishes the job.
func TestKillCollectingGarbage(t *testing.T) {
	root := filepath.Join(t.TempDir(), "kcp")
	p := start(t, root)
	c := &client{process: p, ledger: newLedger(), name: "garbage"}
	if err := c.workspace(t.Context(), "root", "garbage"); err != nil {
		t.Fatal(err)
	}
	const path = "root:garbage"
	definition := object{workspace: path, resource: definitions, name: "widgets.example.com"}
	if err := c.create(t.Context(), definition, widgetDefinition()); err != nil {
		t.Fatal(err)
	}
	if err := eventually(t.Context(), "waiting for widgets", func() error { return p.established(t.Context(), definition) }); err != nil {
		t.Fatal(err)
	}
	before := p.populate(t, path)
	for family := range families {
		for _, way := range ways {
			o := object{workspace: path, resource: configMaps, namespace: "default", name: ownerName(way, family)}
			if err := p.of(o).Delete(t.Context(), o.name, metav1.DeleteOptions{PropagationPolicy: &way}); err != nil {
				t.Fatal(err)
			}
		}
	}
	// What is not garbage: the dependents that are orphaned, and the bystander.
	const kept = families*2*dependents + 1
	if err := eventually(t.Context(), "waiting for the first to go", func() error {
		if left := p.count(t.Context(), path); left == before {
			return fmt.Errorf("%d are left", left)
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	p.kill()

	p = start(t, root)
	t.Logf("killed with %d of %d objects left, of which %d are to stay", p.count(t.Context(), path), before, kept)
	if err := eventually(t.Context(), "waiting for the rest", func() error {
		if left := p.count(t.Context(), path); left != kept {
			return fmt.Errorf("%d are left, want %d", left, kept)
		}
		return p.orphaned(t.Context(), path)
	}); err != nil {
		t.Error(err)
	}
	p.stop(t)
}

func ownerName(way metav1.DeletionPropagation, family int) string {
	return fmt.Sprintf("owner-%c-%d", way[0]|0x20, family)
}

// populate creates owners, their dependents, and one that has to do with none. It returns
// how many there are.
func (p *process) populate(t *testing.T, path string) int {
	t.Helper()
	var group errgroup.Group
	group.SetLimit(readers)
	for family := range families {
		for _, way := range ways {
			owner := p.make(t, object{workspace: path, resource: configMaps, namespace: "default", name: ownerName(way, family)}, nil)
			for n := range dependents {
				name := fmt.Sprintf("%s-%d", owner.GetName(), n)
				group.Go(func() error {
					p.make(t, object{workspace: path, resource: configMaps, namespace: "default", name: name}, owner)
					p.make(t, object{workspace: path, resource: widgets, namespace: "default", name: name}, owner)
					return nil
				})
			}
		}
	}
	p.make(t, object{workspace: path, resource: widgets, namespace: "default", name: "bystander"}, nil)
	_ = group.Wait()
	if t.Failed() {
		t.FailNow()
	}
	return p.count(t.Context(), path)
}

// make creates an object with an owner that it blocks, or none.
func (p *process) make(t *testing.T, o object, owner *unstructured.Unstructured) *unstructured.Unstructured {
	t.Helper()
	obj := &unstructured.Unstructured{}
	obj.SetAPIVersion(o.resource.GroupVersion().String())
	obj.SetKind(kinds[o.resource])
	obj.SetName(o.name)
	if owner != nil {
		block := true
		obj.SetOwnerReferences([]metav1.OwnerReference{{
			APIVersion: owner.GetAPIVersion(), Kind: owner.GetKind(), Name: owner.GetName(), UID: owner.GetUID(), BlockOwnerDeletion: &block,
		}})
	}
	created, err := p.of(o).Create(t.Context(), obj, metav1.CreateOptions{})
	if err != nil {
		t.Errorf("creating %s: %v", o, err)
	}
	return created
}

// count returns how many objects there are, beside those of every workspace; none if it
// cannot be found out.
func (p *process) count(ctx context.Context, path string) int {
	total := 0
	for _, o := range p.objects(ctx, path) {
		if o.GetName() != "kube-root-ca.crt" {
			total++
		}
	}
	return total
}

func (p *process) objects(ctx context.Context, path string) []unstructured.Unstructured {
	var all []unstructured.Unstructured
	for _, o := range []object{{path, configMaps, "default", ""}, {path, widgets, "default", ""}} {
		if list, err := p.of(o).List(ctx, metav1.ListOptions{}); err == nil {
			all = append(all, list.Items...)
		}
	}
	return all
}

// orphaned says which object still has an owner, or is going.
func (p *process) orphaned(ctx context.Context, path string) error {
	for _, o := range p.objects(ctx, path) {
		if len(o.GetOwnerReferences()) > 0 || o.GetDeletionTimestamp() != nil {
			return fmt.Errorf("%s is neither orphaned nor gone: %v", o.GetName(), o.Object["metadata"])
		}
	}
	return nil
}
