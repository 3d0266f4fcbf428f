package kubeconfig

import (
	"maps"
	"os"
	"slices"
)

// Contexts returns the names of the contexts in the kubeconfig.
func (s *Snapshot) Contexts() []string { return slices.Sorted(maps.Keys(s.config.Contexts)) }

// Clusters returns the names of the clusters in the kubeconfig.
func (s *Snapshot) Clusters() []string { return slices.Sorted(maps.Keys(s.config.Clusters)) }

// Users returns the names of the users in the kubeconfig.
func (s *Snapshot) Users() []string { return slices.Sorted(maps.Keys(s.config.AuthInfos)) }

// Files returns the files that the kubeconfig is read from, whether or not they are there.
func (s *Snapshot) Files() []string { return s.access.GetLoadingPrecedence() }

// Locks returns the lock files that are there now. One that stays was left behind by a
// program that has crashed.
func (s *Snapshot) Locks() []string {
	var locks []string
	for _, file := range s.Files() {
		if _, err := os.Lstat(file + lockSuffix); err == nil {
			locks = append(locks, file+lockSuffix)
		}
	}
	return locks
}

// HasPrevious says whether there is a context that "-" could lead to.
func (s *Snapshot) HasPrevious() bool { return s.config.Contexts[previousName] != nil }

// User returns the name of the user that the context names, whatever flags say.
func (s *Snapshot) User() string {
	if context := s.config.Contexts[s.Context()]; context != nil {
		return context.AuthInfo
	}
	return ""
}
