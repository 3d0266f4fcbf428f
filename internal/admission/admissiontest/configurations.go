package admissiontest

import "github.com/forkless/kcp/internal/admission/configurations"

// NoConfigurations returns an Index that has been told that there are no configurations,
// where nothing is bound.
func NoConfigurations() *configurations.Index { return NoConfigurationsWith(nil) }

// NoConfigurationsWith is NoConfigurations where something may be bound.
func NoConfigurationsWith(bound configurations.Bound) *configurations.Index {
	index := configurations.NewIndex(bound)
	listener := index.Listener()
	for _, resource := range configurations.Resources() {
		listener.Began(resource)
		listener.Synced(resource)
	}
	return index
}
