package options

import (
	"github.com/spf13/pflag"
	genericoptions "k8s.io/apiserver/pkg/server/options"
)

// ObservabilityOptions let people look inside a running server.
type ObservabilityOptions struct {
	// Profiling serves /debug/pprof to the privileged.
	Profiling bool
	// ContentionProfiling records where goroutines wait for each other.
	ContentionProfiling bool
	// ProfilerAddress serves profiles to everybody who reaches it.
	ProfilerAddress string
	// TracingConfigFile holds a TracingConfiguration.
	TracingConfigFile string
}

// AddFlags adds the flags of the group to fs.
func (o *ObservabilityOptions) AddFlags(fs *pflag.FlagSet) {
	fs.BoolVar(&o.Profiling, "profiling", o.Profiling, "Serve profiles at /debug/pprof/ to the privileged.")
	fs.BoolVar(&o.ContentionProfiling, "contention-profiling", o.ContentionProfiling,
		"Record where goroutines wait for each other, if --profiling is on.")
	fs.StringVar(&o.ProfilerAddress, "profiler-address", o.ProfilerAddress,
		"Address, as in localhost:6060, to serve profiles at without authentication.")
	fs.StringVar(&o.TracingConfigFile, "tracing-config-file", o.TracingConfigFile,
		"File with a TracingConfiguration.")
}

// Validate says what is wrong with the options.
func (o *ObservabilityOptions) Validate() []error {
	tracing := &genericoptions.TracingOptions{ConfigFile: o.TracingConfigFile}
	return tracing.Validate()
}
