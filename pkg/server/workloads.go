package server

import (
	"slices"

	"github.com/forkless/kcp/internal/admission"
	"github.com/forkless/kcp/internal/admission/policies"
	"github.com/forkless/kcp/internal/admission/workloads"
	"github.com/forkless/kcp/internal/builtin/workload"
	"github.com/forkless/kcp/pkg/server/options"
)

// workloadPlugins are the admission plugins for workload types, if there are any. Only a
// single cluster gets those that count on controllers: workspaces have none, and could not
// be deleted.
func (s *Server) workloadPlugins() ([]admission.Plugin, error) {
	if !s.options.Batteries.Has(options.WorkloadTypesBattery) {
		return nil, nil
	}
	var plugins []admission.Plugin
	for _, name := range workloads.Names(s.options.Single) {
		if slices.Contains(s.options.Workloads.PluginsOff, name) {
			continue
		}
		plugin, err := workloads.New(name, policies.Registries(s.registry))
		if err != nil {
			return nil, err
		}
		plugins = append(plugins, admission.Plugin{Name: name, Interface: plugin})
	}
	return plugins, nil
}

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
