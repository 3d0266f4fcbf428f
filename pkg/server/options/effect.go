package options

import (
	"slices"
	"strings"

	"github.com/spf13/pflag"
)

const (
	// NoEffectYet ends the help of flags whose feature this version does not have.
	NoEffectYet = "(accepted, no effect yet)"
	// NotNeeded ends the help of flags about something that works differently here.
	NotNeeded = "(accepted, not needed here)"
)

// noEffectYet are the flags whose feature this version does not have. A name that
// ends in "*" stands for all flags that begin like it. Take a line out when the
// feature comes.
var noEffectYet = []string{
	// Accounts and identities from elsewhere.
	"authentication-config", "authentication-token-webhook-*", "oidc-*", "enable-bootstrap-token-auth",
	"authorization-webhook-*",
	// Several processes.
	"shard-virtual-workspace-ca-file", "shard-client-cert-file", "shard-client-key-file",
	"root-shard-kubeconfig-file", "shard-kubeconfig-file", "cache-kubeconfig",
	"logical-cluster-admin-kubeconfig", "external-logical-cluster-admin-kubeconfig",
	"miniproxy-mapping-file",
	"run-virtual-workspaces", "run-controllers", "unsupported-run-individual-controllers",
	"enable-leader-election", "leader-election-*",
	// What upstream's storage would do.
	"etcd-servers-overrides", "etcd-count-metric-poll-period", "etcd-db-metric-poll-interval",
	// Operations.
	"permit-address-sharing", "permit-port-sharing",
}

// notNeeded are flags about something that works differently here: the embedded etcd
// opens no sockets, all objects are served from watch caches, and counted as they are
// written, and conversions are bounded by what their expressions cost, which does not
// depend on how busy the machine is.
var notNeeded = []string{
	"embedded-etcd-client-port", "embedded-etcd-peer-port", "embedded-etcd-listen-metrics-urls",
	"watch-cache", "watch-cache-sizes", "default-watch-cache-size", "enable-garbage-collector", "storage-backend",
	"logical-cluster-object-count-scan-interval",
	"external-hostname", "experimental-bind-free-port",
	"conversion-cel-transformation-timeout",
}

// markWithoutEffect makes the help of flags without effect say so.
func markWithoutEffect(fs *pflag.FlagSet) {
	fs.VisitAll(func(flag *pflag.Flag) {
		switch {
		case matches(noEffectYet, flag.Name):
			flag.Usage += " " + NoEffectYet
		case matches(notNeeded, flag.Name):
			flag.Usage += " " + NotNeeded
		}
	})
}

// withoutEffect returns the flags that were set and whose feature is missing, as they
// were typed. Flags that are not needed are not among them: leaving them unheeded is
// no loss.
func withoutEffect(fs *pflag.FlagSet) []string {
	var all []string
	if fs == nil {
		return nil
	}
	fs.Visit(func(flag *pflag.Flag) {
		if matches(noEffectYet, flag.Name) {
			all = append(all, "--"+flag.Name)
		}
	})
	slices.Sort(all)
	return all
}

func matches(patterns []string, name string) bool {
	return slices.ContainsFunc(patterns, func(pattern string) bool {
		if prefix, ok := strings.CutSuffix(pattern, "*"); ok {
			return strings.HasPrefix(name, prefix)
		}
		return pattern == name
	})
}
