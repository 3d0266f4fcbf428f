package mount

import (
	"fmt"
	"net"
	"net/url"
	"strings"
)

// anyHost stands for all hosts, and anySubdomain before a name for those below it.
const (
	anyHost      = "*"
	anySubdomain = "*."
	schemeSep    = "://"
)

// host is a host that somebody has allowed.
type host struct {
	// scheme is that of its addresses.
	scheme string
	// name is anyHost, or a name or an address in lower case, perhaps with anySubdomain
	// before it.
	name string
	// port is empty for all ports.
	port string
}

// ParseHost returns an error if s is not of the form [http://]host[:port]. The host is a
// name, an address, *.<domain> for everything below a domain, or * for all. Without a port
// all ports are meant. Only https is spoken to a host unless http is asked for.
func ParseHost(s string) error {
	_, err := parseHost(s)
	return err
}

func parseHost(s string) (host, error) {
	h := host{scheme: "https"}
	rest := s
	if scheme, after, ok := strings.Cut(s, schemeSep); ok {
		h.scheme, rest = scheme, after
	}
	u, err := url.Parse(h.scheme + schemeSep + strings.Replace(rest, "*", "any", 1))
	switch {
	case err != nil, h.scheme != "https" && h.scheme != "http",
		u.Host == "", u.Path != "", u.RawQuery != "", u.Fragment != "", u.User != nil,
		strings.Contains(u.Hostname(), "*"):
		return host{}, fmt.Errorf("%q is not of the form [http://]host[:port]", s)
	case strings.HasPrefix(rest, anySubdomain) || rest == anyHost || strings.HasPrefix(rest, anyHost+":"):
		u.Host = anyHost + strings.TrimPrefix(u.Host, "any")
	case strings.Contains(rest, "*"):
		return host{}, fmt.Errorf("%q has a * that is not all of the host, nor its first label", s)
	}
	h.name, h.port = strings.ToLower(u.Hostname()), u.Port()
	return h, nil
}

func (h host) allows(u *url.URL) bool {
	if u.Scheme != h.scheme || h.port != "" && h.port != port(u) {
		return false
	}
	name := strings.ToLower(u.Hostname())
	domain, wildcard := strings.CutPrefix(h.name, "*")
	switch {
	case h.name == anyHost:
		return true
	case wildcard:
		return strings.HasSuffix(name, domain) && name != domain && net.ParseIP(name) == nil
	default:
		return name == h.name
	}
}

// port returns the port of a URL, spelled out or not.
func port(u *url.URL) string {
	if p := u.Port(); p != "" {
		return p
	}
	if u.Scheme == "http" {
		return "80"
	}
	return "443"
}
