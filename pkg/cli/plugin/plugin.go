package plugin

import (
	"flag"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"k8s.io/client-go/pkg/version"
	"k8s.io/klog/v2"

	"github.com/forkless/kcp/pkg/cli/display"
	"github.com/forkless/kcp/pkg/cli/kubeconfig"
)

// unstamped is how the version begins of a program that was built without one.
const unstamped = "v0.0.0-master"

// New makes cmd the only command of a program that people call as called. The
// connection flags go to connection, those about how things are shown to look.
func New(cmd *cobra.Command, called string, connection *kubeconfig.Flags, look *display.Flags) *cobra.Command {
	if cmd.Annotations == nil {
		cmd.Annotations = map[string]string{}
	}
	cmd.Annotations[cobra.CommandDisplayNameAnnotation] = called
	cmd.Version = versionOf(version.Get().GitVersion)
	cmd.SetVersionTemplate("{{.Name}} version {{.Version}}\n")

	shared := pflag.NewFlagSet("shared", pflag.ContinueOnError)
	connection.AddFlags(shared)
	look.AddFlags(shared)
	addLoggingFlags(shared)
	cmd.PersistentFlags().AddFlagSet(shared)

	// A command without subcommands takes names, and "options" may be one.
	folded := cmd.HasSubCommands()
	if folded {
		cmd.AddCommand(newOptions(shared))
	}
	setUsage(cmd, shared, folded)
	return cmd
}

// versionOf returns what is printed for the version that the linker has put in.
func versionOf(stamp string) string {
	if stamp == "" || strings.HasPrefix(stamp, unstamped) {
		return "<unknown>"
	}
	return stamp
}

// addLoggingFlags adds the flags of klog, in the setting in which everything that is
// logged at all goes to the error stream.
func addLoggingFlags(flags *pflag.FlagSet) {
	logging := flag.NewFlagSet("logging", flag.ContinueOnError)
	klog.InitFlags(logging)
	for name, value := range map[string]string{
		"stderrthreshold":                  "INFO",
		"legacy_stderr_threshold_behavior": "false",
	} {
		f := logging.Lookup(name)
		// The flag is klog's own and takes its own values.
		_ = f.Value.Set(value)
		f.DefValue = f.Value.String()
	}
	flags.AddGoFlagSet(logging)
}
