package crash

import (
	"context"
	"fmt"
	"path/filepath"
	"testing"

	"golang.org/x/sync/errgroup"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
)

const (
	// emptied is how many namespaces are deleted, and content how many objects of each
	// resource each of them has.
	emptied = 3
	content = 150
	holder  = "crash.example.com/held"
)

// TestKillEmptyingNamespaces kills the server when some of the content of deleted
// namespaces is gone. The next one finishes the job, but for what a finalizer holds.
func TestKillEmptyingNamespaces(t *testing.T) {
	root := filepath.Join(t.TempDir(), "kcp")
	p := start(t, root)
	c := &client{process: p, ledger: newLedger(), name: "namespaces"}
	if err := c.workspace(t.Context(), "root", "namespaces"); err != nil {
		t.Fatal(err)
	}
	const path = "root:namespaces"
	definition := object{workspace: path, resource: definitions, name: "widgets.example.com"}
	if err := c.create(t.Context(), definition, widgetDefinition()); err != nil {
		t.Fatal(err)
	}
	if err := eventually(t.Context(), "waiting for widgets", func() error { return p.established(t.Context(), definition) }); err != nil {
		t.Fatal(err)
	}
	kept := object{workspace: path, resource: configMaps, namespace: "default", name: "kept"}
	p.make(t, kept, nil)
	held := object{workspace: path, resource: widgets, namespace: emptiedName(0), name: "held"}
	p.fill(t, path, held)
	p.killWhen(t, path, func() {
		for i := range emptied {
			o := object{workspace: path, resource: namespaces, name: emptiedName(i)}
			if err := p.of(o).Delete(t.Context(), o.name, metav1.DeleteOptions{}); err != nil {
				t.Fatal(err)
			}
		}
	})

	p = start(t, root)
	t.Logf("killed with %d of %d objects left", p.remaining(t, path), emptied*2*content)
	waitFor := func(what string, left, standing int) {
		t.Helper()
		if err := eventually(t.Context(), what, func() error { return p.emptied(t, path, left, standing) }); err != nil {
			t.Error(err)
		}
	}
	waitFor("waiting for all that nothing holds", 1, 1)
	if _, err := p.of(kept).Get(t.Context(), kept.name, metav1.GetOptions{}); err != nil {
		t.Errorf("a namespace that was not deleted: %v", err)
	}
	release := []byte(`{"metadata":{"finalizers":null}}`)
	if _, err := p.of(held).Patch(t.Context(), held.name, types.MergePatchType, release, metav1.PatchOptions{}); err != nil {
		t.Fatal(err)
	}
	waitFor("waiting for what was held", 0, 0)
	p.stop(t)
}

// killWhen calls begin, which makes content go, and kills the server when some of it has
// gone.
func (p *process) killWhen(t *testing.T, path string, begin func()) {
	t.Helper()
	const seen = 10
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	events, err := p.in(path, configMaps).Watch(ctx, metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	begin()
	for gone := 0; gone < seen; {
		event, ok := <-events.ResultChan()
		if !ok {
			t.Fatal("the watch ended before content went")
		}
		if event.Type == watch.Deleted {
			gone++
		}
	}
	p.kill()
}

func emptiedName(i int) string { return fmt.Sprintf("emptied-%d", i) }

// fill makes the namespaces and their content, with one object that a finalizer holds.
func (p *process) fill(t *testing.T, path string, held object) {
	t.Helper()
	var group errgroup.Group
	group.SetLimit(readers)
	for i := range emptied {
		p.make(t, object{workspace: path, resource: namespaces, name: emptiedName(i)}, nil)
		for n := range content {
			group.Go(func() error {
				name := fmt.Sprintf("content-%d", n)
				p.make(t, object{workspace: path, resource: configMaps, namespace: emptiedName(i), name: name}, nil)
				p.make(t, object{workspace: path, resource: widgets, namespace: emptiedName(i), name: name}, nil)
				return nil
			})
		}
	}
	_ = group.Wait()
	obj := &unstructured.Unstructured{}
	obj.SetAPIVersion(widgets.GroupVersion().String())
	obj.SetKind(kinds[widgets])
	obj.SetName(held.name)
	obj.SetFinalizers([]string{holder})
	if _, err := p.of(held).Create(t.Context(), obj, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	if t.Failed() {
		t.FailNow()
	}
}

// remaining returns how many objects are left in the namespaces.
func (p *process) remaining(t *testing.T, path string) int {
	t.Helper()
	total := 0
	for i := range emptied {
		for _, resource := range []object{
			{workspace: path, resource: configMaps, namespace: emptiedName(i)},
			{workspace: path, resource: widgets, namespace: emptiedName(i)},
		} {
			list, err := p.of(resource).List(t.Context(), metav1.ListOptions{})
			if err != nil {
				t.Fatal(err)
			}
			for _, item := range list.Items {
				if item.GetName() != "kube-root-ca.crt" {
					total++
				}
			}
		}
	}
	return total
}

// emptied says what is wrong if not just so many objects are left, and namespaces stand.
func (p *process) emptied(t *testing.T, path string, left, standing int) error {
	t.Helper()
	if got := p.remaining(t, path); got != left {
		return fmt.Errorf("%d objects are left, want %d", got, left)
	}
	found := 0
	for i := range emptied {
		o := object{workspace: path, resource: namespaces, name: emptiedName(i)}
		switch _, err := p.of(o).Get(t.Context(), o.name, metav1.GetOptions{}); {
		case err == nil:
			found++
		case !apierrors.IsNotFound(err):
			return err
		}
	}
	if found != standing {
		return fmt.Errorf("%d namespaces are left, want %d", found, standing)
	}
	return nil
}
