package server

import (
	"github.com/forkless/kcp/internal/builtin/workload"
	"github.com/forkless/kcp/pkg/server/options"
)

// workloads says how workload types are served; nil if they are not.
func (s *Server) workloads() *workload.Services {
	if !s.options.Batteries.Has(options.WorkloadTypesBattery) {
		return nil
	}
	ranges, err := s.options.Workloads.ClusterIPs()
	if err != nil {
		// They have been checked with the other options.
		panic(err)
	}
	return &workload.Services{ClusterIPs: ranges, NodePorts: s.options.Workloads.ServiceNodePorts}
}
