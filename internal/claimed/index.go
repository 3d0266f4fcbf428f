package claimed

import (
	"encoding/json"
	"slices"
	"strings"
	"sync"

	"k8s.io/apimachinery/pkg/labels"
	apischema "k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/forkless/kcp/internal/apihash"
	"github.com/forkless/kcp/internal/controller"
	"github.com/forkless/kcp/internal/permissionclaims"
	"github.com/forkless/kcp/internal/schema"
	"github.com/forkless/kcp/internal/storage"
	apisv1alpha1 "github.com/forkless/kcp/pkg/apis/apis/v1alpha1"
	apisv1alpha2 "github.com/forkless/kcp/pkg/apis/apis/v1alpha2"
	"github.com/forkless/kcp/pkg/logicalcluster"
)

// Lookup returns what a resource of a cluster is served by, if not as a built-in one.
type Lookup func(cluster logicalcluster.Name, resource apischema.GroupResource) (schema.Served, bool)

// Index knows the accepted claims of all clusters. Its methods may be called concurrently.
type Index struct {
	lookup Lookup

	mu sync.RWMutex
	// clusters are those with bindings that have accepted claims, by name.
	clusters map[string][]binding
	// sets are the claims of bindings, by content.
	sets map[string]*set
}

// binding is a binding and what it has accepted.
type binding struct {
	name     string
	accepted *set
}

// set are the claims that a binding has accepted, with the label of its export.
type set struct {
	content string
	uses    int
	label   string
	claims  []claim
}

// claim is one of them: what it selects gets a label with value.
type claim struct {
	name     permissionclaims.Name
	value    string
	selector labels.Selector
}

// New returns an index in which nothing is accepted.
func New(lookup Lookup) *Index {
	return &Index{lookup: lookup, clusters: map[string][]binding{}, sets: map[string]*set{}}
}

// Set tells the index of a binding. It returns the names of the claims whose objects may
// need other labels now.
func (x *Index) Set(cluster logicalcluster.Name, from *apisv1alpha2.APIBinding) []permissionclaims.Name {
	return x.replace(cluster, from.Name, newSet(from))
}

// Delete tells the index that there is no binding of that name, and returns what Set does.
func (x *Index) Delete(cluster logicalcluster.Name, name string) []permissionclaims.Name {
	return x.replace(cluster, name, nil)
}

// replace makes wanted, nil for nothing, what a binding has accepted.
func (x *Index) replace(cluster logicalcluster.Name, name string, wanted *set) []permissionclaims.Name {
	x.mu.Lock()
	defer x.mu.Unlock()
	bindings := x.clusters[cluster.String()]
	i := slices.IndexFunc(bindings, func(b binding) bool { return b.name == name })
	var before *set
	if i >= 0 {
		before = bindings[i].accepted
	}
	switch {
	case before == nil && wanted == nil, before != nil && wanted != nil && before.content == wanted.content:
		return nil
	case wanted == nil:
		bindings = slices.Delete(bindings, i, i+1)
	case before == nil:
		bindings = append(bindings, binding{name: strings.Clone(name), accepted: x.use(wanted)})
	default:
		bindings[i].accepted = x.use(wanted)
	}
	if len(bindings) == 0 {
		delete(x.clusters, cluster.String())
	} else {
		x.clusters[cluster.String()] = slices.Clip(bindings)
	}
	x.release(before)
	return namesOf(before, wanted)
}

// use returns the interned set with the content of wanted. The caller holds mu.
func (x *Index) use(wanted *set) *set {
	interned := x.sets[wanted.content]
	if interned == nil {
		interned = wanted
		x.sets[wanted.content] = interned
	}
	interned.uses++
	return interned
}

// release gives up one use of a set. The caller holds mu.
func (x *Index) release(of *set) {
	if of == nil {
		return
	}
	if of.uses--; of.uses == 0 {
		delete(x.sets, of.content)
	}
}

// namesOf returns the names of the claims in sets, each once.
func namesOf(sets ...*set) []permissionclaims.Name {
	var names []permissionclaims.Name
	for _, s := range sets {
		if s == nil {
			continue
		}
		for _, c := range s.claims {
			if !slices.Contains(names, c.name) {
				names = append(names, c.name)
			}
		}
	}
	return names
}

