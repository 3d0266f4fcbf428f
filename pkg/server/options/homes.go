package options

import (
	"fmt"
	"time"

	"github.com/spf13/pflag"

	"github.com/forkless/kcp/internal/tenancy/home"
	"github.com/forkless/kcp/pkg/logicalcluster"
)

// Layouts of home workspaces.
const (
	// RootlessHomes are outside of the tree below root, at user:<name>.
	RootlessHomes = "rootless"
	// BucketedHomes are in the tree below root, spread over buckets.
	BucketedHomes = "buckets"
)

// rootlessRetry is what clients wait for a rootless home that is not ready at once.
const rootlessRetry = time.Second

// HomeOptions are about the workspaces that people get for themselves.
type HomeOptions struct {
	// Enabled lets people have home workspaces.
	Enabled bool
	// CreatorGroups are the groups whose members may have one.
	CreatorGroups []string
	// Layout is RootlessHomes or BucketedHomes. The fields below are about the latter.
	Layout string

	// RootPrefix is the path of the workspace that all homes are below, a child of root.
	RootPrefix string
	// BucketLevels is how many buckets there are above each home, BucketSize how many letters
	// their names have. Together they say how many users share a bucket.
	BucketLevels, BucketSize int
	// AllowUnbalancedBuckets accepts levels and sizes that make too many buckets, or crowded
	// or empty ones.
	AllowUnbalancedBuckets bool
	// CreationDelaySeconds is what clients are told to wait for a home to be made.
	CreationDelaySeconds int
}

func newHomeOptions() HomeOptions {
	return HomeOptions{
		Enabled:              true,
		CreatorGroups:        []string{"system:authenticated"},
		Layout:               RootlessHomes,
		RootPrefix:           "root:users",
		BucketLevels:         2,
		BucketSize:           2,
		CreationDelaySeconds: 2,
	}
}

// AddFlags adds the flags of the group to fs.
func (o *HomeOptions) AddFlags(fs *pflag.FlagSet) {
	fs.BoolVar(&o.Enabled, "enable-home-workspaces", o.Enabled,
		"Give each user a workspace, created when it is first asked for.")
	fs.StringSliceVar(&o.CreatorGroups, "home-workspaces-home-creator-groups", o.CreatorGroups,
		"Groups whose members may have a home workspace.")
	fs.StringVar(&o.Layout, "home-workspaces-layout", o.Layout, fmt.Sprintf(
		"Where new home workspaces are: %q at user:<name>, or %q below --home-workspaces-root-prefix.", RootlessHomes, BucketedHomes))
	fs.StringVar(&o.RootPrefix, "home-workspaces-root-prefix", o.RootPrefix,
		"Path of the workspace that home workspaces in buckets are below. It is a child of root.")
	fs.IntVar(&o.BucketLevels, "home-workspaces-bucket-levels", o.BucketLevels,
		"How many buckets there are above a home workspace, 1 to 5.")
	fs.IntVar(&o.BucketSize, "home-workspaces-bucket-size", o.BucketSize,
		"How many letters the name of a bucket has, 1 to 4.")
	fs.BoolVar(&o.AllowUnbalancedBuckets, "home-workspaces-allow-unbalanced-buckets", o.AllowUnbalancedBuckets,
		"Accept levels and sizes of buckets that spread users badly: more than 1000 buckets in one, or more than 1000 or fewer than 5 users to a bucket.")
	fs.IntVar(&o.CreationDelaySeconds, "home-workspaces-creation-delay-seconds", o.CreationDelaySeconds,
		"How long clients are told to wait for a home workspace in a bucket that is being created, at least 1.")
}

// Validate says what is wrong with the options.
func (o *HomeOptions) Validate() []error {
	var all []error
	switch o.Layout {
	case RootlessHomes:
		return nil
	case BucketedHomes:
	default:
		return []error{fmt.Errorf("--home-workspaces-layout=%s: it is %s or %s", o.Layout, RootlessHomes, BucketedHomes)}
	}
	if o.CreationDelaySeconds < 1 {
		all = append(all, fmt.Errorf("--home-workspaces-creation-delay-seconds=%d: it is at least 1", o.CreationDelaySeconds))
	}
	root, err := logicalcluster.ParsePath(o.RootPrefix)
	if err != nil {
		return append(all, fmt.Errorf("--home-workspaces-root-prefix: %w", err))
	}
	buckets := home.Buckets{Root: root, Levels: o.BucketLevels, Size: o.BucketSize}
	if errs := buckets.Validate(); len(errs) > 0 {
		for _, err := range errs {
			all = append(all, fmt.Errorf("--home-workspaces-root-prefix=%s --home-workspaces-bucket-levels=%d --home-workspaces-bucket-size=%d: %w",
				o.RootPrefix, o.BucketLevels, o.BucketSize, err))
		}
		return all
	}
	if err := buckets.CheckBalance(); err != nil && !o.AllowUnbalancedBuckets {
		all = append(all, fmt.Errorf("--home-workspaces-bucket-levels=%d --home-workspaces-bucket-size=%d: %w; "+
			"--home-workspaces-allow-unbalanced-buckets accepts that", o.BucketLevels, o.BucketSize, err))
	}
	return all
}

// Creators returns the groups whose members may have a home made.
func (o *HomeOptions) Creators() []string {
	if !o.Enabled {
		return nil
	}
	return o.CreatorGroups
}

// Buckets returns where homes are in buckets; nil if they are not. The options are valid.
func (o *HomeOptions) Buckets() *home.Buckets {
	if !o.Enabled || o.Layout != BucketedHomes {
		return nil
	}
	root, err := logicalcluster.ParsePath(o.RootPrefix)
	if err != nil {
		return nil
	}
	return &home.Buckets{Root: root, Levels: o.BucketLevels, Size: o.BucketSize}
}

// RetryAfter returns what clients are told to wait for a home.
func (o *HomeOptions) RetryAfter() time.Duration {
	if o.Layout == BucketedHomes {
		return time.Duration(o.CreationDelaySeconds) * time.Second
	}
	return rootlessRetry
}
