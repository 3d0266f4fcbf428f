package catalog

import (
	"crypto/sha256"
	"slices"
	"strings"

	apischema "k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/forkless/kcp/internal/schema"
)

// merge returns what is in any of the layers, sorted. Where layers have the same
// resource the earlier one wins. Each layer is sorted.
func merge(layers ...[]schema.Served) []schema.Served {
	total := 0
	for _, layer := range layers {
		total += len(layer)
	}
	merged := make([]schema.Served, 0, total)
	for _, layer := range layers {
		merged = append(merged, layer...)
	}
	// Stable, so that of equals the one of the earlier layer comes first and stays.
	slices.SortStableFunc(merged, schema.Served.Compare)
	return slices.Clip(slices.CompactFunc(merged, func(a, b schema.Served) bool { return a.Compare(b) == 0 }))
}

// find returns the entry of resource in list, which is sorted.
func find(list []schema.Served, resource apischema.GroupResource) (schema.Served, bool) {
	i, found := slices.BinarySearchFunc(list, resource, func(s schema.Served, resource apischema.GroupResource) int {
		own := s.Definition.GroupResource()
		if c := strings.Compare(own.Group, resource.Group); c != 0 {
			return c
		}
		return strings.Compare(own.Resource, resource.Resource)
	})
	if !found {
		return schema.Served{}, false
	}
	return list[i], true
}

// listKey identifies a list of definitions by content.
type listKey [sha256.Size]byte

func keyOf(list []schema.Served) listKey {
	hash := sha256.New()
	for _, served := range list {
		terminating := "\x00"
		if served.Terminating {
			terminating = "\x01"
		}
		export := served.Export.Cluster.String() + "\x00" + served.Export.Name + "\x00" + served.Export.IdentityHash
		hash.Write([]byte(served.Definition.Hash + "\x00" + served.Identity + "\x00" + export + terminating))
	}
	return listKey(hash.Sum(nil))
}

// sameList says whether a and b are the same slice, not only equal ones.
func sameList(a, b []schema.Served) bool {
	return len(a) == len(b) && (len(a) == 0 || &a[0] == &b[0])
}
