package options

import (
	"errors"
	"fmt"

	"github.com/spf13/pflag"

	"github.com/forkless/kcp/internal/tenancy/mount"
)

// MountOptions say where mounted workspaces may lead, and how the server speaks to what is
// there. They matter with the feature gate WorkspaceMounts only.
type MountOptions struct {
	// AllowedHosts are the hosts that mounted workspaces may lead to, beside this server.
	AllowedHosts []string
	// CAFile has the certificates that mounted servers are trusted by; empty for those of
	// the system.
	CAFile string
	// CertFile and KeyFile are the certificate that vouches for who callers are; empty to
	// pass their bearer tokens on instead.
	CertFile, KeyFile string
}

// AddFlags adds the flags of the group to fs.
func (o *MountOptions) AddFlags(fs *pflag.FlagSet) {
	fs.StringSliceVar(&o.AllowedHosts, mount.AllowedHostsFlag, o.AllowedHosts,
		"Hosts that mounted workspaces may lead to, beside this server: [http://]host[:port], *.domain, or * for all. "+
			"They are sent the bearer tokens of whoever uses a workspace that is mounted from them, unless --mount-proxy-client-cert-file is given.")
	fs.StringVar(&o.CAFile, "mount-proxy-ca-file", o.CAFile,
		"CA certificates to trust mounted API servers by. (default those of the system)")
	fs.StringVar(&o.CertFile, "mount-proxy-client-cert-file", o.CertFile,
		"Client certificate by which mounted API servers believe what this server says of its callers, in X-Remote-* headers.")
	fs.StringVar(&o.KeyFile, "mount-proxy-client-key-file", o.KeyFile, "Key of that certificate.")
}

// Validate says what is wrong with the options.
func (o *MountOptions) Validate() []error {
	var all []error
	for _, host := range o.AllowedHosts {
		if err := mount.ParseHost(host); err != nil {
			all = append(all, fmt.Errorf("--%s: %w", mount.AllowedHostsFlag, err))
		}
	}
	if (o.CertFile == "") != (o.KeyFile == "") {
		all = append(all, errors.New("--mount-proxy-client-cert-file and --mount-proxy-client-key-file must be given together"))
	}
	return all
}

func (o *Options) completeMounts(p *paths) MountOptions {
	return MountOptions{
		AllowedHosts: o.Mounts.AllowedHosts,
		CAFile:       p.absolute(o.Mounts.CAFile),
		CertFile:     p.absolute(o.Mounts.CertFile),
		KeyFile:      p.absolute(o.Mounts.KeyFile),
	}
}
