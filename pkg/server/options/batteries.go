package options

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/pflag"
	"k8s.io/apimachinery/pkg/util/sets"
)

// Battery is something a server sets up beyond what it must.
type Battery string

// The batteries.
const (
	// AdminBattery makes admin users and a kubeconfig with their tokens.
	AdminBattery Battery = "admin"
	// UserBattery makes an ordinary user beside the admins.
	UserBattery Battery = "user"
	// WorkspaceTypesBattery makes the types organization and team.
	WorkspaceTypesBattery Battery = "workspace-types"
	// MetricsViewerBattery makes a service account that may read metrics.
	MetricsViewerBattery Battery = "metrics-viewer"
	// WorkloadTypesBattery serves pods, services, deployments and the like, with nothing
	// behind them.
	WorkloadTypesBattery Battery = "workload-types"
)

var (
	allBatteries     = []Battery{AdminBattery, MetricsViewerBattery, UserBattery, WorkloadTypesBattery, WorkspaceTypesBattery}
	defaultBatteries = []Battery{AdminBattery, WorkspaceTypesBattery}
)

// BatteryOptions say which batteries are included.
type BatteryOptions struct {
	// Included are either the batteries to include, or changes to the default set: "+x"
	// adds, "-x" removes.
	Included []string
}

func newBatteryOptions() BatteryOptions {
	return BatteryOptions{Included: names(defaultBatteries)}
}

// AddFlags adds the flags of the group to fs.
func (o *BatteryOptions) AddFlags(fs *pflag.FlagSet) {
	fs.StringSliceVar(&o.Included, "batteries-included", o.Included, fmt.Sprintf(
		"What to set up beyond the necessary, of: %s. A list of names replaces the default, "+
			"a list of +name and -name changes it.", strings.Join(names(allBatteries), ", ")))
}

// Validate says what is wrong with the options.
func (o *BatteryOptions) Validate() []error {
	if _, err := o.parse(); err != nil {
		return []error{err}
	}
	return nil
}

// parse returns the set that was asked for.
func (o *BatteryOptions) parse() (sets.Set[Battery], error) {
	changes := 0
	for _, s := range o.Included {
		if isChange(s) {
			changes++
		}
	}
	batteries := sets.New[Battery]()
	switch {
	case changes == 0:
	case changes == len(o.Included):
		batteries.Insert(defaultBatteries...)
	default:
		return nil, fmt.Errorf("--batteries-included=%s mixes names with +names or -names; use one style",
			strings.Join(o.Included, ","))
	}

	for _, s := range o.Included {
		if s == "" {
			continue
		}
		battery := Battery(s)
		if isChange(s) {
			battery = Battery(s[1:])
		}
		switch {
		case !sets.New(allBatteries...).Has(battery):
			return nil, fmt.Errorf("--batteries-included: unknown battery %q, known are %s",
				battery, strings.Join(names(allBatteries), ", "))
		case s[0] == '-':
			batteries.Delete(battery)
		default:
			batteries.Insert(battery)
		}
	}
	if batteries.Has(UserBattery) && !batteries.Has(AdminBattery) {
		return nil, errors.New("--batteries-included: battery user needs battery admin")
	}
	return batteries, nil
}

func isChange(s string) bool { return strings.HasPrefix(s, "+") || strings.HasPrefix(s, "-") }

func names(batteries []Battery) []string {
	all := make([]string, 0, len(batteries))
	for _, b := range batteries {
		all = append(all, string(b))
	}
	return all
}