// newSet returns what a binding has accepted, nil if that is nothing.
func newSet(from *apisv1alpha2.APIBinding) *set {
	export := from.Spec.Reference.Export
	accepted := permissionclaims.Accepted(from)
	if len(accepted) == 0 || export == nil || from.Status.APIExportClusterName == "" {
		return nil
	}
	exportCluster, err := logicalcluster.ParseName(from.Status.APIExportClusterName)
	if err != nil {
		// It is written by the server, which resolves no such name.
		return nil
	}
	made := &set{label: apihash.ClaimLabelKey(exportCluster, export.Name)}
	exported := permissionclaims.Exported(from)
	var contents []any
	for name, answer := range accepted {
		asked, ok := exported[name]
		if ok && !permissionclaims.Lists(asked.Verbs, answer.Verbs) {
			continue
		}
		selector, err := permissionclaims.Selector(answer.Selector)
		if err != nil {
			// It is in the conditions of the binding.
			continue
		}
		made.claims = append(made.claims, claim{name: name, value: permissionclaims.LabelValue(name), selector: selector})
	}
	if len(made.claims) == 0 {
		return nil
	}
	slices.SortFunc(made.claims, func(a, b claim) int { return a.name.Compare(b.name) })
	for _, c := range made.claims {
		contents = append(contents, c.name, accepted[c.name].Selector)
	}
	content, err := json.Marshal(contents)
	if err != nil {
		// Strings and lists of them can always be encoded.
		panic(err)
	}
	made.content = made.label + string(content)
	return made
}

// Labels returns the labels of claims that an object of a resource of cluster is to carry
// that has these labels, nil if none.
func (x *Index) Labels(cluster logicalcluster.Name, resource apischema.GroupResource, of map[string]string) map[string]string {
	return x.labels(cluster, permissionclaims.Stored(resource), of, func(schema.Served, bool) bool { return true })
}

// LabelsIn is Labels for an object in a store. What a cluster has in stores of a resource
// that it serves from another one is not claimed.
func (x *Index) LabelsIn(cluster logicalcluster.Name, resource storage.Resource, of map[string]string) map[string]string {
	return x.labels(cluster, resource.GroupResource, of, func(served schema.Served, ok bool) bool {
		// What the catalog does not know is built in.
		return ok && served.Identity == resource.Identity || !ok && resource.Identity == ""
	})
}

func (x *Index) labels(cluster logicalcluster.Name, resource apischema.GroupResource, of map[string]string, isIt func(schema.Served, bool) bool) map[string]string {
	var wanted map[string]string
	want := func(key, value string) {
		if wanted == nil {
			wanted = map[string]string{}
		}
		wanted[key] = value
	}
	x.mu.RLock()
	bindings := x.clusters[cluster.String()]
	for _, b := range bindings {
		for _, c := range b.accepted.claims {
			if permissionclaims.Stored(c.name.GroupResource) != resource || !c.selector.Matches(labels.Set(of)) {
				continue
			}
			if served, ok := x.lookup(cluster, resource); isIt(served, ok) && counts(c.name, served) {
				want(b.accepted.label, c.value)
			}
		}
	}
	x.mu.RUnlock()
	if hash := of[apisv1alpha1.InternalAPIBindingExportLabelKey]; hash != "" && resource == apisv1alpha2.Resource("apibindings") {
		want(apisv1alpha1.APIExportPermissionClaimLabelPrefix+hash, apihash.Reflexive)
	}
	return wanted
}

// counts says whether a claim is for what is served; the zero Served is what is built in.
func counts(name permissionclaims.Name, served schema.Served) bool {
	if name.IdentityHash == "" {
		return permissionclaims.IsClaimable(name.GroupResource) && !served.IsBound()
	}
	return served.IsBound() && served.Export.IdentityHash == name.IdentityHash
}

// Bindings returns the keys of the bindings that the index knows something of.
func (x *Index) Bindings() []controller.Key {
	x.mu.RLock()
	defer x.mu.RUnlock()
	var keys []controller.Key
	for name, bindings := range x.clusters {
		cluster, err := logicalcluster.ParseName(name)
		if err != nil {
			// It is what a Name says of itself.
			panic(err)
		}
		for _, b := range bindings {
			keys = append(keys, controller.Key{Cluster: cluster, Name: b.name})
		}
	}
	return keys
}
