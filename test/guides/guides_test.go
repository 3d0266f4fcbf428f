package guides

import (
	"path/filepath"
	"testing"

	"github.com/forkless/kcp/test/tour"
)

const checkout = "../.."

// TestGuides runs the commands of the guides as they are printed.
func TestGuides(t *testing.T) {
	examples, err := filepath.Abs(checkout + "/examples")
	if err != nil {
		t.Fatal(err)
	}
	for _, guide := range []string{"find-out-why.md", "newcomers-hour.md"} {
		t.Run(guide, func(t *testing.T) {
			t.Parallel()
			tour.Run(t, filepath.Join(checkout, "docs", guide), nil, map[string]string{"examples": examples})
		})
	}
}
