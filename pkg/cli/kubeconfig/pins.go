package kubeconfig

import (
	"maps"
	"slices"

	"k8s.io/client-go/tools/clientcmd/api"

	"github.com/forkless/kcp/pkg/cli/ws/path"
	"github.com/forkless/kcp/pkg/logicalcluster"
)

// pinsName is the extension of the kubeconfig that holds the pins.
const pinsName = "workspace.kcp.io/pins"

// pins is the extension as it stands in the file: addresses of workspaces by name.
type pins map[string]string

// Pin is a workspace that the user has given a name.
type Pin struct {
	// Name of the pin, without "@".
	Name string
	Place
}

// Pins returns the pins of all servers, ordered by name.
func (s *Snapshot) Pins() []Pin { return pinsOf(s.config) }

func pinsOf(config *api.Config) []Pin {
	var stored pins
	if !readExtension(config.Extensions, pinsName, &stored) {
		return nil
	}
	var all []Pin
	for _, name := range slices.Sorted(maps.Keys(stored)) {
		if place := placeOf(stored[name]); place.InWorkspace() {
			all = append(all, Pin{Name: name, Place: place})
		}
	}
	return all
}

// SetPin gives the workspace p of the server base a name. A pin of that name is moved.
func SetPin(config *api.Config, name, base string, p logicalcluster.Path) {
	var stored pins
	readExtension(config.Extensions, pinsName, &stored)
	if stored == nil {
		stored = pins{}
	}
	stored[name] = path.JoinURL(base, p)
	config.Extensions = writeExtension(config.Extensions, pinsName, stored)
}

// DeletePin takes a name away, and says whether there was one.
func DeletePin(config *api.Config, name string) bool {
	var stored pins
	readExtension(config.Extensions, pinsName, &stored)
	if _, ok := stored[name]; !ok {
		return false
	}
	delete(stored, name)
	config.Extensions = writeExtension(config.Extensions, pinsName, stored)
	return true
}

// PinsOf returns the pins in config, ordered by name, for changes that depend on them.
func PinsOf(config *api.Config) []Pin { return pinsOf(config) }
