package admissiontest

import "github.com/forkless/kcp/internal/admission/configurations"

// NoConfigurations returns an Index that has been told that there are no configurations.
func NoConfigurations() *configurations.Index {
	index := configurations.NewIndex(nil)
	listener := index.Listener()
	for _, resource := range configurations.Resources() {
		listener.Began(resource)
		listener.Synced(resource)
	}
	return index
}
