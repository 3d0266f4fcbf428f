package options

import (
	"errors"
	"fmt"
	"net"

	"github.com/spf13/pflag"
	genericserver "k8s.io/apiserver/pkg/server"
	"k8s.io/apiserver/pkg/server/dynamiccertificates"
	genericoptions "k8s.io/apiserver/pkg/server/options"
	cliflag "k8s.io/component-base/cli/flag"
)

// defaultPort is where a server listens unless told otherwise.
const defaultPort = 6443

// ServingOptions say where the server listens and with which certificate.
type ServingOptions struct {
	// SecureServingOptions are those of every Kubernetes API server. The port 0 stands
	// for any free port.
	*genericoptions.SecureServingOptions

	// externalHostname and bindFreePort belong to flags that nothing reads: the host
	// comes from the shard's base URL or the address, and port 0 says it all.
	externalHostname string
	bindFreePort     bool
}

func newServingOptions() ServingOptions {
	serving := genericoptions.NewSecureServingOptions()
	serving.BindPort = defaultPort
	serving.ServerCert.CertDirectory = ""
	return ServingOptions{SecureServingOptions: serving}
}

// AddFlags adds the flags of the group to fs.
func (o *ServingOptions) AddFlags(fs *pflag.FlagSet) {
	o.SecureServingOptions.AddFlags(fs)
	fs.Lookup("bind-address").Usage = "The IP address to listen on. " +
		"An unspecified address (0.0.0.0 or ::) stands for all interfaces and both address families."
	fs.Lookup("secure-port").Usage = "The port to serve HTTPS on. 0 takes a free port."
	fs.Lookup("cert-dir").Usage = "The directory of the generated serving certificate. " +
		"The root directory if not set; ignored with --tls-cert-file."
	fs.Lookup("tls-cert-file").Usage = "File with the certificate for HTTPS, followed by those of its issuers if there are any. " +
		"Without it a certificate is made on first start and kept in the root directory."

	fs.StringVar(&o.externalHostname, "external-hostname", "", "The host name of the server. Use --shard-base-url.")
	fs.BoolVar(&o.bindFreePort, "experimental-bind-free-port", false, "Listen on a free port, with --secure-port=0.")
	for _, name := range []string{"external-hostname", "experimental-bind-free-port"} {
		fs.Lookup(name).Hidden = true
	}
}

// Validate says what is wrong with the options.
func (o *ServingOptions) Validate() []error {
	var all []error
	if o.BindPort < 0 || o.BindPort > 65535 {
		all = append(all, fmt.Errorf("--secure-port=%d is not between 0 and 65535", o.BindPort))
	}
	if o.bindFreePort && o.BindPort != 0 {
		all = append(all, errors.New("--experimental-bind-free-port needs --secure-port=0"))
	}
	if (o.ServerCert.CertKey.CertFile == "") != (o.ServerCert.CertKey.KeyFile == "") {
		all = append(all, errors.New("--tls-cert-file and --tls-private-key-file must be given together"))
	}
	if _, err := cliflag.TLSCipherSuites(o.CipherSuites); err != nil {
		all = append(all, fmt.Errorf("--tls-cipher-suites: %w", err))
	}
	if _, err := cliflag.TLSVersion(o.MinTLSVersion); err != nil {
		all = append(all, fmt.Errorf("--tls-min-version: %w", err))
	}
	if _, err := cliflag.TLSCurvePreferences(o.CurvePreferences); err != nil {
		all = append(all, fmt.Errorf("--tls-curve-preferences: %w", err))
	}
	return all
}

// Serving is where the server listens and how it speaks TLS.
type Serving struct {
	// BindAddress is the address to listen on; unspecified means all.
	BindAddress net.IP
	// Port is the port to listen on; 0 means any that is free.
	Port int
	// CertFile and KeyFile are the serving certificate that was asked for. Both are
	// empty if one is to be made.
	CertFile, KeyFile string
	// CertDirectory is where a certificate that is made goes: CertDirectory/apiserver.crt
	// and apiserver.key. Empty means into memory only.
	CertDirectory string

	tls genericoptions.SecureServingOptions
}

// ListensBeyondLoopback says whether other machines can reach the server.
func (s Serving) ListensBeyondLoopback() bool { return !s.BindAddress.IsLoopback() }

// Info returns what upstream's server needs to serve TLS on listener with certificate.
func (s Serving) Info(listener net.Listener, certificate Certificate) (*genericserver.SecureServingInfo, error) {
	tls := s.tls
	tls.Listener = listener
	tls.ServerCert = genericoptions.GeneratableKeyCert{}
	if certificate.CertFile != "" {
		tls.ServerCert.CertKey = genericoptions.CertKey{CertFile: certificate.CertFile, KeyFile: certificate.KeyFile}
	} else {
		content, err := dynamiccertificates.NewStaticCertKeyContent("serving-cert", certificate.CertPEM, certificate.KeyPEM)
		if err != nil {
			return nil, fmt.Errorf("reading the serving certificate: %w", err)
		}
		tls.ServerCert.GeneratedCert = content
	}
	var info *genericserver.SecureServingInfo
	if err := tls.ApplyTo(&info); err != nil {
		return nil, fmt.Errorf("preparing to serve TLS: %w", err)
	}
	return info, nil
}
