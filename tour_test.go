package kcp

import (
	"testing"

	"github.com/forkless/kcp/test/tour"
)

// TestTour runs the README's tour as it is printed.
func TestTour(t *testing.T) { tour.Run(t, "README.md", nil, nil) }
