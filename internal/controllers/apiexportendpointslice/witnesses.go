package apiexportendpointslice

import (
	"context"
	"math/rand/v2"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/forkless/kcp/internal/controller"
	apisv1alpha2 "github.com/forkless/kcp/pkg/apis/apis/v1alpha2"
	"github.com/forkless/kcp/pkg/logicalcluster"
)

// reference is how an export is referred to: by the path or the name of its cluster.
type reference struct{ path, name string }

// referenceFrom returns the reference that an object of a cluster makes. Without a path it
// is to an export of the same cluster.
func referenceFrom(cluster logicalcluster.Name, path, name string) reference {
	if path == "" {
		path = cluster.String()
	}
	return reference{path: path, name: name}
}

// referenceOf returns the reference of a binding; ok is false if it makes none.
func referenceOf(binding *apisv1alpha2.APIBinding) (ref reference, ok bool) {
	export := binding.Spec.Reference.Export
	if export == nil {
		return reference{}, false
	}
	return referenceFrom(logicalcluster.FromAnnotations(binding.Annotations), export.Path, export.Name), true
}

// bindingReader reads bindings.
type bindingReader interface {
	Binding(ctx context.Context, cluster logicalcluster.Name, name string) (*apisv1alpha2.APIBinding, error)
	Bindings(ctx context.Context, cluster logicalcluster.Name) ([]apisv1alpha2.APIBinding, error)
}

// witnesses knows one binding for each export that any binding refers to.
type witnesses struct {
	bindings bindingReader

	// begin reads all bindings once: before that, that nobody refers to an export means
	// nothing.
	begin sync.Mutex
	begun bool

	mu    sync.Mutex
	known map[reference]controller.Key
}

// heard takes note of a binding, which may be new, changed or gone, and says whether an
// answer of refersTo may have changed with it.
func (w *witnesses) heard(binding *apisv1alpha2.APIBinding) (ref reference, matters bool) {
	ref, ok := referenceOf(binding)
	if !ok {
		return reference{}, false
	}
	key := keyOf(binding)
	w.mu.Lock()
	defer w.mu.Unlock()
	witness, ok := w.known[ref]
	if !ok {
		w.set(ref, key)
		return ref, true
	}
	return ref, witness == key
}

// refersTo says whether there is a binding with this reference.
func (w *witnesses) refersTo(ctx context.Context, ref reference) (bool, error) {
	if err := w.readAllOnce(ctx); err != nil {
		return false, err
	}
	w.mu.Lock()
	witness, ok := w.known[ref]
	w.mu.Unlock()
	if !ok {
		return false, nil
	}
	binding, err := w.bindings.Binding(ctx, witness.Cluster, witness.Name)
	if err == nil {
		if of, _ := referenceOf(binding); of == ref {
			return true, nil
		}
	} else if !apierrors.IsNotFound(err) {
		return false, err
	}
	return w.replace(ctx, ref, witness)
}

// replace finds a new witness for one that is gone, and says whether there is any. The old
// one is forgotten first: a binding that is heard of from then on becomes the new one, and
// those heard of before are found.
func (w *witnesses) replace(ctx context.Context, ref reference, gone controller.Key) (bool, error) {
	w.mu.Lock()
	if w.known[ref] == gone {
		delete(w.known, ref)
	}
	w.mu.Unlock()
	all, err := w.bindings.Bindings(ctx, logicalcluster.Wildcard)
	if err != nil {
		return false, err
	}
	found, candidates := controller.Key{}, 0
	for i := range all {
		if of, ok := referenceOf(&all[i]); ok && of == ref {
			candidates++
			if rand.IntN(candidates) == 0 {
				found = keyOf(&all[i])
			}
		}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if _, ok := w.known[ref]; !ok && candidates > 0 {
		w.set(ref, found)
	}
	_, ok := w.known[ref]
	return ok, nil
}

func (w *witnesses) readAllOnce(ctx context.Context) error {
	w.begin.Lock()
	defer w.begin.Unlock()
	if w.begun {
		return nil
	}
	all, err := w.bindings.Bindings(ctx, logicalcluster.Wildcard)
	if err != nil {
		return err
	}
	for i := range all {
		w.heard(&all[i])
	}
	w.begun = true
	return nil
}

// set makes a binding the witness for ref. The caller holds mu.
func (w *witnesses) set(ref reference, witness controller.Key) {
	if w.known == nil {
		w.known = map[reference]controller.Key{}
	}
	w.known[ref] = witness
}

// references returns what bindings refer to.
func (w *witnesses) references() []reference {
	w.mu.Lock()
	defer w.mu.Unlock()
	all := make([]reference, 0, len(w.known))
	for ref := range w.known {
		all = append(all, ref)
	}
	return all
}

func keyOf(binding *apisv1alpha2.APIBinding) controller.Key {
	return controller.Key{Cluster: logicalcluster.FromAnnotations(binding.Annotations), Name: binding.Name}
}
