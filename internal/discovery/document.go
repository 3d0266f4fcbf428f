package discovery

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	apidiscoveryv2 "k8s.io/api/apidiscovery/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	apischema "k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/version"

	"github.com/forkless/kcp/internal/schema"
)

// document is all that is said about one set of APIs. It is immutable.
type document struct {
	core, named aggregate
	groups      []metav1.APIGroup
	resources   map[apischema.GroupVersion][]metav1.APIResource
}

// aggregate is an aggregated document with what clients compare it by.
type aggregate struct {
	list *apidiscoveryv2.APIGroupDiscoveryList
	etag string
}

// newDocument joins the built-in groups and the definitions of a cluster.
func newDocument(builtins []apidiscoveryv2.APIGroupDiscovery, definitions []schema.Served) (*document, error) {
	merged := newMerge(builtins)
	for _, served := range definitions {
		merged.add(served)
	}
	return merged.document()
}

// document returns what has been collected as a document.
func (m *merge) document() (*document, error) {
	d := &document{resources: map[apischema.GroupVersion][]metav1.APIResource{}}
	core, named := &apidiscoveryv2.APIGroupDiscoveryList{}, &apidiscoveryv2.APIGroupDiscoveryList{}
	for _, group := range m.sorted() {
		for _, v := range group.Versions {
			gv := apischema.GroupVersion{Group: group.Name, Version: v.Version}
			d.resources[gv] = legacyResources(gv, v.Resources, m.stored)
		}
		if group.Name == "" {
			core.Items = append(core.Items, group)
			continue
		}
		named.Items = append(named.Items, group)
		d.groups = append(d.groups, legacyGroup(group))
	}

	var err error
	if d.core, err = newAggregate(core); err != nil {
		return nil, err
	}
	if d.named, err = newAggregate(named); err != nil {
		return nil, err
	}
	return d, nil
}

func newAggregate(list *apidiscoveryv2.APIGroupDiscoveryList) (aggregate, error) {
	encoded, err := json.Marshal(list)
	if err != nil {
		return aggregate{}, fmt.Errorf("hashing a discovery document: %w", err)
	}
	sum := sha256.Sum256(encoded)
	return aggregate{list: list, etag: strings.ToUpper(hex.EncodeToString(sum[:]))}, nil
}

// merge collects groups. Slices that come from the built-in groups are shared with
// them and copied before they are added to.
type merge struct {
	groups  []apidiscoveryv2.APIGroupDiscovery
	builtin int
	// limit, if set, says what is shown of the resources that are added.
	limit  func(apischema.GroupVersion, apidiscoveryv2.APIResourceDiscovery) apidiscoveryv2.APIResourceDiscovery
	stored map[apischema.GroupResource]apischema.GroupVersionKind
}

func newMerge(builtin []apidiscoveryv2.APIGroupDiscovery) *merge {
	return &merge{
		groups:  slices.Clone(builtin),
		builtin: len(builtin),
		stored:  map[apischema.GroupResource]apischema.GroupVersionKind{},
	}
}

// add enters all served versions of a definition.
func (m *merge) add(served schema.Served) {
	definition := served.Definition
	for i := range definition.CRD.Spec.Versions {
		v := &definition.CRD.Spec.Versions[i]
		if v.Storage {
			m.stored[definition.GroupResource()] = definition.GroupKind().WithVersion(v.Name)
		}
		if v.Served {
			gv := apischema.GroupVersion{Group: definition.CRD.Spec.Group, Version: v.Name}
			resource := resourceOf(served, v)
			if m.limit != nil {
				resource = m.limit(gv, resource)
			}
			m.addResource(gv, resource)
		}
	}
}

func (m *merge) addResource(gv apischema.GroupVersion, resource apidiscoveryv2.APIResourceDiscovery) {
	group := m.group(gv.Group)
	i := slices.IndexFunc(group.Versions, func(v apidiscoveryv2.APIVersionDiscovery) bool { return v.Version == gv.Version })
	if i < 0 {
		// The version slice may be the built-in group's own; a
		// clipped slice is copied when it grows.
		group.Versions = append(slices.Clip(group.Versions), apidiscoveryv2.APIVersionDiscovery{
			Version:   gv.Version,
			Freshness: apidiscoveryv2.DiscoveryFreshnessCurrent,
			Resources: []apidiscoveryv2.APIResourceDiscovery{resource},
		})
		return
	}

	resources := group.Versions[i].Resources
	at, exists := slices.BinarySearchFunc(resources, resource.Resource,
		func(r apidiscoveryv2.APIResourceDiscovery, name string) int { return strings.Compare(r.Resource, name) })
	if exists && gv.Group != "" {
		return
	}
	resources = slices.Clone(resources)
	if exists {
		resources[at] = resource
	} else {
		resources = slices.Insert(resources, at, resource)
	}
	group.Versions = slices.Clone(group.Versions)
	group.Versions[i].Resources = resources
}

func (m *merge) group(name string) *apidiscoveryv2.APIGroupDiscovery {
	i := slices.IndexFunc(m.groups, func(g apidiscoveryv2.APIGroupDiscovery) bool { return g.Name == name })
	if i < 0 {
		i = len(m.groups)
		m.groups = append(m.groups, apidiscoveryv2.APIGroupDiscovery{ObjectMeta: metav1.ObjectMeta{Name: name}})
	}
	return &m.groups[i]
}

// sorted returns the groups in the order of the package's contract.
func (m *merge) sorted() []apidiscoveryv2.APIGroupDiscovery {
	slices.SortFunc(m.groups[m.builtin:], func(x, y apidiscoveryv2.APIGroupDiscovery) int { return strings.Compare(x.Name, y.Name) })
	for i := range m.groups {
		if len(m.groups[i].Versions) < 2 {
			continue
		}
		m.groups[i].Versions = slices.Clone(m.groups[i].Versions)
		slices.SortFunc(m.groups[i].Versions, func(x, y apidiscoveryv2.APIVersionDiscovery) int {
			return version.CompareKubeAwareVersionStrings(y.Version, x.Version)
		})
	}
	return m.groups
}
