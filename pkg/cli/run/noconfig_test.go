package run

import (
	"path/filepath"
	"testing"
)

func TestNoConfig(t *testing.T) {
	there, gone := t.TempDir(), filepath.Join(t.TempDir(), "gone")
	general := "name a kubeconfig with --kubeconfig or the environment variable KUBECONFIG"
	for name, c := range map[string]struct{ reason, named, want string }{
		"Unset": {"somebody new is told how it is done", "", general},
		"Gone":  {"a name that leads nowhere is told", gone, "the environment variable KUBECONFIG names " + gone + ", which is not there"},
		"There": {"files that are there are only empty", gone + string(filepath.ListSeparator) + there, general},
	} {
		t.Run(name, func(t *testing.T) {
			if got := noConfig(c.named); got != c.want {
				t.Errorf("%s: got %s, want %s", c.reason, got, c.want)
			}
		})
	}
}
