package diagnosis_test

import (
	"strings"
	"testing"
	"time"

	"github.com/forkless/kcp/pkg/cli/diagnosis"
	"github.com/forkless/kcp/pkg/cli/output"
	"github.com/forkless/kcp/pkg/logicalcluster"
)

func TestCommands(t *testing.T) {
	here, there := logicalcluster.MustParsePath("root:here"), logicalcluster.MustParsePath("root:there")
	url := func(p logicalcluster.Path) string { return "https://server/clusters/" + p.String() }
	commands := diagnosis.Commands{Here: here, URL: url}
	nowhere := diagnosis.Commands{URL: url}
	for name, c := range map[string]struct{ reason, got, want string }{
		"Here":          {"the workspace of the user is not named", commands.Kubectl(here, "delete", "crd", "a.b"), "kubectl delete crd a.b"},
		"There":         {"another one is, for kubectl", commands.Kubectl(there, "get", "ns"), "kubectl get ns --server=https://server/clusters/root:there"},
		"PluginThere":   {"and for plugins", commands.Plugin(there, "kcp", "unbind", "x"), "kubectl kcp unbind x -w :root:there"},
		"PluginHere":    {"the workspace of the user is not named to plugins either", commands.Plugin(here, "kcp", "unbind", "x"), "kubectl kcp unbind x"},
		"Nowhere":       {"who is nowhere has everything named", nowhere.Plugin(here, "ws", "why"), "kubectl ws why -w :root:here"},
		"Quoted":        {"a shell takes arguments as they are", commands.Kubectl(here, "patch", "-p", `{"a":"it's"}`), `kubectl patch -p '{"a":"it'\''s"}'`},
		"Dangerous":     {"names of others run nothing", commands.Kubectl(here, "get", "x", "$(reboot)", ";", "a b", ""), `kubectl get x '$(reboot)' ';' 'a b' ''`},
		"RemoveEntry":   {"an entry is removed if it still is the one", diagnosis.RemoveEntry("/metadata/finalizers", 1, "a/b"), `[{"op":"test","path":"/metadata/finalizers/1","value":"a/b"},{"op":"remove","path":"/metadata/finalizers/1"}]`},
		"StepRemark":    {"a remark is a comment to a shell", diagnosis.Step("kubectl x", "deletes %d", 3), "kubectl x  # deletes 3"},
		"Elsewhere":     {"who else runs it is nowhere in particular", commands.Elsewhere().Kubectl(here, "get", "ns"), "kubectl get ns --server=https://server/clusters/root:here"},
		"HereIsUnknown": {"an empty path is not where the user is", nowhere.Kubectl(there, "get", "ns"), "kubectl get ns --server=https://server/clusters/root:there"},
	} {
		t.Run(name, func(t *testing.T) {
			if c.got != c.want {
				t.Errorf("%s: got %s, want %s", c.reason, c.got, c.want)
			}
		})
	}
	if command, remark := diagnosis.Split("kubectl x  # deletes 3"); command != "kubectl x" || remark != "deletes 3" {
		t.Errorf("split into %q and %q", command, remark)
	}
}

func TestNames(t *testing.T) {
	for name, c := range map[string]struct{ reason, about, subject, want string }{
		"Workspace":   {"the object is in the parent, under its last name", diagnosis.Workspace, "root:acme:us", "workspace.tenancy.kcp.io/us"},
		"Binding":     {"the name of a binding may have dots", diagnosis.Binding, "certs.acme.io", "apibinding.apis.kcp.io/certs.acme.io"},
		"Initializer": {"an initializer is one of a type", diagnosis.Initializer, "root:acme:team", "workspacetype.tenancy.kcp.io/team"},
		"Terminator":  {"and so is a terminator", diagnosis.Terminator, "root:acme:team", "workspacetype.tenancy.kcp.io/team"},
		"Else":        {"what is about no object is named all the same", "setup", "https://a:1", "setup/https://a:1"},
	} {
		t.Run(name, func(t *testing.T) {
			d := diagnosis.New(c.about, c.subject, time.Now())
			var out strings.Builder
			flags := output.Flags{Format: output.Name}
			if err := flags.PrintView(&out, d); err != nil || out.String() != c.want+"\n" {
				t.Errorf("%s: got %q, %v, want %s", c.reason, out.String(), err, c.want)
			}
			out.Reset()
			if err := flags.PrintView(&out, diagnosis.NewList([]*diagnosis.Diagnosis{d, d})); err != nil || out.String() != c.want+"\n"+c.want+"\n" {
				t.Errorf("%s: as a list got %q, %v", c.reason, out.String(), err)
			}
		})
	}
}
