// Package running finds the servers that run on this machine, for the commands that say
// something about them or stop them.
//
// A server is known by its root directory, which says who holds it, and by its
// identifier, under which it is in the user's registry. Only what an operating system
// vouches for counts: of a process that was killed nothing is found.
package running

import (
	"cmp"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"github.com/forkless/kcp/internal/registry"
	"github.com/forkless/kcp/internal/rootdir"
)

// Server is a server that runs.
type Server struct {
	// ID is its identifier; empty if it is not registered, as servers in tests are not.
	ID string
	// PID is its process. It is 0 for an instant after the server has begun to start.
	PID int
	// RootDirectory is the absolute path of its root directory; empty without one.
	RootDirectory string
	// URL is where it serves; empty until it does.
	URL string
	// Version is its version.
	Version string
	// Started is when it did.
	Started time.Time
	// Kubeconfig is the kubeconfig of its admins; empty if they have none.
	Kubeconfig string
}

// In returns the server that holds a root directory.
func In(directory string) (server Server, found bool, err error) {
	if directory == "" {
		// As of a variable that is not set: the working directory is not meant.
		return Server{}, false, errors.New("--root-directory is empty, so it is not known which server is meant")
	}
	absolute, err := filepath.Abs(directory)
	if err != nil {
		return Server{}, false, fmt.Errorf("--root-directory=%s: %w", directory, err)
	}
	holder, held, err := rootdir.HolderOf(absolute)
	if err != nil {
		return Server{}, false, fmt.Errorf("looking for the server of %s: %w", directory, err)
	}
	if !held {
		return Server{}, false, nil
	}
	server = Server{
		PID: holder.PID, RootDirectory: absolute, URL: holder.URL, Version: holder.Version,
		Started: holder.Started, Kubeconfig: holder.Kubeconfig,
	}
	// What the registry cannot say is missing, that is all.
	entries, _ := registry.List()
	same := func(e registry.Entry) bool { return e.PID == holder.PID && e.RootDirectory == absolute }
	if i := slices.IndexFunc(entries, same); i >= 0 {
		server.ID = entries[i].ID
	}
	return server, true, nil
}

// All returns all servers that this user has started, the oldest first.
func All() ([]Server, error) {
	entries, err := registry.List()
	if err != nil {
		return nil, err
	}
	servers := make([]Server, 0, len(entries))
	for _, entry := range entries {
		servers = append(servers, of(entry))
	}
	slices.SortStableFunc(servers, func(a, b Server) int {
		return cmp.Or(a.Started.Compare(b.Started), cmp.Compare(a.ID, b.ID))
	})
	return servers, nil
}

// Named returns the server with an identifier.
func Named(id string) (server Server, found bool, err error) {
	entry, found, err := registry.Find(id)
	if err != nil || !found {
		return Server{}, false, err
	}
	return of(entry), true, nil
}

// of returns what is known of a registered server.
func of(entry registry.Entry) Server {
	server := Server{
		ID: entry.ID, PID: entry.PID, RootDirectory: entry.RootDirectory, URL: entry.URL,
		Version: entry.Version, Started: entry.Started,
	}
	if entry.RootDirectory != "" {
		if holder, held, err := rootdir.HolderOf(entry.RootDirectory); err == nil && held && holder.PID == entry.PID {
			server.Kubeconfig = holder.Kubeconfig
		}
	}
	return server
}

// Gone says whether a server has stopped, and has let go of what it held.
func Gone(server Server) (bool, error) {
	if server.ID != "" {
		entry, found, err := registry.Find(server.ID)
		if err != nil {
			return false, err
		}
		if found && entry.PID == server.PID {
			return false, nil
		}
	}
	if server.RootDirectory == "" {
		return true, nil
	}
	holder, held, err := rootdir.HolderOf(server.RootDirectory)
	if err != nil {
		return false, err
	}
	return !held || holder.PID != server.PID && holder.PID != 0, nil
}
