//go:build linux

package ephemeral

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/forkless/kcp/internal/servertest/manifests"
)

// TestSnapshot takes a tree of workspaces with types, bindings and objects from one run to
// the next. How long that takes is measured by hack/bench.
func TestSnapshot(t *testing.T) {
	count := 10
	if long {
		count = 200
	}
	tr := newTrail(t)
	directory := t.TempDir()
	archive, applied := filepath.Join(directory, "state.tar"), filepath.Join(directory, "all.yaml")
	if err := os.WriteFile(applied, []byte(manifests.Platform("root:run", count)), 0o600); err != nil {
		t.Fatal(err)
	}
	last := fmt.Sprintf("root:run:team-%d", count-1)
	script := `set -e
kubectl get workspaces --no-headers | grep -c Ready
kubectl get cowboys -o name | wc -l
kubectl get apiexport sheriffs -o jsonpath='{.status.identityHash}{"\n"}'
kubectl ws :` + last + ` >/dev/null
kubectl get apibindings -o jsonpath='{.items[?(@.spec.reference.export.name=="sheriffs")].status.phase}{"\n"}'
kubectl create -f "$1" -o name`
	sheriff := filepath.Join(directory, "sheriff.yaml")
	if err := os.WriteFile(sheriff, []byte("apiVersion: wild.wild.west/v1\nkind: Sheriff\nmetadata: {generateName: sheriff-}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	first := tr.run(t, "-q", "--start-timeout=10m", "--apply="+applied, "--save="+archive, "--", "sh", "-c", script, "sh", sheriff)
	second := tr.run(t, "-q", "--start-timeout=10m", "--snapshot="+archive, "--", "sh", "-c", script, "sh", sheriff)
	for which, r := range map[string]result{"before": first, "after": second} {
		lines := strings.Split(r.stdout, "\n")
		if r.code != 0 || len(lines) != 6 || lines[0] != fmt.Sprint(count) || lines[1] != fmt.Sprint(count) || lines[3] != "Bound" || !strings.HasPrefix(lines[4], "sheriff.wild.wild.west/sheriff-") {
			t.Errorf("%s: exit code %d\n%s%s", which, r.code, r.stdout, r.stderr)
		}
	}
	if a, b := strings.Split(first.stdout, "\n"), strings.Split(second.stdout, "\n"); len(a) > 2 && len(b) > 2 && a[2] != b[2] {
		t.Errorf("the export has another identity: %s, before %s", b[2], a[2])
	}
	tr.gone(t)
}
