package boundcrd

import (
	"maps"
	"sync"

	apischema "k8s.io/apimachinery/pkg/runtime/schema"
)

// Identities says under which identity the objects of bound resources are stored. That is
// the identity hash of the export, but for our own APIs: the server reads those itself,
// and has them in stores without an identity.
type Identities struct {
	mu sync.RWMutex
	// own are the identity hashes of the exports of our own resources; empty while they
	// are not known.
	own map[apischema.GroupResource]string
}

// NewIdentities returns Identities in which the given resources are our own.
func NewIdentities(own ...apischema.GroupResource) *Identities {
	i := &Identities{own: make(map[apischema.GroupResource]string, len(own))}
	for _, resource := range own {
		i.own[resource] = ""
	}
	return i
}

// SetOwn says what the identity hash of the export of one of our own resources is.
func (i *Identities) SetOwn(resource apischema.GroupResource, identityHash string) {
	i.mu.Lock()
	defer i.mu.Unlock()
	own := maps.Clone(i.own)
	own[resource] = identityHash
	i.own = own
}

// Storage returns the identity under which the objects of resource are stored that are
// bound from an export with this identity hash. ok is false if they can not be: the
// resource is our own and the export is not.
func (i *Identities) Storage(resource apischema.GroupResource, identityHash string) (identity string, ok bool) {
	i.mu.RLock()
	own := i.own
	i.mu.RUnlock()
	hash, isOwn := own[resource]
	switch {
	case !isOwn:
		return identityHash, true
	case hash != "" && hash == identityHash:
		return "", true
	default:
		return "", false
	}
}
