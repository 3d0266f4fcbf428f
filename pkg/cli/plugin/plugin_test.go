package plugin

import (
	"bytes"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/forkless/kcp/pkg/cli/display"
	"github.com/forkless/kcp/pkg/cli/kubeconfig"
	"github.com/forkless/kcp/pkg/cli/run"
)

// sharedFlags are those that every command of every plugin has.
var sharedFlags = []string{
	"kubeconfig", "context", "cluster", "user", "namespace", "server", "token", "username", "password",
	"client-certificate", "client-key", "certificate-authority", "insecure-skip-tls-verify", "tls-server-name",
	"color", "ascii", "accessible", "quiet",
	"proxy-url", "disable-compression", "as", "as-uid", "as-group", "request-timeout",
	"v", "vmodule", "logtostderr", "alsologtostderr", "alsologtostderrthreshold", "stderrthreshold",
	"legacy_stderr_threshold_behavior", "log_dir", "log_file", "log_file_max_size", "log_backtrace_at", "one_output",
	"add_dir_header", "skip_headers", "skip_log_headers",
}

func newCommand(use string, sub ...*cobra.Command) *cobra.Command {
	cmd := &cobra.Command{Use: use, Short: "Do it", Example: "  kubectl " + use, RunE: func(*cobra.Command, []string) error { return nil }}
	cmd.Flags().Bool("own", false, "A flag of its own")
	cmd.AddCommand(sub...)
	return cmd
}

func TestSharedFlagsWorkEverywhere(t *testing.T) {
	flags := &kubeconfig.Flags{}
	root := New(newCommand("top", newCommand("below")), "kubectl top", flags, &display.Flags{})
	below, _, err := root.Find([]string{"below"})
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range sharedFlags {
		if root.PersistentFlags().Lookup(name) == nil || below.InheritedFlags().Lookup(name) == nil {
			t.Errorf("the flag --%s is missing", name)
		}
	}
	for name, want := range map[string]string{"stderrthreshold": "0", "legacy_stderr_threshold_behavior": "false", "log_file_max_size": "1800"} {
		if got := root.PersistentFlags().Lookup(name).DefValue; got != want {
			t.Errorf("--%s is %q by default, want %q", name, got, want)
		}
	}

	root.SetArgs([]string{"--context", "a", "below", "-s", "https://b", "-n", "namespace/c"})
	if err := root.Execute(); err != nil {
		t.Fatal(err)
	}
	if o := flags.Overrides; o.CurrentContext != "a" || o.ClusterInfo.Server != "https://b" || o.Context.Namespace != "c" {
		t.Errorf("the flags have become %+v", o)
	}
}

func TestHelp(t *testing.T) {
	cases := map[string]struct {
		reason    string
		build     func() *cobra.Command
		args      []string
		has, lack []string
	}{
		"Folded": {
			reason: "a command with subcommands shows its own flags and where the others are",
			build:  func() *cobra.Command { return newCommand("top", newCommand("below")) },
			args:   []string{"--help"},
			has:    []string{"Examples:\n  kubectl top\n", "  below", "--own", "Usage:\n  kubectl top [flags]\n", `"kubectl top options" shows`},
			lack:   []string{"--kubeconfig"},
		},
		"FoldedBelow": {
			reason: "so do the commands below it",
			build:  func() *cobra.Command { return newCommand("top", newCommand("below")) },
			args:   []string{"below", "--help"},
			has:    []string{"--own", "Usage:\n  kubectl top below [flags]\n"},
			lack:   []string{"--kubeconfig"},
		},
		"Options": {
			reason: "there they are",
			build:  func() *cobra.Command { return newCommand("top", newCommand("below")) },
			args:   []string{"options"},
			has:    []string{"--kubeconfig", "--vmodule"},
			lack:   []string{"--own"},
		},
		"Alone": {
			reason: "a command that takes names has no subcommand to fold them into",
			build:  func() *cobra.Command { return newCommand("top") },
			args:   []string{"--help"},
			has:    []string{"Flags:\n", "--own", "Connection and logging flags:\n", "--kubeconfig"},
			lack:   []string{"options\""},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			var out, errOut bytes.Buffer
			code := run.Execute(t.Context(), run.Streams{Out: &out, ErrOut: &errOut}, func(run.Streams) *cobra.Command {
				return New(tc.build(), "kubectl top", &kubeconfig.Flags{}, &display.Flags{})
			}, tc.args)
			if code != 0 || errOut.Len() > 0 {
				t.Fatalf("exit code %d, %s", code, errOut.String())
			}
			for _, text := range tc.has {
				if !strings.Contains(out.String(), text) {
					t.Errorf("%s: %q is missing in\n%s", tc.reason, text, out.String())
				}
			}
			for _, text := range tc.lack {
				if strings.Contains(out.String(), text) {
					t.Errorf("%s: %q is too much in\n%s", tc.reason, text, out.String())
				}
			}
		})
	}
}

func TestVersionOf(t *testing.T) {
	for stamp, want := range map[string]string{
		"v1.2.3":                          "v1.2.3",
		"v0.0.0-master+$Format:%H$":       "<unknown>",
		"v0.0.0-master+0123456789abcdef0": "<unknown>",
		"":                                "<unknown>",
	} {
		if got := versionOf(stamp); got != want {
			t.Errorf("%q is shown as %q, want %q", stamp, got, want)
		}
	}
}
