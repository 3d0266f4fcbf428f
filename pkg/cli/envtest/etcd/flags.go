package etcd

import (
	"errors"
	"flag"
	"fmt"
	"io"

	"go.etcd.io/etcd/pkg/v3/flags"
	"go.etcd.io/etcd/server/v3/embed"
	"go.uber.org/zap"
)

// A single member elects itself: short ticks only shorten the start.
const (
	tick     = 10
	election = 100
	// maxTxnOps is more than etcd's default: workspaces are born in one transaction.
	maxTxnOps = 1024
)

// errVersion says that the version was asked for.
var errVersion = errors.New("version")

// newFlags returns the flags of etcd, which write into config.
func newFlags(config *embed.Config) *flag.FlagSet {
	fs := flag.NewFlagSet(Name, flag.ContinueOnError)
	config.AddFlags(fs)
	// These are not the configuration's in upstream.
	fs.Bool("version", false, "Print the version and exit.")
	fs.StringVar(&config.ClusterState, "initial-cluster-state", config.ClusterState, "Initial cluster state ('new' or 'existing').")
	fs.String("config-file", "", "Not supported here.")
	fs.String("discovery-fallback", "exit", "Changes nothing here.")
	fs.String("v2-deprecation", "", "Changes nothing here.")
	return fs
}

// parse returns what arguments and the environment say.
func parse(args []string, errOut io.Writer) (*embed.Config, error) {
	config := embed.NewConfig()
	config.TickMs, config.ElectionMs, config.MaxTxnOps = tick, election, maxTxnOps
	fs := newFlags(config)
	fs.SetOutput(errOut)
	fs.Usage = func() {}
	if err := fs.Parse(args); err != nil {
		return nil, err
	}
	if fs.NArg() > 0 {
		_, _ = fmt.Fprintf(errOut, "%q is not a valid flag\n", fs.Arg(0))
		return nil, errors.New("misused")
	}
	if fs.Lookup("version").Value.String() == "true" {
		return nil, errVersion
	}
	if file := fs.Lookup("config-file").Value.String(); file != "" {
		_, _ = fmt.Fprintln(errOut, "--config-file is not supported here: give flags")
		return nil, errors.New("misused")
	}
	if err := flags.SetFlagsFromEnv(zap.NewNop(), "ETCD", fs); err != nil {
		_, _ = fmt.Fprintln(errOut, err)
		return nil, err
	}
	complete(config, fs)
	return config, nil
}

// complete reads the flags that hold lists.
func complete(config *embed.Config, fs *flag.FlagSet) {
	// There are no peers, and nothing listens for any.
	config.ListenPeerUrls = nil
	config.AdvertisePeerUrls = flags.UniqueURLsFromFlag(fs, "initial-advertise-peer-urls")
	config.ListenClientUrls = flags.UniqueURLsFromFlag(fs, "listen-client-urls")
	config.ListenClientHttpUrls = flags.UniqueURLsFromFlag(fs, "listen-client-http-urls")
	config.AdvertiseClientUrls = flags.UniqueURLsFromFlag(fs, "advertise-client-urls")
	config.ListenMetricsUrls = flags.UniqueURLsFromFlag(fs, "listen-metrics-urls")
	config.CORS = flags.UniqueURLsMapFromFlag(fs, "cors")
	config.HostWhitelist = flags.UniqueStringsMapFromFlag(fs, "host-whitelist")
	config.CipherSuites = flags.StringsFromFlag(fs, "cipher-suites")
	config.MaxConcurrentStreams = flags.Uint32FromFlag(fs, "max-concurrent-streams")
	config.LogOutputs = flags.UniqueStringsFromFlag(fs, "log-outputs")
	if !flags.IsSet(fs, "log-level") {
		config.LogLevel = "warn"
	}
	if !flags.IsSet(fs, "initial-cluster") {
		config.InitialCluster = config.InitialClusterFromName(config.Name)
	}
}
