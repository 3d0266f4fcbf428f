package workspacetypes

import (
	"maps"
	"slices"
	"testing"

	"github.com/forkless/kcp/internal/servertest"
)

// behavior is something that clients rely on.
type behavior struct {
	// reason is what is right, or what would break.
	reason string
	test   func(t *testing.T, s *suite)
}

// areas are all behaviors of one server.
var areas = map[string]map[string]behavior{
	"Creation":    creation,
	"Inheritance": inheritance,
	"Limits":      limits,
	"Waiting":     waiting,
	"Maintenance": maintenance,
	"Writing":     writing,
}

// suite is the server.
type suite struct{ server *servertest.Server }

func TestWorkspaceTypes(t *testing.T) {
	s := &suite{server: servertest.Start(t, servertest.WithUsers(t))}
	// Returns when all parallel subtests have: the server has to outlive them.
	t.Run("On", func(t *testing.T) {
		for _, area := range slices.Sorted(maps.Keys(areas)) {
			t.Run(area, func(t *testing.T) {
				t.Parallel()
				run(t, s, areas[area])
			})
		}
	})
}

func run(t *testing.T, s *suite, behaviors map[string]behavior) {
	for _, name := range slices.Sorted(maps.Keys(behaviors)) {
		b := behaviors[name]
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			t.Cleanup(func() {
				if t.Failed() {
					t.Logf("what is expected: %s", b.reason)
				}
			})
			b.test(t, s)
		})
	}
}
