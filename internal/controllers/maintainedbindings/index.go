package maintainedbindings

import (
	"sync"

	"github.com/forkless/kcp/internal/tenancy/defaultbindings"
	tenancyv1alpha1 "github.com/forkless/kcp/pkg/apis/tenancy/v1alpha1"
	"github.com/forkless/kcp/pkg/logicalcluster"
)

// object names a type or an export.
type object struct {
	cluster logicalcluster.Name
	name    string
}

// index knows the types that maintain bindings, and what has changed since the last sweep.
type index struct {
	mu sync.RWMutex
	// exports are, for each type that maintains bindings, the names of the exports.
	exports map[object][]string
	changed changes
}

// changes are what a sweep is about.
type changes struct {
	types   map[object]struct{}
	exports map[object]struct{}
	// gone says that a type is no more: nobody can say any longer who had it.
	gone bool
}

func newChanges() changes {
	return changes{types: map[object]struct{}{}, exports: map[object]struct{}{}}
}

func (c changes) none() bool { return len(c.types) == 0 && len(c.exports) == 0 && !c.gone }

func newIndex() *index {
	return &index{exports: map[object][]string{}, changed: newChanges()}
}

// any says whether there is a type that maintains bindings.
func (x *index) any() bool {
	x.mu.RLock()
	defer x.mu.RUnlock()
	return len(x.exports) > 0
}

// known returns the types that maintain bindings.
func (x *index) known() []object {
	x.mu.RLock()
	defer x.mu.RUnlock()
	types := make([]object, 0, len(x.exports))
	for t := range x.exports {
		types = append(types, t)
	}
	return types
}

// setType notes how a type is now, nil if it is no more, and says whether that calls for a
// sweep. Types that maintain nothing themselves may extend such as do.
func (x *index) setType(t object, workspaceType *tenancyv1alpha1.WorkspaceType) (sweep bool) {
	x.mu.Lock()
	defer x.mu.Unlock()
	sweep = len(x.exports) > 0
	delete(x.exports, t)
	if workspaceType != nil && defaultbindings.Maintains(workspaceType) {
		names := []string{}
		for _, reference := range workspaceType.Spec.DefaultAPIBindings {
			names = append(names, reference.Export)
		}
		x.exports[t] = names
		sweep = true
	}
	if !sweep {
		return false
	}
	x.changed.types[t] = struct{}{}
	x.changed.gone = x.changed.gone || workspaceType == nil
	return true
}

// exportChanged notes that an export has changed, and says whether that calls for a sweep.
func (x *index) exportChanged(export object) (sweep bool) {
	x.mu.Lock()
	defer x.mu.Unlock()
	for _, names := range x.exports {
		for _, name := range names {
			if name == export.name {
				x.changed.exports[export] = struct{}{}
				return true
			}
		}
	}
	return false
}

// take returns what has changed since it was last called.
func (x *index) take() changes {
	x.mu.Lock()
	defer x.mu.Unlock()
	taken := x.changed
	x.changed = newChanges()
	return taken
}

// giveBack notes what was taken and not swept.
func (x *index) giveBack(c changes) {
	x.mu.Lock()
	defer x.mu.Unlock()
	for t := range c.types {
		x.changed.types[t] = struct{}{}
	}
	for e := range c.exports {
		x.changed.exports[e] = struct{}{}
	}
	x.changed.gone = x.changed.gone || c.gone
}
