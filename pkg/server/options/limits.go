package options

import (
	"fmt"
	"time"

	"github.com/spf13/pflag"
)

// LimitOptions bound what one workspace may take.
type LimitOptions struct {
	// ObjectsPerCluster bounds the objects of a logical cluster; 0 means unbounded.
	ObjectsPerCluster int
	// ObjectCountInterval has no effect: objects are counted as they are written.
	ObjectCountInterval time.Duration
	// ConversionTimeout bounds CEL expressions that convert objects between versions.
	ConversionTimeout time.Duration
}

func newLimitOptions() LimitOptions {
	return LimitOptions{ObjectCountInterval: time.Minute, ConversionTimeout: time.Second}
}

// AddFlags adds the flags of the group to fs.
func (o *LimitOptions) AddFlags(fs *pflag.FlagSet) {
	fs.IntVar(&o.ObjectsPerCluster, "logical-cluster-total-object-limit", o.ObjectsPerCluster,
		"How many objects a workspace may hold, events aside; more are not created. 0 means no limit. "+
			"The annotation core.kcp.io/max-total-objects of a LogicalCluster overrides it; it does not hold for root.")
	fs.DurationVar(&o.ObjectCountInterval, "logical-cluster-object-count-scan-interval", o.ObjectCountInterval,
		"How often the objects of workspaces are counted: with every write, whatever this says.")
	fs.DurationVar(&o.ConversionTimeout, "conversion-cel-transformation-timeout", o.ConversionTimeout,
		"How long the CEL expressions of one conversion may take.")
}

// Validate says what is wrong with the options.
func (o *LimitOptions) Validate() []error {
	var all []error
	if o.ObjectsPerCluster < 0 {
		all = append(all, fmt.Errorf("--logical-cluster-total-object-limit=%d is negative", o.ObjectsPerCluster))
	}
	if o.ObjectCountInterval <= 0 {
		all = append(all, fmt.Errorf("--logical-cluster-object-count-scan-interval=%s is not positive", o.ObjectCountInterval))
	}
	if o.ConversionTimeout <= 0 {
		all = append(all, fmt.Errorf("--conversion-cel-transformation-timeout=%s is not positive", o.ConversionTimeout))
	}
	return all
}
