package ephemeral

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra"

	"github.com/forkless/kcp/pkg/cli/run"
	"github.com/forkless/kcp/pkg/logicalcluster"
)

// parse returns the options that arguments stand for, and what is said of those that are
// wrong. Nothing is started.
func parse(t *testing.T, env map[string]string, args ...string) (*Options, string) {
	t.Helper()
	var o *Options
	var said bytes.Buffer
	build := func(streams run.Streams) *cobra.Command {
		o = NewOptions(streams)
		o.getenv = func(name string) string { return env[name] }
		cmd := &cobra.Command{Use: "run", RunE: func(cmd *cobra.Command, args []string) error {
			o.Command = args
			o.Complete(cmd.Flags().Changed)
			return o.Validate(cmd.Flags().Changed)
		}}
		o.AddFlags(cmd.Flags())
		cmd.Flags().SetInterspersed(false)
		return cmd
	}
	run.Execute(t.Context(), run.Streams{Out: &said, ErrOut: &said}, build, append([]string{}, args...))
	return o, said.String()
}

func TestMisuse(t *testing.T) {
	for name, tc := range map[string]struct{ reason, args, want string }{
		"DetachedCommand": {"what is detached has no end that a command could have", "--detach -- true", "--detach runs no command: it returns, and what follows runs with what it prints"},
		"Print":           {"a flag without effect is a mistake", "--print path -- true", "--print goes with --detach"},
		"TTL":             {"so is this one", "--ttl 1m", "--ttl goes with --detach"},
		"DetachedTimeout": {"the two limits are not confused", "--detach --timeout 1m", "--timeout is for a command; with --detach it is --ttl"},
		"Keep":            {"the choices are named", "--keep maybe", `--keep "maybe": valid are never, failure, always`},
		"PrintForm":       {"the choices are named", "--detach --print xml", `--print "xml": valid are env, dotenv, path, json`},
		"Negative":        {"time runs forward", "--timeout=-1s -- true", "--timeout -1s: there is no time before now"},
		"In":              {"a name is no path", "--in team", "--in team: it has to begin at root, as root:run does"},
		"InSystem":        {"what belongs to the server is not for commands", "--in system:admin", "--in system:admin: it has to begin at root, as root:run does"},
		"Type":            {"what cannot be a type is none", "--type a/b", `--type: "a/b" is no workspace type: it has to look like team or root:acme:team`},
		"Bind":            {"an export is in a workspace", "--bind certs", `--bind "certs": it has to look like root:platform:certs, a path and the name of an export`},
		"User":            {"nobody has no name", "--user =team", `--user "=team": a name is missing; it has to look like alice or alice=team-a,team-b`},
		"UserTwice":       {"a name leads to one context", "--user a --user a=b", "--user a: named twice"},
		"UserTaken":       {"contexts of the server stay what they are", "--user base", "--user base: the kubeconfig has a context of that name already"},
		"UserLines":       {"a context is in one line", "--user a\ab", `--user "a\ab": names are text without control characters`},
		"NoSave":          {"a variable that is not set is no path", "--save= -- true", "--save is empty"},
		"NoSnapshot":      {"a start without the state is not what was meant", "--snapshot= -- true", "--snapshot is empty"},
		"NoArtifacts":     {"nor is the working directory", "--artifacts= -- true", "--artifacts is empty"},
		"NoIn":            {"nor is the default", "--in= -- true", "--in is empty"},
		"NoApply":         {"one of several is found, too", "--apply=x --apply= -- true", "--apply is empty"},
		"NoKeep":          {"nor is the default of a choice", "--keep= -- true", "--keep is empty"},
		"ServerFlag":      {"what the command relies on is not changed", "--kcp-arg=--root-directory=/x", "--kcp-arg --root-directory=/x: kcp run decides about --root-directory"},
	} {
		t.Run(name, func(t *testing.T) {
			_, said := parse(t, nil, strings.Fields(tc.args)...)
			if want := "error: " + tc.want + "\n"; said != want {
				t.Errorf("%s: got %q, want %q", tc.reason, said, want)
			}
		})
	}
}

func TestKeepDefaults(t *testing.T) {
	for name, tc := range map[string]struct {
		reason, args, env string
		keep, artifacts   string
	}{
		"Nothing":     {"nothing is left where nobody asked for it", "", "", keepNever, "."},
		"Keep":        {"what is kept is beside the caller", "--keep always", "", keepAlways, "."},
		"Artifacts":   {"whoever says where wants to see what failed", "--artifacts out", "", keepFailure, "out"},
		"Environment": {"systems that run jobs say where", "", "/artifacts", keepFailure, "/artifacts"},
		"Both":        {"flags count more than the environment", "--artifacts out --keep never", "/artifacts", keepNever, "out"},
	} {
		t.Run(name, func(t *testing.T) {
			o, said := parse(t, map[string]string{"ARTIFACT_DIR": tc.env}, strings.Fields(tc.args)...)
			if said != "" || o.Keep != tc.keep || o.Artifacts != tc.artifacts {
				t.Errorf("%s: --keep %s --artifacts %s %s", tc.reason, o.Keep, o.Artifacts, said)
			}
		})
	}
}

// TestCommandKeepsItsFlags shows that flags behind the command are the command's.
func TestCommandKeepsItsFlags(t *testing.T) {
	want := []string{"go", "test", "-q", "--in", "x", "./..."}
	for _, line := range []string{"-q go test -q --in x ./...", "-q -- go test -q --in x ./..."} {
		o, said := parse(t, nil, strings.Fields(line)...)
		if diff := cmp.Diff(want, o.Command); diff != "" || said != "" || o.In != defaultWorkspace {
			t.Errorf("%s (-want +got):\n%s%s", line, diff, said)
		}
	}
}

// TestStaying shows that the process that stays is told what the one that returns was told.
func TestStaying(t *testing.T) {
	given := strings.Fields("--in root:a:b --type team --apply x --apply - --bind root:p:e --user a=b,c --snapshot s --save t " +
		"--artifacts out --keep always --start-timeout 1m --ttl 2h --kcp-arg=--feature-gates=X=true --detach -q")
	first, said := parse(t, nil, given...)
	if said != "" {
		t.Fatal(said)
	}
	second, said := parse(t, nil, first.staying()[1:]...)
	if said != "" {
		t.Fatal(said)
	}
	for _, o := range []*Options{first, second} {
		// These differ: it stays itself, says nothing anyway, and makes tokens of its own.
		o.Detach, o.detached, o.Quiet = false, false, false
		for i := range o.users {
			o.users[i].token = ""
		}
		o.began, o.now, o.getenv, o.streams = time.Time{}, nil, nil, run.Streams{}
	}
	if diff := cmp.Diff(first, second, cmp.AllowUnexported(Options{}, user{}, export{}), cmp.Comparer(func(a, b logicalcluster.Path) bool { return a == b })); diff != "" {
		t.Errorf("(-first +second)\n%s", diff)
	}
}
