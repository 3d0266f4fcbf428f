package policies

import (
	"context"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/admission/plugin/policy/generic"

	"github.com/forkless/kcp/internal/admission/configurations"
	"github.com/forkless/kcp/internal/storage"
	"github.com/forkless/kcp/pkg/logicalcluster"
)

// Kind describes one kind of policies: P, its bindings B, and what a policy is compiled
// to, E.
type Kind[P, B runtime.Object, E generic.Evaluator] struct {
	// Policies and Bindings are the resources in which they are stored.
	Policies, Bindings storage.Resource
	// Policy and Binding return the served form of what is stored, which they may
	// share memory with.
	Policy  func(stored runtime.Object) (P, error)
	Binding func(stored runtime.Object) (B, error)
	// PolicyAccessor and BindingAccessor read them.
	PolicyAccessor  func(P) generic.PolicyAccessor
	BindingAccessor func(B) generic.BindingAccessor
	// Spec returns what a policy is compiled from, beside its name.
	Spec func(P) any
	// Compile compiles a policy. It reports errors through what it returns.
	Compile func(P) E
}

// Source has the policies of one kind of all clusters, in the form that upstream's
// dispatchers take. It may be used concurrently.
type Source[P, B runtime.Object, E generic.Evaluator] struct {
	kind      Kind[P, B, E]
	index     *configurations.Index
	compiled  *compilations[E]
	instances *configurations.Instances[*workspace[P, B, E]]
}

// NewSource returns a Source of what index knows.
func NewSource[P, B runtime.Object, E generic.Evaluator](index *configurations.Index, kind Kind[P, B, E]) *Source[P, B, E] {
	s := &Source[P, B, E]{kind: kind, index: index, compiled: newCompilations[E]()}
	// Without a binding a policy does nothing.
	s.instances = configurations.NewInstances(index, s.open, kind.Bindings)
	return s
}

// For returns the policies to ask about a request, sorted by name, without their
// parameters, and the cluster they are of. They are none of the caller's to change. An
// error is a Status.
func (s *Source[P, B, E]) For(ctx context.Context, a admission.Attributes) ([]generic.PolicyHook[P, B, E], logicalcluster.Name, error) {
	if exempt.Has(a.GetResource().GroupResource()) {
		return nil, logicalcluster.Name{}, nil
	}
	cluster, err := s.index.Whose(ctx, a)
	if err != nil {
		return nil, cluster, err
	}
	workspace, ok, err := s.instances.Get(ctx, cluster)
	if err != nil {
		return nil, cluster, admission.NewForbidden(a, err)
	}
	if !ok {
		return nil, cluster, nil
	}
	hooks, err := workspace.bound()
	if err != nil {
		return nil, cluster, admission.NewForbidden(a, err)
	}
	return hooks, cluster, nil
}

// open begins to look after a cluster that has bindings, until ctx ends.
func (s *Source[P, B, E]) open(ctx context.Context, cluster logicalcluster.Name) (*workspace[P, B, E], error) {
	w := &workspace[P, B, E]{source: s, cluster: cluster}
	w.stale.Store(true)
	s.index.Subscribe(ctx, cluster, s.kind.Policies, invalidation{&w.stale})
	s.index.Subscribe(ctx, cluster, s.kind.Bindings, invalidation{&w.stale})
	context.AfterFunc(ctx, w.close)
	return w, nil
}

// Size is how much a Source holds.
type Size struct {
	// Workspaces have policies that have been needed.
	Workspaces int
	// Compiled are policies that differ in name or content.
	Compiled int
}

// Size returns how much the source holds.
func (s *Source[P, B, E]) Size() Size {
	return Size{Workspaces: s.instances.Len(), Compiled: s.compiled.len()}
}
