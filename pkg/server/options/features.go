package options

import (
	"fmt"
	"strings"

	"github.com/spf13/pflag"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	cliflag "k8s.io/component-base/cli/flag"

	"github.com/forkless/kcp/internal/features"
)

// FeatureOptions turn feature gates on and off.
type FeatureOptions struct {
	// Gates are the gates to set. They hold for the whole process.
	Gates map[string]bool
}

func (o *FeatureOptions) addFlags(fs *pflag.FlagSet) {
	fs.Var(cliflag.NewMapStringBool(&o.Gates), "feature-gates",
		"Features to turn on or off, as name=true or name=false, comma separated. "+
			"The gates of Kubernetes are accepted too. Gates and defaults:\n"+strings.Join(shownGates(), "\n"))
}

// shownGates are lines of help.
func shownGates() []string {
	known := utilfeature.DefaultMutableFeatureGate.GetAll()
	var lines []string
	for _, gate := range features.Shown() {
		lines = append(lines, fmt.Sprintf("%s=%t", gate, known[gate].Default))
	}
	return lines
}

// Validate says what is wrong with the options.
func (o *FeatureOptions) Validate() []error {
	if err := features.Validate(o.Gates); err != nil {
		return []error{err}
	}
	return nil
}
