package discovery

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"

	apidiscoveryv2 "k8s.io/api/apidiscovery/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apiserver/pkg/endpoints/discovery/aggregated"
)

// Builtins records the API groups a generic API server installs. Set it as the
// server's manager of aggregated discovery, both for /apis and for the core group. It
// may be called concurrently.
type Builtins struct {
	mu         sync.Mutex
	groups     []apidiscoveryv2.APIGroupDiscovery
	priorities map[string]int
	callbacks  []func()
	current    *snapshot
}

var _ aggregated.ResourceManager = &Builtins{}

// snapshot is an immutable state of Builtins.
type snapshot struct {
	groups []apidiscoveryv2.APIGroupDiscovery
	hash   string
}

// AddGroupVersion records value, in place of what was known about the version.
func (b *Builtins) AddGroupVersion(group string, value apidiscoveryv2.APIVersionDiscovery) {
	b.change(func() {
		versions := &b.group(group).Versions
		known := func(v apidiscoveryv2.APIVersionDiscovery) bool { return v.Version == value.Version }
		if i := slices.IndexFunc(*versions, known); i >= 0 {
			(*versions)[i] = value
			return
		}
		*versions = append(*versions, value)
	})
}

// SetGroupVersionPriority moves a group before those of lower priority. The priority of
// versions is not used: their order follows from their names.
func (b *Builtins) SetGroupVersionPriority(gv metav1.GroupVersion, groupPriority, _ int) {
	b.change(func() {
		if b.priorities == nil {
			b.priorities = map[string]int{}
		}
		b.priorities[gv.Group] = max(b.priorities[gv.Group], groupPriority)
	})
}

// RemoveGroup forgets a group.
func (b *Builtins) RemoveGroup(group string) {
	b.change(func() {
		b.groups = slices.DeleteFunc(b.groups, func(g apidiscoveryv2.APIGroupDiscovery) bool { return g.Name == group })
	})
}

// RemoveGroupVersion forgets a version, and the group with its last version.
func (b *Builtins) RemoveGroupVersion(gv metav1.GroupVersion) {
	b.change(func() {
		group := b.group(gv.Group)
		group.Versions = slices.DeleteFunc(group.Versions, func(v apidiscoveryv2.APIVersionDiscovery) bool { return v.Version == gv.Version })
		b.groups = slices.DeleteFunc(b.groups, func(g apidiscoveryv2.APIGroupDiscovery) bool { return len(g.Versions) == 0 })
	})
}

// SetGroups replaces all that is known.
func (b *Builtins) SetGroups(groups []apidiscoveryv2.APIGroupDiscovery) {
	b.change(func() {
		b.groups = nil
		for _, group := range groups {
			b.groups = append(b.groups, *group.DeepCopy())
		}
	})
}

// WithSource returns b itself: all groups recorded here are built in.
func (b *Builtins) WithSource(aggregated.Source) aggregated.ResourceManager { return b }

// AddInvalidationCallback makes callback be called after each change.
func (b *Builtins) AddInvalidationCallback(callback func()) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.callbacks = append(b.callbacks, callback)
}

// ServeHTTP answers that there is nothing: the documents are served by Discovery, which
// stands before the routes a generic API server makes of this manager.
func (b *Builtins) ServeHTTP(w http.ResponseWriter, req *http.Request) { http.NotFound(w, req) }

// Groups returns what is recorded, the core group under the name "". The result is
// shared and must not be changed.
func (b *Builtins) Groups() ([]apidiscoveryv2.APIGroupDiscovery, error) {
	s, err := b.snapshot()
	if err != nil {
		return nil, err
	}
	return s.groups, nil
}

// snapshot returns the present state in the order of priorities.
func (b *Builtins) snapshot() (*snapshot, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.current != nil {
		return b.current, nil
	}

	groups := make([]apidiscoveryv2.APIGroupDiscovery, 0, len(b.groups))
	for _, group := range b.groups {
		groups = append(groups, *group.DeepCopy())
		for _, v := range groups[len(groups)-1].Versions {
			slices.SortFunc(v.Resources, func(x, y apidiscoveryv2.APIResourceDiscovery) int { return strings.Compare(x.Resource, y.Resource) })
		}
	}
	slices.SortStableFunc(groups, func(x, y apidiscoveryv2.APIGroupDiscovery) int {
		return b.priorities[y.Name] - b.priorities[x.Name]
	})
	encoded, err := json.Marshal(groups)
	if err != nil {
		return nil, fmt.Errorf("hashing the built-in groups: %w", err)
	}
	sum := sha256.Sum256(encoded)
	b.current = &snapshot{groups: groups, hash: string(sum[:])}
	return b.current, nil
}

// change runs f and drops what was derived from the former state.
func (b *Builtins) change(f func()) {
	b.mu.Lock()
	f()
	b.current = nil
	callbacks := slices.Clone(b.callbacks)
	b.mu.Unlock()
	for _, callback := range callbacks {
		callback()
	}
}

// group returns the entry for the group called name, a new one if there is none. The
// caller holds the lock.
func (b *Builtins) group(name string) *apidiscoveryv2.APIGroupDiscovery {
	i := slices.IndexFunc(b.groups, func(g apidiscoveryv2.APIGroupDiscovery) bool { return g.Name == name })
	if i < 0 {
		i = len(b.groups)
		b.groups = append(b.groups, apidiscoveryv2.APIGroupDiscovery{ObjectMeta: metav1.ObjectMeta{Name: name}})
	}
	return &b.groups[i]
}
