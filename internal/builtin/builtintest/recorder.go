package builtintest

import (
	apidiscoveryv2 "k8s.io/api/apidiscovery/v2"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/endpoints/discovery/aggregated"
)

// Recorder keeps what a server announces to discovery, for tests that need no more of
// discovery. The methods of the interface that a server does not call panic.
type Recorder struct {
	aggregated.ResourceManager
	// Resources are those of each group version.
	Resources map[string][]apidiscoveryv2.APIResourceDiscovery
}

// AddGroupVersion records value.
func (r *Recorder) AddGroupVersion(group string, value apidiscoveryv2.APIVersionDiscovery) {
	if r.Resources == nil {
		r.Resources = map[string][]apidiscoveryv2.APIResourceDiscovery{}
	}
	r.Resources[schema.GroupVersion{Group: group, Version: value.Version}.String()] = value.Resources
}
