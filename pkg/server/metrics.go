package server

import (
	"context"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/component-base/metrics"
	"k8s.io/component-base/metrics/prometheus/slis"

	"github.com/forkless/kcp/internal/admission/objectlimit"
	"github.com/forkless/kcp/internal/builtin"
	kcpmetrics "github.com/forkless/kcp/internal/metrics"
	"github.com/forkless/kcp/internal/storage"
	corev1alpha1 "github.com/forkless/kcp/pkg/apis/core/v1alpha1"
	"github.com/forkless/kcp/pkg/logicalcluster"
)

// boundMetrics names the resources that metrics tell apart: the built-in ones and our own.
func boundMetrics(types *builtin.Types) error {
	served := types.Names()
	own, err := ownDefinitions()
	if err != nil {
		return err
	}
	for _, crd := range own {
		for _, version := range crd.Spec.Versions {
			resource := kcpmetrics.Served{Group: crd.Spec.Group, Version: version.Name, Resource: crd.Spec.Names.Plural}
			served = append(served, resource)
			resource.Resource += "/status"
			served = append(served, resource)
		}
	}
	kcpmetrics.Bound(served)
	return nil
}

// installMetrics serves /metrics, and the metrics of health checks.
func (s *Server) installMetrics() {
	mux := s.generic.Handler.NonGoRestfulMux
	mux.Handle("/metrics", kcpmetrics.NewHandler(kcpmetrics.Config{
		Own: []metrics.StableCollector{
			kcpmetrics.Counts(s.options.Shard.Name, phases(), s.countLogicalClusters, s.countWorkspaces),
			objectlimit.NewCollector(s.objectLimits, s.layer, s.options.Shard.Name),
		},
		Refresh: s.refreshMetrics,
		Reset:   s.options.Observability.Profiling,
	}))
	if s.options.Observability.Profiling {
		slis.SLIMetricsWithReset{}.Install(mux)
	} else {
		slis.SLIMetrics{}.Install(mux)
	}
}

// refreshMetrics brings up to date what is not kept so all the time.
func (s *Server) refreshMetrics() {
	s.inFlight.Measure()
	open := sets.New[schema.GroupResource]()
	for _, resource := range s.layer.Opened() {
		open.Insert(resource.GroupResource)
	}
	kcpmetrics.Prune(open.Has)
}

func phases() []string {
	var names []string
	for _, phase := range corev1alpha1.Phases() {
		names = append(names, string(phase))
	}
	return names
}

// phaseOf is what something counts as: what no controller has seen yet is being scheduled.
func phaseOf(phase corev1alpha1.Phase) string {
	if phase == "" {
		phase = corev1alpha1.PhaseScheduling
	}
	return string(phase)
}

// countLogicalClusters counts by phase, from the watch cache. One that cannot be read is
// told by /readyz; here there is nothing to count then.
func (s *Server) countLogicalClusters() map[string]int {
	counts := map[string]int{}
	clusters, err := s.logicalClusters.List(context.Background())
	if err != nil {
		return counts
	}
	for i := range clusters {
		counts[phaseOf(clusters[i].Status.Phase)]++
	}
	return counts
}

// countWorkspaces is countLogicalClusters for workspaces.
func (s *Server) countWorkspaces() map[string]int {
	counts := map[string]int{}
	workspaces, err := s.workspaces.List(context.Background(), logicalcluster.Wildcard)
	if err != nil {
		return counts
	}
	for i := range workspaces {
		counts[phaseOf(workspaces[i].Status.Phase)]++
	}
	return counts
}

// measured is a layer whose closed resources leave nothing behind in the metrics.
type measured struct{ *storage.Layer }

// CloseResource closes the store of a resource. Another of the same name, of other
// objects, may be left; they are measured together.
func (m measured) CloseResource(resource storage.Resource) {
	m.Layer.CloseResource(resource)
	for _, open := range m.Opened() {
		if open.GroupResource == resource.GroupResource {
			return
		}
	}
	kcpmetrics.Forget(resource.GroupResource)
}
