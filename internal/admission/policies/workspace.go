package policies

import (
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/admission/plugin/policy/generic"

	"github.com/forkless/kcp/pkg/logicalcluster"
)

// workspace is the policies of one cluster. It starts nothing and copies nothing: it is
// told when it is stale, and reads anew when it is needed then.
type workspace[P, B runtime.Object, E generic.Evaluator] struct {
	source  *Source[P, B, E]
	cluster logicalcluster.Name
	// stale says that hooks are not what there is any more.
	stale atomic.Bool

	mu    sync.Mutex
	hooks []generic.PolicyHook[P, B, E]
	// compiled are the policies that are bound, by name.
	compiled map[string]policy[P, E]
	closed   bool
}

type policy[P runtime.Object, E any] struct {
	stored   runtime.Object
	served   P
	compiled *compilation[E]
}

// bound returns the policies that have bindings. The slice is immutable.
func (w *workspace[P, B, E]) bound() ([]generic.PolicyHook[P, B, E], error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	// In this order: what changes from here on makes it stale again.
	if !w.stale.Swap(false) {
		return w.hooks, nil
	}
	if err := w.read(); err != nil {
		w.stale.Store(true)
		return nil, err
	}
	return w.hooks, nil
}

// read makes the hooks from what there is now.
func (w *workspace[P, B, E]) read() error {
	bindings, err := w.bindings()
	if err != nil {
		return err
	}
	var hooks []generic.PolicyHook[P, B, E]
	used := make(map[string]policy[P, E], len(bindings))
	for _, name := range slices.Sorted(maps.Keys(bindings)) {
		bound, ok, err := w.policy(name)
		if err != nil {
			w.release(used, w.compiled)
			return err
		}
		if !ok {
			// It was deleted before its bindings, or is yet to come.
			continue
		}
		used[name] = bound
		hooks = append(hooks, generic.PolicyHook[P, B, E]{
			Policy: bound.served, Bindings: bindings[name], Evaluator: bound.compiled.evaluator(),
		})
	}
	w.release(w.compiled, used)
	w.hooks, w.compiled = hooks, used
	if w.closed {
		w.forget()
	}
	return nil
}

// release gives back what policies were compiled to that are not in kept.
func (w *workspace[P, B, E]) release(policies, kept map[string]policy[P, E]) {
	for name, policy := range policies {
		if kept[name].stored != policy.stored {
			w.source.compiled.release(policy.compiled)
		}
	}
}

// forget holds nothing any more, so that the next request reads anew.
func (w *workspace[P, B, E]) forget() {
	w.release(w.compiled, nil)
	w.compiled = nil
	w.stale.Store(true)
}

// bindings returns the bindings by the name of their policy, each policy's by name.
func (w *workspace[P, B, E]) bindings() (map[string][]B, error) {
	kind := &w.source.kind
	all := map[string][]B{}
	for _, stored := range w.source.index.List(w.cluster, kind.Bindings) {
		binding, err := kind.Binding(stored)
		if err != nil {
			return nil, err
		}
		policy := kind.BindingAccessor(binding).GetPolicyName().Name
		all[policy] = append(all[policy], binding)
	}
	for _, bindings := range all {
		slices.SortFunc(bindings, func(a, b B) int {
			return strings.Compare(kind.BindingAccessor(a).GetName(), kind.BindingAccessor(b).GetName())
		})
	}
	return all, nil
}

// policy returns a policy, compiled or about to be; ok is false if there is none.
func (w *workspace[P, B, E]) policy(name string) (bound policy[P, E], ok bool, err error) {
	kind := &w.source.kind
	stored, ok := w.source.index.Get(w.cluster, kind.Policies, name)
	if !ok {
		return bound, false, nil
	}
	if before, known := w.compiled[name]; known && before.stored == stored {
		return before, true, nil
	}
	served, err := kind.Policy(stored)
	if err != nil {
		return bound, false, err
	}
	compiled, err := w.source.compiled.use(name, kind.Spec(served), func() E { return kind.Compile(served) })
	if err != nil {
		return bound, false, err
	}
	return policy[P, E]{stored: stored, served: served, compiled: compiled}, true, nil
}

// close is called when the workspace is not needed any more. Requests under way, and all
// at the end of the server, still get what is in force; it is not kept for them.
func (w *workspace[P, B, E]) close() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.closed = true
	w.forget()
}

// invalidation makes a workspace stale with every change.
type invalidation struct{ stale *atomic.Bool }

// Existing implements configurations.Subscriber.
func (i invalidation) Existing(runtime.Object) {}

// Added implements configurations.Subscriber.
func (i invalidation) Added(runtime.Object) { i.stale.Store(true) }

// Updated implements configurations.Subscriber.
func (i invalidation) Updated(_, _ runtime.Object) { i.stale.Store(true) }

// Deleted implements configurations.Subscriber.
func (i invalidation) Deleted(runtime.Object) { i.stale.Store(true) }
