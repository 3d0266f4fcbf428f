package kubeconfig

import (
	"slices"

	"k8s.io/client-go/tools/clientcmd/api"

	"github.com/forkless/kcp/pkg/cli/ws/path"
)

const (
	// historyName is the extension of our context that holds the history.
	historyName = "workspace.kcp.io/history"
	// maxHistory is how many workspaces are remembered.
	maxHistory = 20
)

// history is the extension as it stands in the file.
type history struct {
	// Serial grows with each change: when other programs swap contexts, the history
	// moves along with one, and the newer of two is the one that counts.
	Serial int64 `json:"serial"`
	// Visited are the addresses of the workspaces that have been left, newest first.
	Visited []string `json:"visited"`
}

// historyOf returns the history in config, which is empty if there is none. What cannot
// be read is as good as none: it is only a convenience.
func historyOf(config *api.Config) history {
	var newest history
	for _, name := range []string{currentName, previousName} {
		context := config.Contexts[name]
		if context == nil {
			continue
		}
		var h history
		if !readExtension(context.Extensions, historyName, &h) || h.Serial <= newest.Serial {
			continue
		}
		newest = h
		if name == previousName {
			// Others have let the two change places, which left the previous one.
			newest.Visited = append([]string{serverOf(config, context)}, newest.Visited...)
		}
	}
	return newest
}

// visit returns the history after going from one address to another. Where one is, is
// no history.
func (h history) visit(from, to string) history {
	next := history{Serial: h.Serial + 1}
	visited := h.Visited
	if placeOf(from).InWorkspace() {
		visited = append([]string{from}, visited...)
	}
	for _, server := range visited {
		if !isSamePlace(server, to) && !slices.ContainsFunc(next.Visited, func(s string) bool { return isSamePlace(s, server) }) {
			next.Visited = append(next.Visited, server)
		}
	}
	next.Visited = next.Visited[:min(len(next.Visited), maxHistory)]
	return next
}

func isSamePlace(a, b string) bool {
	one, other := placeOf(a), placeOf(b)
	return one.Path == other.Path && path.SameServer(one.Base, other.Base)
}

// remember puts h into our current context, and nowhere else.
func remember(config *api.Config, h history) {
	if context := config.Contexts[previousName]; context != nil {
		delete(context.Extensions, historyName)
	}
	context := config.Contexts[currentName]
	if len(h.Visited) == 0 {
		delete(context.Extensions, historyName)
		return
	}
	context.Extensions = writeExtension(context.Extensions, historyName, h)
}

// History returns the workspaces that the user has left, the latest first.
func (s *Snapshot) History() []Place {
	var places []Place
	for _, server := range historyOf(s.config).Visited {
		if place := placeOf(server); place.InWorkspace() {
			places = append(places, place)
		}
	}
	return places
}
