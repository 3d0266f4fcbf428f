package waiting

import (
	"context"

	"github.com/forkless/kcp/pkg/cli/client"
	"github.com/forkless/kcp/pkg/cli/diagnosis/hook"
)

// Names are what people call initializers and terminators: by the path of their type,
// where a status has the cluster that the type is in. Each type is read once. Names are
// for one goroutine at a time.
type Names struct {
	client *client.Client
	known  map[string]string
}

// NewNames returns Names that have read nothing yet.
func NewNames(c *client.Client) *Names { return &Names{client: c, known: map[string]string{}} }

// In returns s with these names in it. Of a type that may not be read it keeps the
// identifier.
func (n *Names) In(ctx context.Context, s State) State {
	s.Initializers = n.of(ctx, hook.Initializer, s.Initializers)
	s.Terminators = n.of(ctx, hook.Terminator, s.Terminators)
	return s
}

func (n *Names) of(ctx context.Context, kind hook.Kind, ids []string) []string {
	var all []string
	for _, id := range ids {
		all = append(all, n.name(ctx, kind, id))
	}
	return all
}

func (n *Names) name(ctx context.Context, kind hook.Kind, id string) string {
	if hook.IsSystem(id) {
		return id
	}
	if name, known := n.known[id]; known {
		return name
	}
	name := hook.Describe(ctx, n.client, kind, id).Name
	if ctx.Err() == nil {
		n.known[id] = name
	}
	return name
}
