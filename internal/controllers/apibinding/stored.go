package apibinding

import (
	"context"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/forkless/kcp/internal/boundcrd"
	"github.com/forkless/kcp/internal/schema"
	"github.com/forkless/kcp/internal/storage/cached"
	"github.com/forkless/kcp/pkg/logicalcluster"
)

// stored are the definitions that schemas have become, by the UIDs of these: read once and
// not for each binding.
type stored struct {
	definitions cached.DefinitionReader
	bound       *boundcrd.Definitions

	mu   sync.RWMutex
	read map[string]*schema.Definition
	// changes counts what has changed, so that what was read before is not remembered.
	changes int
}

func newStored(definitions cached.DefinitionReader, bound *boundcrd.Definitions) *stored {
	return &stored{definitions: definitions, bound: bound, read: map[string]*schema.Definition{}}
}

// get returns a definition, nil if there is none.
func (s *stored) get(ctx context.Context, uid string) (*schema.Definition, error) {
	s.mu.RLock()
	definition, changes := s.read[uid], s.changes
	s.mu.RUnlock()
	if definition != nil {
		return definition, nil
	}
	crd, err := s.definitions.Get(ctx, logicalcluster.BoundCRDs, uid)
	if apierrors.IsNotFound(err) {
		// The watch cache may not have heard of a new one.
		crd, err = s.definitions.GetCurrent(ctx, logicalcluster.BoundCRDs, uid)
	}
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	if definition, err = s.bound.OfCRD(crd); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.changes == changes {
		s.read[uid] = definition
	}
	return definition, nil
}

// wrote remembers a definition that has just been stored.
func (s *stored) wrote(uid string, definition *schema.Definition) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.read[uid] = definition
	s.changes++
}

// changed forgets a definition that is not what it was.
func (s *stored) changed(uid string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.read, uid)
	s.changes++
}
