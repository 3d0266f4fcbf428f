package server

import "github.com/forkless/kcp/internal/admission/objectlimit"

// limitObjects makes the storage hold workspaces to a number of objects. They are counted
// from now on if all are limited, and otherwise from when the first one is.
func (s *Server) limitObjects() {
	s.objectLimits = objectlimit.Limits{Clusters: s.logicalClusters, Default: int64(s.options.Limits.ObjectsPerCluster)}
	s.layer.LimitObjects(s.objectLimits.ForCreate)
	if s.objectLimits.Default > 0 {
		s.layer.CountObjects()
	}
	s.listeners = append(s.listeners, objectlimit.Watch(s.layer.CountObjects))
}
