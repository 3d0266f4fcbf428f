package catalog_test

import (
	"testing"

	apidiscoveryv2 "k8s.io/api/apidiscovery/v2"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	apischema "k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/forkless/kcp/internal/catalog"
	"github.com/forkless/kcp/internal/storage"
)

// builtins are two APIs that stand for the built-in ones.
type builtins struct{}

func (builtins) Groups() ([]apidiscoveryv2.APIGroupDiscovery, error) {
	group := func(name, version, resource, singular, kind string) apidiscoveryv2.APIGroupDiscovery {
		return apidiscoveryv2.APIGroupDiscovery{
			ObjectMeta: metav1.ObjectMeta{Name: name},
			Versions: []apidiscoveryv2.APIVersionDiscovery{{Version: version, Resources: []apidiscoveryv2.APIResourceDiscovery{{
				Resource: resource, SingularResource: singular, Scope: apidiscoveryv2.ScopeNamespace,
				ResponseKind: &metav1.GroupVersionKind{Group: name, Version: version, Kind: kind},
				Verbs:        []string{"create", "get"},
			}}}},
		}
	}
	return []apidiscoveryv2.APIGroupDiscovery{
		group("", "v1", "configmaps", "configmap", "ConfigMap"),
		group("events.k8s.io", "v1", "events", "event", "Event"),
	}, nil
}

func TestKindsOfACluster(t *testing.T) {
	s := newServer(t)
	s.define(one, "widgets")
	kinds := catalog.NewKinds(builtins{}, s.Catalog)

	configMaps := apischema.GroupVersionResource{Version: "v1", Resource: "configmaps"}
	if kind, ok := kinds.OfResource(two, configMaps); !ok || !kind.Namespaced || kind.Kind.Kind != "ConfigMap" {
		t.Errorf("config maps are %+v, %t; they are everywhere", kind, ok)
	}
	events := apischema.GroupVersionKind{Group: "events.k8s.io", Version: "v1", Kind: "Event"}
	if kind, _ := kinds.OfKind(two, events); kind.Store.Group != "" {
		t.Errorf("events are stored as %v; both groups have the same ones", kind.Store)
	}

	all := kinds.All(one)
	widget := all[len(all)-1]
	want := storage.Resource{GroupResource: widget.Resource.GroupResource(), Identity: storage.CustomResources}
	if widget.Resource.Resource != "widgets" || widget.Store != want {
		t.Errorf("the last kind is %+v, want that of the definition", widget)
	}
	if got, ok := kinds.OfKind(one, widget.Kind); !ok || got.Resource != widget.Resource {
		t.Errorf("found %+v, %t by kind", got, ok)
	}
	other := widget.Kind
	other.Version = "v99"
	for reason, absent := range map[string]bool{
		"no such version":      found(kinds.OfKind(one, other)),
		"defined elsewhere":    found(kinds.OfKind(two, widget.Kind)),
		"no such resource":     found(kinds.OfResource(one, configMaps.GroupVersion().WithResource("pods"))),
		"resource of another ": found(kinds.OfResource(two, widget.Resource)),
	} {
		if absent {
			t.Errorf("found, although: %s", reason)
		}
	}
}

func found(_ catalog.Kind, ok bool) bool { return ok }

func TestMapperOfACluster(t *testing.T) {
	s := newServer(t)
	s.define(one, "widgets")
	kinds := catalog.NewKinds(builtins{}, s.Catalog)
	all := kinds.All(one)
	widget := all[len(all)-1]

	mapping, err := kinds.Mapper(one).RESTMapping(widget.Kind.GroupKind(), widget.Kind.Version)
	if err != nil || mapping.Resource != widget.Resource {
		t.Errorf("widgets map to %+v, %v", mapping, err)
	}
	if _, err := kinds.Mapper(two).RESTMapping(widget.Kind.GroupKind()); !meta.IsNoMatchError(err) {
		t.Errorf("a cluster without widgets says %v, want that nothing matches", err)
	}
	if plural, err := kinds.Mapper(one).ResourceFor(apischema.GroupVersionResource{Resource: "configmap"}); err != nil || plural.Resource != "configmaps" {
		t.Errorf("one config map is of resource %v, %v", plural, err)
	}
}
