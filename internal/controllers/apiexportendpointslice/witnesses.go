package apiexportendpointslice

import (
	"context"
	"math/rand/v2"
	"slices"
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

// most is how many witnesses are known of a reference.
const most = 8

// known are bindings that make a reference. Whether the first does still is what answers
// go by; of the others it is found out when they come first.
type known struct {
	witnesses []controller.Key
	// more says that there were others, which are not known.
	more bool
}

// witnesses knows some bindings for each export that any binding refers to.
type witnesses struct {
	bindings bindingReader

	// begin reads all bindings once: before that, that nobody refers to an export means
	// nothing.
	begin sync.Mutex
	begun bool

	mu sync.Mutex
	of map[reference]*known
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
	w.add(ref, key)
	return ref, w.of[ref].witnesses[0] == key
}

// add makes a binding a witness for ref, if there are not enough. The caller holds mu.
func (w *witnesses) add(ref reference, witness controller.Key) {
	if w.of == nil {
		w.of = map[reference]*known{}
	}
	k := w.of[ref]
	switch {
	case k == nil:
		w.of[ref] = &known{witnesses: []controller.Key{witness}}
	case slices.Contains(k.witnesses, witness):
	case len(k.witnesses) < most:
		k.witnesses = append(k.witnesses, witness)
	default:
		k.more = true
	}
}

// refersTo says whether there is a binding with this reference.
func (w *witnesses) refersTo(ctx context.Context, ref reference) (bool, error) {
	if err := w.readAllOnce(ctx); err != nil {
		return false, err
	}
	for {
		witness, more := w.first(ref)
		if witness == (controller.Key{}) {
			return false, nil
		}
		if refers, err := w.makes(ctx, witness, ref); refers || err != nil {
			return refers, err
		}
		if last := w.remove(ref, witness); last && more {
			return w.find(ctx, ref)
		}
		// It may have come again after it was found to be gone, and before it was removed.
		if refers, err := w.makes(ctx, witness, ref); err != nil {
			return false, err
		} else if refers {
			w.mu.Lock()
			w.add(ref, witness)
			w.mu.Unlock()
		}
	}
}

// first returns the witness that answers go by, the zero Key if there is none.
func (w *witnesses) first(ref reference) (witness controller.Key, more bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if k := w.of[ref]; k != nil {
		return k.witnesses[0], k.more
	}
	return controller.Key{}, false
}

// makes says whether there is a binding, and it makes a reference.
func (w *witnesses) makes(ctx context.Context, witness controller.Key, ref reference) (bool, error) {
	binding, err := w.bindings.Binding(ctx, witness.Cluster, witness.Name)
	if apierrors.IsNotFound(err) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	of, _ := referenceOf(binding)
	return of == ref, nil
}

// remove forgets a witness, and says whether it was the last one.
func (w *witnesses) remove(ref reference, gone controller.Key) (last bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	k := w.of[ref]
	if k == nil {
		return false
	}
	k.witnesses = slices.DeleteFunc(k.witnesses, func(key controller.Key) bool { return key == gone })
	if len(k.witnesses) == 0 {
		delete(w.of, ref)
		return true
	}
	return false
}

// find finds new witnesses when all that were known are gone, and says whether there are any.
// The old ones are forgotten: a binding that is heard of from then on is a new one, and
// those heard of before are found.
func (w *witnesses) find(ctx context.Context, ref reference) (bool, error) {
	all, err := w.bindings.Bindings(ctx, logicalcluster.Wildcard)
	if err != nil {
		// Whoever asks again has to look again.
		w.begin.Lock()
		defer w.begin.Unlock()
		w.begun = false
		return false, err
	}
	var found []controller.Key
	for i := range all {
		if of, ok := referenceOf(&all[i]); ok && of == ref {
			found = append(found, keyOf(&all[i]))
		}
	}
	rand.Shuffle(len(found), func(i, j int) { found[i], found[j] = found[j], found[i] })
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, key := range found {
		w.add(ref, key)
	}
	return w.of[ref] != nil, nil
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

// references returns what bindings refer to.
func (w *witnesses) references() []reference {
	w.mu.Lock()
	defer w.mu.Unlock()
	all := make([]reference, 0, len(w.of))
	for ref := range w.of {
		all = append(all, ref)
	}
	return all
}

func keyOf(binding *apisv1alpha2.APIBinding) controller.Key {
	return controller.Key{Cluster: logicalcluster.FromAnnotations(binding.Annotations), Name: binding.Name}
}
