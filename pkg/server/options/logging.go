package options

import (
	"errors"

	"github.com/spf13/pflag"
	"k8s.io/apimachinery/pkg/util/validation/field"
	logsapi "k8s.io/component-base/logs/api/v1"

	"github.com/forkless/kcp/internal/features"

	// Registers the format json.
	_ "k8s.io/component-base/logs/json/register"
)

// defaultVerbosity is the default of -v. Up to it the log is quiet; see Logging.
const defaultVerbosity = 2

// LoggingOptions are about the log.
type LoggingOptions struct {
	// LoggingConfiguration is that of every Kubernetes component.
	*logsapi.LoggingConfiguration
}

func newLoggingOptions() LoggingOptions {
	configuration := logsapi.NewLoggingConfiguration()
	configuration.Verbosity = defaultVerbosity
	return LoggingOptions{configuration}
}

// AddFlags adds the flags of the group to fs.
func (o *LoggingOptions) AddFlags(fs *pflag.FlagSet) {
	logsapi.AddFlags(o.LoggingConfiguration, fs)
	fs.Lookup("v").Usage = "How much to log. Up to 2, what libraries say below the level of a warning is left out."
}

// Validate says what is wrong with the options.
func (o *LoggingOptions) Validate() []error {
	if errs := logsapi.Validate(o.LoggingConfiguration, features.Gates(), nil); len(errs) > 0 {
		return []error{errors.New(describe(errs))}
	}
	return nil
}

// describe turns an error about a field of a configuration file into one about a flag.
func describe(errs field.ErrorList) string {
	flags := map[string]string{"format": "--logging-format", "vmodule": "--vmodule", "verbosity": "-v"}
	first := errs[0]
	if flag, ok := flags[first.Field]; ok {
		return flag + ": " + first.ErrorBody()
	}
	return "logging: " + first.Error()
}

// quiet says that what libraries say below the level of a warning is to be left out.
func (o *LoggingOptions) quiet() bool {
	return o.Verbosity <= defaultVerbosity && len(o.VModule) == 0 && o.Format == logsapi.DefaultLogFormat
}

// Logging is what is logged and how.
type Logging struct {
	// Quiet says that only warnings, errors and what the server says itself are to be
	// logged. Upstream has no such setting, so Configuration is not to be applied then.
	Quiet bool
	// Classic says that somebody asked for a log, so that people at a terminal are to
	// see it.
	Classic bool
	// Configuration is to be applied with logsapi.ValidateAndApply, once in a process,
	// unless Quiet.
	Configuration *logsapi.LoggingConfiguration
}
