package diagnosis_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/forkless/kcp/pkg/cli/diagnosis"
	"github.com/forkless/kcp/pkg/cli/display"
	"github.com/forkless/kcp/pkg/cli/run"
)

var update = flag.Bool("update", false, "write the golden files anew")

var taken = time.Date(2026, 5, 4, 10, 30, 0, 0, time.UTC)

func ago(d time.Duration) *metav1.Time {
	t := metav1.NewTime(taken.Add(-d))
	return &t
}

// stuckWorkspace is a workspace that waits for an initializer.
func stuckWorkspace() *diagnosis.Diagnosis {
	d := diagnosis.New(diagnosis.Workspace, "root:acme:payments:us", taken)
	d.Phase, d.Since = "Initializing", ago(4*time.Minute+9*time.Second)
	d.Facts = []string{"root:acme:team", "cluster 1x8c0h2m4n6p7q5r", "shard eu-1"}
	d.Add(diagnosis.Check{Name: "scheduled", State: diagnosis.OK})
	d.Add(diagnosis.Check{Name: "logical cluster", State: diagnosis.OK})
	d.Add(diagnosis.Check{
		Name: "initializers", State: diagnosis.Waiting, Message: "2 of 3 removed",
		Details: []diagnosis.Detail{
			{State: diagnosis.Done, Name: "system:apibindings"},
			{State: diagnosis.Done, Name: "root:acme:base"},
			{
				State: diagnosis.Waiting, Name: "root:acme:team", Message: "WorkspaceType root:acme/team, access by rules (3)",
				Notes: []string{"status last written 4m8s ago by kcp-apibinder, never by another client"},
			},
		},
	})
	d.Add(diagnosis.Check{Name: "bindings", State: diagnosis.OK, Message: "4 of 4 bound"})
	d.Block("initializer root:acme:team: nothing has removed it, no client has touched it", "kubectl kcp debug initializer root:acme:team")
	return d
}

// stuckBinding is a binding in conflict with a CRD.
func stuckBinding() *diagnosis.Diagnosis {
	d := diagnosis.New(diagnosis.Binding, "certs", taken)
	d.In, d.Phase, d.Since = "root:acme:payments", "Binding", ago(2*time.Minute)
	d.Facts = []string{"export root:platform:certs"}
	d.Add(diagnosis.Check{Name: "you may bind", State: diagnosis.OK, Message: "verb bind on apiexports/certs"})
	d.Add(diagnosis.Check{Name: "export", State: diagnosis.OK, Message: "found, identity 5fdf7c7aaf40, endpoints on 2 of 2 shards"})
	d.Add(diagnosis.Check{
		Name: "resources", State: diagnosis.Failed, Message: "2 of 3 bound",
		Details: []diagnosis.Detail{
			{State: diagnosis.OK, Name: "issuers.cert-manager.io", Message: "v2.issuers.cert-manager.io"},
			{State: diagnosis.Failed, Name: "certificates.cert-manager.io", Message: "NamingConflicts: a CRD of this workspace, 41d old"},
			{State: diagnosis.OK, Name: "orders.acme.cert-manager.io"},
		},
	})
	d.Add(diagnosis.Check{
		Name: "claims", State: diagnosis.Warning, Message: "1 of 3 open",
		Next: []string{"kubectl kcp claims accept certs --resource configmaps"},
		Details: []diagnosis.Detail{
			{State: diagnosis.Accepted, Name: "secrets"},
			{State: diagnosis.Open, Name: "configmaps"},
			{State: diagnosis.Mismatch, Name: "gateways.gw.io", Message: "9c01ab77de02 claimed, 77ab01c9e402 bound here"},
		},
	})
	d.Block("certificates.cert-manager.io is served by a CRD of this workspace",
		diagnosis.Step("kubectl delete crd certificates.cert-manager.io", "deletes %d objects", 12))
	return d
}

// stuckTerminator is a terminator that two wait for.
func stuckTerminator() *diagnosis.Diagnosis {
	d := diagnosis.New(diagnosis.Terminator, "root:acme:team", taken)
	d.Facts = []string{"WorkspaceType root:acme/team, owner mode (no terminatorPermissions)"}
	d.Add(diagnosis.Check{Name: "you may terminate", State: diagnosis.OK, Message: "virtual workspace answers on 2 of 2 shards"})
	d.Add(diagnosis.Check{
		Name: "2 logical clusters", State: diagnosis.Waiting,
		Details: []diagnosis.Detail{
			{Name: "root:acme:payments", Cluster: "2kb1y3r0q9x8w7v6", Phase: "Terminating", Since: ago(12 * time.Minute), Message: "team-controller 11m ago"},
			{Name: "root:acme:old", Cluster: "0m2f4g6h8j0k1l3n", Phase: "Terminating", Since: ago(72 * time.Hour), Message: "never"},
		},
	})
	d.Block("2 waiting longer than 5m", "kubectl kcp debug terminator root:acme:team --done :root:acme:old")
	return d
}

