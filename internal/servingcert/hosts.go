package servingcert

import (
	"net"
	"os"
	"slices"
	"strings"
	"unicode"
)

// Hosts are the names and addresses a certificate is for.
type Hosts struct {
	Names     []string
	Addresses []net.IP
}

// internalNames are what programs in a Kubernetes cluster call their API server.
var internalNames = []string{"kubernetes", "kubernetes.default", "kubernetes.default.svc", "kubernetes.default.svc.cluster.local"}

// HostsOf returns the hosts of a server that listens on bind and is also known by the
// further hosts, which may be names or addresses. A server that listens on all
// addresses is known by those of the machine, too.
func HostsOf(bind net.IP, further ...string) Hosts {
	h := Hosts{}
	h.add("localhost", "127.0.0.1", "::1")
	h.add(internalNames...)
	h.add(further...)
	if !bind.IsUnspecified() {
		h.addAddress(bind)
		return h
	}
	// Certificates hold ASCII only, and not every machine is called something that is.
	if name, err := os.Hostname(); err == nil && isASCII(name) {
		h.add(strings.ToLower(name))
	}
	// Which addresses a machine has changes with the network it is in. They are
	// convenient to have, so not being told them is no error.
	addresses, _ := net.InterfaceAddrs()
	for _, address := range addresses {
		if ipNet, ok := address.(*net.IPNet); ok && !ipNet.IP.IsLinkLocalUnicast() {
			h.addAddress(ipNet.IP)
		}
	}
	return h
}

// Required returns the hosts a certificate must cover to be kept: those of a server
// that somebody has named, but not the addresses a machine has today.
func Required(bind net.IP, further ...string) Hosts {
	h := Hosts{}
	h.add("localhost", "127.0.0.1", "::1")
	h.add(further...)
	if !bind.IsUnspecified() {
		h.addAddress(bind)
	}
	return h
}

func (h *Hosts) add(hosts ...string) {
	for _, host := range hosts {
		if ip := net.ParseIP(host); ip != nil {
			h.addAddress(ip)
		} else if host != "" && !slices.Contains(h.Names, host) {
			h.Names = append(h.Names, host)
		}
	}
}

func (h *Hosts) addAddress(ip net.IP) {
	if !slices.ContainsFunc(h.Addresses, ip.Equal) {
		h.Addresses = append(h.Addresses, ip)
	}
}

// all returns the hosts as strings.
func (h Hosts) all() []string {
	all := slices.Clone(h.Names)
	for _, ip := range h.Addresses {
		all = append(all, ip.String())
	}
	return all
}

func isASCII(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool { return r > unicode.MaxASCII })
}
