package launch

import (
	"fmt"
	"net/url"
	"os"
	"time"

	"github.com/forkless/kcp/internal/servingcert"
	"github.com/forkless/kcp/pkg/server/options"
)

// certificate returns the certificate that was asked for or else one made for the
// URLs of the server.
func certificate(completed *options.Completed, urls options.URLs) (options.Certificate, error) {
	serving := completed.Serving
	if serving.CertFile != "" {
		return given(serving.CertFile, serving.KeyFile)
	}

	names := []string{hostOf(urls.Base), hostOf(urls.External), hostOf(urls.VirtualWorkspace)}
	hosts := servingcert.HostsOf(serving.BindAddress, names...)
	if serving.CertDirectory == "" {
		pair, err := servingcert.New(hosts, time.Now())
		return options.Certificate{CertPEM: pair.Certificate, KeyPEM: pair.Key}, err
	}
	pair, err := servingcert.Keep(serving.CertDirectory, hosts, servingcert.Required(serving.BindAddress, names...), time.Now())
	if err != nil {
		return options.Certificate{}, err
	}
	certFile, keyFile := servingcert.Files(serving.CertDirectory)
	return options.Certificate{CertFile: certFile, KeyFile: keyFile, CertPEM: pair.Certificate, KeyPEM: pair.Key}, nil
}

// given reads the certificate in files that somebody else takes care of.
func given(certFile, keyFile string) (options.Certificate, error) {
	certPEM, err := os.ReadFile(certFile)
	if err != nil {
		return options.Certificate{}, fmt.Errorf("--tls-cert-file: %w", err)
	}
	keyPEM, err := os.ReadFile(keyFile)
	if err != nil {
		return options.Certificate{}, fmt.Errorf("--tls-private-key-file: %w", err)
	}
	return options.Certificate{CertFile: certFile, KeyFile: keyFile, CertPEM: certPEM, KeyPEM: keyPEM}, nil
}

// hostOf returns the host in the URL of a server, empty if there is none.
func hostOf(server string) string {
	u, err := url.Parse(server)
	if err != nil {
		return ""
	}
	return u.Hostname()
}
