package storage

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestClosed: what has objects and is not open is known, whether it was closed by this
// process or stems from an earlier one.
func TestClosed(t *testing.T) {
	layer, store := openConfigMaps(t)
	closed := func(reason string, want ...string) {
		t.Helper()
		resources, err := layer.Closed(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		got := []string{}
		for _, resource := range resources {
			got = append(got, resource.Prefix())
		}
		slices.Sort(got)
		slices.Sort(want)
		if diff := cmp.Diff(append([]string{}, want...), got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", reason, diff)
		}
	}
	put := func(key string) {
		t.Helper()
		if _, err := layer.client.Put(t.Context(), key, "{}"); err != nil {
			t.Fatal(err)
		}
	}
	purge := func(resources ...Resource) {
		t.Helper()
		batch := layer.NewBatch()
		batch.Purge(one, resources...)
		if err := batch.Commit(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	identity := "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
	old := Resource{Identity: identity}
	old.Group, old.Resource = "example.com", "widgets"
	put("/registry" + old.Prefix() + "/one/default/a")
	put("/registry/example.com/widgets/customresources/two/default/a")
	put("/registry/abc/defs/one/a")
	put("/registry/zzz")
	create(t, store, one, "a")

	definitions := old
	definitions.Identity = CustomResources
	other := Resource{}
	other.Group, other.Resource = "abc", "defs"
	before := []string{other.Prefix(), old.Prefix(), definitions.Prefix()}
	closed("an earlier process has left them", before...)
	layer.CloseResource(configMaps)
	closed("it was closed with an object in it", append(before, configMaps.Prefix())...)
	purge(old)
	closed("nothing is left of it", other.Prefix(), configMaps.Prefix(), definitions.Prefix())
	purge(definitions)
	closed("another cluster has objects", other.Prefix(), configMaps.Prefix(), definitions.Prefix())
	if _, err := layer.Open(configMaps, configMapKind(t)); err != nil {
		t.Fatal(err)
	}
	closed("it is open", other.Prefix(), definitions.Prefix())
	purge(configMaps, other)
	layer.CloseResource(configMaps)
	closed("it was closed without an object", definitions.Prefix())
}
