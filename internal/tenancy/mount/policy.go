// Package mount says where mounted workspaces may lead.
//
// The address of what is mounted is in the status of an object that a tenant writes, and
// whoever uses the workspace sends his requests, and proof of who he is, through it. So no
// address is followed because it is there. A Policy knows two sorts of good ones:
//
//  1. addresses of this server itself, below /clusters/ or /services/. They are served in
//     process: nothing leaves it, and the caller is who he always is;
//  2. addresses on hosts that whoever runs the server has named. They are trusted with
//     requests of all users.
//
// Everything else is refused, with a reason that tells what to do. The package decides from
// its arguments alone; nobody is called, and no name is looked up.
package mount

import (
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
)

// AllowedHostsFlag is the flag by which hosts are named.
const AllowedHostsFlag = "mount-proxy-allowed-hosts"

// localPrefixes are what can be mounted of this server. What the process is asked as a whole
// is not among it.
var localPrefixes = []string{"/clusters/", "/services/"}

// Address is where a mounted workspace leads.
type Address struct {
	// URL is the address, without a slash at the end.
	URL *url.URL
	// Local says that it is on this server. LocalPath is what it is there, such as
	// /clusters/root:org.
	Local     bool
	LocalPath string
}

// Policy says which addresses may be followed.
type Policy struct {
	own   []*url.URL
	hosts []host
}

// NewPolicy returns the policy of a server that is reached by the URLs in own and whose
// owner allows hosts; see ParseHost for their form.
func NewPolicy(own, hosts []string) (*Policy, error) {
	p := &Policy{}
	for _, address := range own {
		u, err := url.Parse(address)
		if err != nil {
			return nil, fmt.Errorf("the own address %q: %w", address, err)
		}
		p.own = append(p.own, u)
	}
	for _, name := range hosts {
		h, err := parseHost(name)
		if err != nil {
			return nil, err
		}
		p.hosts = append(p.hosts, h)
	}
	return p, nil
}

// Check returns what address leads to. The error says why it must not be followed, and is
// for the owner of the workspace to read.
func (p *Policy) Check(address string) (*Address, error) {
	u, err := url.Parse(address)
	switch {
	case err != nil:
		return nil, fmt.Errorf("the address is not a URL: %w", err)
	case u.Scheme != "https" && u.Scheme != "http", u.Host == "":
		return nil, fmt.Errorf("the address %q is not of the form https://host:port/path", address)
	case u.User != nil:
		// It is not repeated: what is in front of the host may be a password.
		return nil, errors.New("the address has a user in it")
	case u.RawQuery != "" || u.ForceQuery || u.Fragment != "":
		return nil, fmt.Errorf("the address %q has more than a host, a port and a path", address)
	case u.RawPath != "" || HasDots(u.Path):
		return nil, fmt.Errorf("the path of the address %q is not a plain one", address)
	}
	u.Path = strings.TrimRight(u.Path, "/")
	for _, own := range p.own {
		if path, ok := below(own, u); ok {
			return local(u, path)
		}
	}
	if !slices.ContainsFunc(p.hosts, func(h host) bool { return h.allows(u) }) {
		return nil, fmt.Errorf("the address %q is not on a host that mounted workspaces may lead to: the server was not started with it in --%s",
			u.Scheme+"://"+u.Host, AllowedHostsFlag)
	}
	return &Address{URL: u}, nil
}

func local(u *url.URL, path string) (*Address, error) {
	for _, prefix := range localPrefixes {
		if name, ok := strings.CutPrefix(path, prefix); ok && name != "" {
			return &Address{URL: u, Local: true, LocalPath: path}, nil
		}
	}
	return nil, fmt.Errorf("the address %q is on this server, but in no workspace", u)
}

// below returns what the path of u is below own. The server may be behind a proxy that puts
// it below a path, which requests do not have any more when they arrive.
func below(own, u *url.URL) (path string, ok bool) {
	if own.Scheme != u.Scheme || !strings.EqualFold(own.Hostname(), u.Hostname()) || port(own) != port(u) {
		return "", false
	}
	prefix := strings.TrimRight(own.Path, "/")
	path, ok = strings.CutPrefix(u.Path, prefix)
	return path, ok && (path == "" || path[0] == '/')
}

// HasDots says whether a path has segments that lead up, or nowhere, once somebody cleans
// it.
func HasDots(path string) bool {
	return slices.ContainsFunc(strings.FieldsFunc(path, isSeparator), func(segment string) bool {
		return segment == "." || segment == ".."
	})
}

// isSeparator takes the backslash for a slash as well: some servers do.
func isSeparator(r rune) bool { return r == '/' || r == '\\' }
