package options

import (
	"fmt"
	"net"
	"strconv"
	"strings"
)

// Prepared is everything a server is made from: what was asked for, and what had to be
// taken hold of before anything may be written.
type Prepared struct {
	*Completed
	// Listener is bound and belongs to the server from now on.
	Listener net.Listener
	// Certificate is what the server shows on it.
	Certificate Certificate
	// URLs are where the server is reached.
	URLs URLs
}

// Certificate is a serving certificate, in files or, without a root directory, in
// memory only.
type Certificate struct {
	// CertFile and KeyFile are PEM files; both are empty if there are none.
	CertFile, KeyFile string
	// CertPEM is the certificate with those of its issuers behind it: the content for
	// certificate-authority-data of kubeconfigs. KeyPEM is its key.
	CertPEM, KeyPEM []byte
}

// URLs are where a server is reached. None ends in a slash.
type URLs struct {
	// Base is where other servers reach it, and the admin.
	Base string
	// External is where clients reach it.
	External string
	// VirtualWorkspace is where its virtual workspaces are reached.
	VirtualWorkspace string
}

// loopback is the host by which a server is known that listens on all addresses: it is
// right on the same machine, whatever network that is in today. Who wants to be reached
// from elsewhere names the URL.
const loopback = "127.0.0.1"

// ListenAddress is the address to listen on.
func (c *Completed) ListenAddress() string {
	return net.JoinHostPort(c.Serving.BindAddress.String(), strconv.Itoa(c.Serving.Port))
}

// Address is the host and port by which the server is known if it listens on port.
func (c *Completed) Address(port int) string {
	host := loopback
	if !c.Serving.BindAddress.IsUnspecified() {
		host = c.Serving.BindAddress.String()
	}
	return net.JoinHostPort(host, strconv.Itoa(port))
}

// URLsAt returns the URLs of a server that listens on port.
func (c *Completed) URLsAt(port int) URLs {
	base := firstSet(c.Shard.baseURL, fmt.Sprintf("https://%s", c.Address(port)))
	return URLs{
		Base:             trimSlash(base),
		External:         trimSlash(firstSet(c.Shard.externalURL, base)),
		VirtualWorkspace: trimSlash(firstSet(c.Shard.virtualWorkspaceURL, base)),
	}
}

func firstSet(value, otherwise string) string {
	if value != "" {
		return value
	}
	return otherwise
}

func trimSlash(url string) string { return strings.TrimRight(url, "/") }