func TestPrint(t *testing.T) {
	healthy := diagnosis.New(diagnosis.Workspace, "root:acme", taken)
	healthy.Phase = "Ready"
	healthy.Add(diagnosis.Check{Name: "bindings", State: diagnosis.OK, Message: "2 of 2 bound"})
	hostile := diagnosis.New(diagnosis.Workspace, "root:a\x1b[2J", taken)
	hostile.Add(diagnosis.Check{Name: "initializers\n", State: diagnosis.Failed, Message: "two\nlines \x1b]0;title\x07"})
	hostile.Block("held by \x1b[31mred", "kubectl get x\r")

	for name, c := range map[string]struct {
		reason    string
		diagnosis *diagnosis.Diagnosis
		look      display.Display
	}{
		"workspace":          {reason: "the layout for workspaces", diagnosis: stuckWorkspace()},
		"binding":            {reason: "the layout for bindings, with what is to be done about warnings last", diagnosis: stuckBinding()},
		"terminator":         {reason: "the layout for hooks, with a table of those who wait", diagnosis: stuckTerminator()},
		"healthy":            {reason: "nothing blocks, so nothing is to be done", diagnosis: healthy},
		"hostile":            {reason: "what a server sends drives no terminal", diagnosis: hostile},
		"workspace_40":       {reason: "lines are cut on a narrow terminal, but not what to do next", diagnosis: stuckWorkspace(), look: display.Display{Terminal: true, Width: 40}},
		"terminator_80":      {reason: "the cluster goes first on a narrow terminal", diagnosis: stuckTerminator(), look: display.Display{Terminal: true, Width: 80}},
		"terminator_66":      {reason: "then paths are cut in the middle", diagnosis: stuckTerminator(), look: display.Display{Terminal: true, Width: 66, ASCII: true}},
		"binding_with_color": {reason: "states are colored, and words all the same", diagnosis: stuckBinding(), look: display.Display{Terminal: true, Color: true}},
	} {
		t.Run(name, func(t *testing.T) {
			var got bytes.Buffer
			c.diagnosis.Print(&got, c.look)
			file := filepath.Join("testdata", name+".txt")
			if *update {
				if err := os.WriteFile(file, got.Bytes(), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), got.String()); diff != "" {
				t.Errorf("%s (-want +got):\n%s", c.reason, diff)
			}
		})
	}
}

func TestDocument(t *testing.T) {
	encoded, err := json.Marshal(stuckBinding())
	if err != nil {
		t.Fatal(err)
	}
	var got struct {
		APIVersion, Kind, Subject, Phase string
		Checks                           []struct{ Name, State string }
		Blockers                         []struct {
			Message string
			Next    []string
		}
	}
	if err := json.Unmarshal(encoded, &got); err != nil {
		t.Fatal(err)
	}
	if got.APIVersion != "cli.kcp.io/v1alpha1" || got.Kind != "Diagnosis" || got.Subject != "certs" || got.Phase != "Binding" {
		t.Errorf("it is %+v", got)
	}
	if len(got.Checks) != 4 || got.Checks[2].State != "failed" || len(got.Blockers) != 1 || len(got.Blockers[0].Next) != 1 {
		t.Errorf("it has %+v", got)
	}
	healthy, err := json.Marshal(diagnosis.New(diagnosis.Workspace, "root", taken))
	if err != nil || !strings.Contains(string(healthy), `"checks":[]`) || !strings.Contains(string(healthy), `"blockers":[]`) {
		t.Errorf("lists that are empty are there all the same: %s, %v", healthy, err)
	}
}

func TestErr(t *testing.T) {
	if err := stuckWorkspace().Err(); !errors.Is(err, run.ErrNo) {
		t.Errorf("a blocker is the answer no, not %v", err)
	}
	d := stuckBinding()
	d.Blockers = nil
	if err := d.Err(); err != nil {
		t.Errorf("a warning is no blocker, but the answer is %v", err)
	}
}

func TestSame(t *testing.T) {
	later := stuckWorkspace()
	later.Taken = metav1.NewTime(taken.Add(time.Hour))
	if !stuckWorkspace().Same(later) {
		t.Error("time alone changes no conclusion")
	}
	later.Checks[2].Details[2].State = diagnosis.Done
	if stuckWorkspace().Same(later) || stuckWorkspace().Same(nil) {
		t.Error("something has changed")
	}
}
