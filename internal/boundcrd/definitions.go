package boundcrd

import (
	"fmt"
	"sync"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/lru"

	"github.com/forkless/kcp/internal/schema"
	apisv1alpha1 "github.com/forkless/kcp/pkg/apis/apis/v1alpha1"
	"github.com/forkless/kcp/pkg/logicalcluster"
)

// How many definitions are remembered, and how many bytes of them: whoever makes schemas
// decides how big they are. One that is forgotten is made anew, with the same hash.
const (
	remembered      = 4096
	rememberedBytes = 128 << 20
)

// Definitions makes definitions of schemas and of the definitions that are stored for
// bound ones. Its methods may be called concurrently.
type Definitions struct {
	mu sync.Mutex
	// made are the last ones, by the UID of what they were made of: what is written again
	// and again is remembered once.
	made *lru.Cache
	// size is that of all that is remembered.
	size, limit int
}

// source is what a definition is made of. Everything that goes into it has a UID and a
// version.
type source struct {
	uid, conversionUID         types.UID
	version, conversionVersion string
}

// remembrance is a definition that has been made.
type remembrance struct {
	from       source
	definition *schema.Definition
	size       int
}

// NewDefinitions returns Definitions that remember nothing yet.
func NewDefinitions() *Definitions { return newDefinitions(rememberedBytes) }

func newDefinitions(limit int) *Definitions {
	d := &Definitions{limit: limit}
	d.made = lru.NewWithEvictionFunc(remembered, func(_ lru.Key, value any) { d.size -= value.(remembrance).size })
	return d
}

// OfSchema returns the definition that a schema of a cluster is served by. conversion is
// the APIConversion of its name; nil if there is none. It is an error if the schema cannot
// be read.
func (d *Definitions) OfSchema(s *apisv1alpha1.APIResourceSchema, cluster logicalcluster.Name, conversion *apisv1alpha1.APIConversion) (*schema.Definition, error) {
	from := source{uid: s.UID, version: s.ResourceVersion}
	if conversion != nil {
		from.conversionUID, from.conversionVersion = conversion.UID, conversion.ResourceVersion
	}
	return d.get(from, func() (*apiextensionsv1.CustomResourceDefinition, error) {
		return schema.BoundCRD(s, cluster, conversion)
	})
}

// OfCRD returns the definition that a stored one, in cluster system:bound-crds, makes.
func (d *Definitions) OfCRD(crd *apiextensionsv1.CustomResourceDefinition) (*schema.Definition, error) {
	from := source{uid: crd.UID, version: crd.ResourceVersion}
	return d.get(from, func() (*apiextensionsv1.CustomResourceDefinition, error) { return crd, nil })
}

func (d *Definitions) get(from source, read func() (*apiextensionsv1.CustomResourceDefinition, error)) (*schema.Definition, error) {
	// Without a version it is not what is stored.
	known := from.uid != "" && from.version != ""
	if known {
		if made, ok := d.made.Get(from.uid); ok && made.(remembrance).from == from {
			return made.(remembrance).definition, nil
		}
	}
	crd, err := read()
	if err != nil {
		return nil, fmt.Errorf("making a definition: %w", err)
	}
	definition, err := schema.New(crd)
	if err != nil {
		return nil, err
	}
	if known {
		d.remember(remembrance{from: from, definition: definition, size: crd.Size()})
	}
	return definition, nil
}

// remember remembers made instead of what was made of an older version.
func (d *Definitions) remember(made remembrance) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if before, ok := d.made.Get(made.from.uid); ok {
		d.size -= before.(remembrance).size
	}
	d.size += made.size
	d.made.Add(made.from.uid, made)
	for d.size > d.limit && d.made.Len() > 0 {
		d.made.RemoveOldest()
	}
}
