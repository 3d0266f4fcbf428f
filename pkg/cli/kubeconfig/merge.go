package kubeconfig

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/clientcmd/api"
)

// serverName is the extension of entries that were made for a server.
const serverName = "workspace.kcp.io/server"

// madeFor is what the extension says.
type madeFor struct {
	// RootDirectory is the absolute path of the root directory of the server.
	RootDirectory string `json:"rootDirectory"`
}

// Merged are entries for a server that come with it and go with it: a context, its cluster
// and its user, all of one name.
type Merged struct {
	// Name of the entries.
	Name string
	// RootDirectory is the absolute path of the root directory of the server.
	RootDirectory string
	// Cluster and User are the entries.
	Cluster *api.Cluster
	User    *api.AuthInfo
}

// TakenError says that entries of a name are somebody else's.
type TakenError struct {
	// Name of the entries.
	Name string
	// RootDirectory is that of the server that they lead to; empty if it is none that they
	// were made for.
	RootDirectory string
}

func (e *TakenError) Error() string {
	if e.RootDirectory != "" {
		return fmt.Sprintf("context %q of the kubeconfig leads to the server of %s", e.Name, e.RootDirectory)
	}
	return fmt.Sprintf("the kubeconfig has a context, cluster or user %q that is not ours", e.Name)
}

// CheckMerge says, with a TakenError, that entries of a name cannot be made for the server
// of a root directory. runs says whether there is a server in a directory: what was made
// for one that is gone is in nobody's way.
func CheckMerge(config *api.Config, name, rootDirectory string, runs func(rootDirectory string) bool) error {
	for _, extensions := range entriesOf(config, name) {
		owner, ours := ownerOf(extensions)
		switch {
		case !ours:
			return &TakenError{Name: name}
		case owner != rootDirectory && runs(owner):
			return &TakenError{Name: name, RootDirectory: owner}
		}
	}
	return nil
}

// entriesOf returns the extensions of all entries of a name.
func entriesOf(config *api.Config, name string) []map[string]runtime.Object {
	var all []map[string]runtime.Object
	if context := config.Contexts[name]; context != nil {
		all = append(all, context.Extensions)
	}
	if cluster := config.Clusters[name]; cluster != nil {
		all = append(all, cluster.Extensions)
	}
	if user := config.AuthInfos[name]; user != nil {
		all = append(all, user.Extensions)
	}
	return all
}

// ownerOf returns the root directory of the server that an entry was made for.
func ownerOf(extensions map[string]runtime.Object) (rootDirectory string, ok bool) {
	var owner madeFor
	ok = readExtension(extensions, serverName, &owner)
	return owner.RootDirectory, ok
}

// Merge puts entries for a server into config. Its context becomes the current one if
// there is none.
func Merge(config *api.Config, m Merged, runs func(rootDirectory string) bool) error {
	if err := CheckMerge(config, m.Name, m.RootDirectory, runs); err != nil {
		return err
	}
	// What is left of a server that was killed, or of one in another place.
	for _, extensions := range entriesOf(config, m.Name) {
		if owner, ours := ownerOf(extensions); ours {
			Unmerge(config, func(rootDirectory string) bool { return rootDirectory == owner })
		}
	}
	mark := writeExtension(nil, serverName, madeFor{RootDirectory: m.RootDirectory})
	cluster, user := m.Cluster.DeepCopy(), m.User.DeepCopy()
	cluster.Extensions, user.Extensions, user.LocationOfOrigin = mark, mark, ""
	putCluster(config, m.Name, cluster)
	putContext(config, m.Name, &api.Context{Cluster: m.Name, AuthInfo: m.Name, Extensions: mark})
	config.AuthInfos[m.Name] = user
	if config.CurrentContext == "" {
		config.CurrentContext = m.Name
	}
	return nil
}

// Unmerge takes entries out of config that were made for servers in root directories that
// gone says yes to, and the contexts and clusters that were made from them since: nobody
// gets in with these any more. It returns the names of the contexts of servers.
func Unmerge(config *api.Config, gone func(rootDirectory string) bool) (removed []string) {
	isGone := func(extensions map[string]runtime.Object) bool {
		owner, ours := ownerOf(extensions)
		return ours && gone(owner)
	}
	users, clusters := map[string]bool{}, map[string]bool{}
	for name, user := range config.AuthInfos {
		if isGone(user.Extensions) {
			users[name] = true
			delete(config.AuthInfos, name)
		}
	}
	for name, context := range config.Contexts {
		marked := isGone(context.Extensions)
		if !marked && !users[context.AuthInfo] {
			continue
		}
		if marked && context.Cluster == name && users[name] {
			removed = append(removed, name)
		}
		clusters[context.Cluster] = true
		delete(config.Contexts, name)
	}
	for _, context := range config.Contexts {
		delete(clusters, context.Cluster)
	}
	for name, cluster := range config.Clusters {
		if clusters[name] || isGone(cluster.Extensions) {
			delete(config.Clusters, name)
		}
	}
	if config.CurrentContext != "" && config.Contexts[config.CurrentContext] == nil {
		config.CurrentContext = ""
	}
	return removed
}

// HasMerged says whether there are entries that were made for a server.
func (s *Snapshot) HasMerged() bool {
	for _, user := range s.config.AuthInfos {
		if _, ours := ownerOf(user.Extensions); ours {
			return true
		}
	}
	return false
}

// CheckMerge is CheckMerge for the kubeconfig of the snapshot.
func (s *Snapshot) CheckMerge(name, rootDirectory string, runs func(rootDirectory string) bool) error {
	return CheckMerge(s.config, name, rootDirectory, runs)
}

// Create is Edit that makes the file for new entries if there is none.
func (s *Store) Create(ctx context.Context, change func(*api.Config) error) error {
	file := s.access.GetDefaultFilename()
	if err := os.MkdirAll(filepath.Dir(file), 0o750); err != nil {
		return fmt.Errorf("making the directory of the kubeconfig: %w", err)
	}
	made, err := os.OpenFile(file, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	switch {
	case err == nil:
		err = made.Close()
	case errors.Is(err, fs.ErrExist):
		err = nil
	}
	if err != nil {
		return fmt.Errorf("making the kubeconfig: %w", err)
	}
	return s.Edit(ctx, change)
}
