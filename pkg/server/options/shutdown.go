package options

import (
	"fmt"
	"time"

	"github.com/spf13/pflag"
)

// ShutdownOptions are about starting and stopping behind a load balancer.
type ShutdownOptions struct {
	// LivezGracePeriod is how long a server that is not ready yet counts as alive.
	LivezGracePeriod time.Duration
	// Delay is how long a server that is told to stop goes on serving, so that load
	// balancers notice.
	Delay time.Duration
	// SendRetryAfter answers requests during the delay with 429.
	SendRetryAfter bool
	// WatchGracePeriod is how long watches are given to end by themselves.
	WatchGracePeriod time.Duration
	// Idle is for how long no request may have been served until the server stops by
	// itself; 0 if it never does.
	Idle time.Duration
}

// AddFlags adds the flags of the group to fs.
func (o *ShutdownOptions) AddFlags(fs *pflag.FlagSet) {
	fs.DurationVar(&o.LivezGracePeriod, "livez-grace-period", o.LivezGracePeriod,
		"How long after its start the server counts as alive although it is not ready.")
	fs.DurationVar(&o.Delay, "shutdown-delay-duration", o.Delay,
		"How long to go on serving when told to stop, while /readyz fails.")
	fs.BoolVar(&o.SendRetryAfter, "shutdown-send-retry-after", o.SendRetryAfter,
		"Answer new requests with 429 and Retry-After while stopping.")
	fs.DurationVar(&o.WatchGracePeriod, "shutdown-watch-termination-grace-period", o.WatchGracePeriod,
		"How long watches are given to end when the server stops.")
	fs.DurationVar(&o.Idle, "idle-stop", o.Idle,
		"Stop when no request has been served for so long. Watches count until they end, health checks and metrics never. 0 goes on.")
}

// Validate says what is wrong with the options.
func (o *ShutdownOptions) Validate() []error {
	var all []error
	for _, d := range []struct {
		flag  string
		value time.Duration
	}{
		{"livez-grace-period", o.LivezGracePeriod},
		{"shutdown-delay-duration", o.Delay},
		{"shutdown-watch-termination-grace-period", o.WatchGracePeriod},
		{"idle-stop", o.Idle},
	} {
		if d.value < 0 {
			all = append(all, fmt.Errorf("--%s=%s is negative", d.flag, d.value))
		}
	}
	return all
}
