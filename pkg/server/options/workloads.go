package options

import (
	"errors"
	"fmt"
	"net"

	"github.com/spf13/pflag"
	utilnet "k8s.io/apimachinery/pkg/util/net"
	netutils "k8s.io/utils/net"
)

// WorkloadOptions are about workload types. They matter only where these are served.
type WorkloadOptions struct {
	// ServiceClusterIPRanges are one or two ranges, of different families, from which
	// services are given addresses, in each workspace anew.
	ServiceClusterIPRanges []string
	// ServiceNodePorts is the range from which services are given ports on nodes.
	ServiceNodePorts utilnet.PortRange
	// PluginsOff are admission plugins for workload types that are off, by the names that
	// Kubernetes has for them. There is no flag for them; another program sets them.
	PluginsOff []string
}

// Kubernetes has the same defaults.
const (
	defaultClusterIPs    = "10.0.0.0/24"
	firstNodePort        = 30000
	numberOfNodePorts    = 2768
	maxBitsOfClusterIPv4 = 12
)

func newWorkloadOptions() WorkloadOptions {
	return WorkloadOptions{
		ServiceClusterIPRanges: []string{defaultClusterIPs},
		ServiceNodePorts:       utilnet.PortRange{Base: firstNodePort, Size: numberOfNodePorts},
	}
}

// AddFlags adds the flags of the group to fs.
func (o *WorkloadOptions) AddFlags(fs *pflag.FlagSet) {
	fs.StringSliceVar(&o.ServiceClusterIPRanges, "service-cluster-ip-range", o.ServiceClusterIPRanges,
		"Range of addresses for services, of each workspace; two, comma separated, for both families. "+
			"For the battery workload-types.")
	fs.Var(&o.ServiceNodePorts, "service-node-port-range",
		"Range of ports on nodes for services, of each workspace. For the battery workload-types.")
}

// Validate says what is wrong with the options.
func (o *WorkloadOptions) Validate() []error {
	var all []error
	if _, err := o.ClusterIPs(); err != nil {
		all = append(all, fmt.Errorf("--service-cluster-ip-range: %w", err))
	}
	if o.ServiceNodePorts.Size == 0 {
		all = append(all, errors.New("--service-node-port-range: no ports"))
	}
	return all
}

// ClusterIPs returns the ranges of addresses for services.
func (o *WorkloadOptions) ClusterIPs() ([]net.IPNet, error) {
	var ranges []net.IPNet
	for _, text := range o.ServiceClusterIPRanges {
		_, parsed, err := netutils.ParseCIDRSloppy(text)
		if err != nil {
			return nil, err
		}
		if ones, bits := parsed.Mask.Size(); !netutils.IsIPv6CIDR(parsed) && ones < maxBitsOfClusterIPv4 || bits-ones < 2 {
			return nil, fmt.Errorf("%s: a range of IPv4 addresses has 12 to 30 bits", text)
		}
		ranges = append(ranges, *parsed)
	}
	switch len(ranges) {
	case 0:
		return nil, errors.New("no range")
	case 1:
		return ranges, nil
	case 2:
		if netutils.IsIPv6CIDR(&ranges[0]) != netutils.IsIPv6CIDR(&ranges[1]) {
			return ranges, nil
		}
	}
	return nil, errors.New("more than one range of a family")
}
