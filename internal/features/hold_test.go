package features

import (
	"strings"
	"testing"
)

func hold(t *testing.T, wanted map[string]bool) (release func()) {
	t.Helper()
	release, err := Hold(wanted)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(release)
	return release
}

func TestHold(t *testing.T) {
	mounts := map[string]bool{string(WorkspaceMounts): true}
	first := hold(t, mounts)
	second := hold(t, mounts)
	if !Enabled(WorkspaceMounts) {
		t.Fatal("the gate that is held is off")
	}
	for reason, wanted := range map[string]map[string]bool{
		"others hold the gate that is to be off": {string(WorkspaceMounts): false},
		"the default is not what others hold":    nil,
		"others do not have the further gate":    {string(WorkspaceMounts): true, string(CacheAPIs): true},
		"nobody knows such a gate":               {"WorkspaceMoutns": true},
	} {
		if _, err := Hold(wanted); err == nil {
			t.Errorf("%s: it was not refused", reason)
		} else if !strings.Contains(err.Error(), "--feature-gates: ") {
			t.Errorf("%s: the error does not say what to change: %v", reason, err)
		}
	}
	first()
	first()
	if !Enabled(WorkspaceMounts) {
		t.Error("the gate is off while somebody holds it: who lets go twice does so once")
	}
	second()
	if Enabled(WorkspaceMounts) {
		t.Error("nobody holds the gate any more, and it is not what it was")
	}
	hold(t, nil)
	if _, err := Hold(mounts); err == nil {
		t.Error("the gate is off for somebody, and was turned on")
	}
	if release, err := Hold(map[string]bool{string(WorkspaceMounts): false}); err != nil {
		t.Errorf("the gate is off anyhow: %v", err)
	} else {
		release()
	}
}
