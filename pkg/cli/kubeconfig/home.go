package kubeconfig

import (
	"k8s.io/client-go/tools/clientcmd/api"

	"github.com/forkless/kcp/pkg/cli/ws/path"
	"github.com/forkless/kcp/pkg/logicalcluster"
)

// homeName is the extension of our context that remembers where the home workspace of its
// user is, so that a prompt can show it without asking the server.
const homeName = "workspace.kcp.io/home"

// home is the extension as it stands in the file.
type home struct {
	// Server is the address of the home workspace.
	Server string `json:"server"`
}

// SetHome remembers the home workspace of the user of our context, after a switch to it.
func SetHome(config *api.Config, base string, p logicalcluster.Path) {
	if context := config.Contexts[currentName]; context != nil {
		context.Extensions = writeExtension(context.Extensions, homeName, home{Server: path.JoinURL(base, p)})
	}
}

// Home returns the home workspace of the user, if it has been visited from the context
// that counts or one before it on the same server.
func (s *Snapshot) Home() (logicalcluster.Path, bool) {
	context := s.config.Contexts[s.Context()]
	if context == nil {
		return logicalcluster.Path{}, false
	}
	var stored home
	if !readExtension(context.Extensions, homeName, &stored) {
		return logicalcluster.Path{}, false
	}
	place, at := placeOf(stored.Server), placeOf(serverOf(s.config, context))
	return place.Path, place.InWorkspace() && path.SameServer(place.Base, at.Base)
}
