package kubeconfig

import (
	"maps"
	"slices"
)

// Contexts returns the names of the contexts in the kubeconfig.
func (s *Snapshot) Contexts() []string { return slices.Sorted(maps.Keys(s.config.Contexts)) }

// Clusters returns the names of the clusters in the kubeconfig.
func (s *Snapshot) Clusters() []string { return slices.Sorted(maps.Keys(s.config.Clusters)) }

// Users returns the names of the users in the kubeconfig.
func (s *Snapshot) Users() []string { return slices.Sorted(maps.Keys(s.config.AuthInfos)) }
