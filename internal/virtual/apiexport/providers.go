package apiexport

import (
	"slices"
	"strings"
	"sync"

	"github.com/forkless/kcp/pkg/logicalcluster"
)

// provider names an export.
type provider struct {
	cluster logicalcluster.Name
	name    string
}

func (p provider) compare(other provider) int {
	if c := strings.Compare(p.cluster.String(), other.cluster.String()); c != 0 {
		return c
	}
	return strings.Compare(p.name, other.name)
}

// providers knows the exports of each identity.
type providers struct {
	mu         sync.RWMutex
	identities map[provider]string
	// exports are sorted and replaced as a whole.
	exports map[string][]provider
}

func newProviders() *providers {
	return &providers{identities: map[provider]string{}, exports: map[string][]provider{}}
}

// of returns the exports of an identity, sorted. The result is shared.
func (p *providers) of(identityHash string) []provider {
	p.mu.RLock()
	defer p.mu.RUnlock()
	return p.exports[identityHash]
}

// set says what the identity of an export is; nothing if it has none or is gone.
func (p *providers) set(of provider, identityHash string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	before := p.identities[of]
	if before == identityHash {
		return
	}
	if before != "" {
		p.replace(before, slices.DeleteFunc(slices.Clone(p.exports[before]), func(other provider) bool { return other == of }))
	}
	if identityHash == "" {
		delete(p.identities, of)
		return
	}
	p.identities[of] = identityHash
	with := append(slices.Clone(p.exports[identityHash]), of)
	slices.SortFunc(with, provider.compare)
	p.replace(identityHash, with)
}

func (p *providers) replace(identityHash string, exports []provider) {
	if len(exports) == 0 {
		delete(p.exports, identityHash)
		return
	}
	p.exports[identityHash] = exports
}
