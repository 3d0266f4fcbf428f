package metrics

import (
	"k8s.io/component-base/metrics"
)

// Count says how many things of a kind there are in each phase.
type Count func() map[string]int

// counts is a collector of two metrics that are worked out when they are asked for.
type counts struct {
	metrics.BaseStableCollector
	shard  string
	phases []string
	counts map[*metrics.Desc]Count
}

// Counts returns what measures how many logical clusters and workspaces there are on a
// shard, by their phase. Both are called for each request for metrics. There is a series for
// each of phases, also where nothing is in it, so that one can be told from a shard that
// does not answer, and rates have a beginning; and none for anything else.
func Counts(shard string, phases []string, logicalClusters, workspaces Count) metrics.StableCollector {
	describe := func(name, help string) *metrics.Desc {
		return metrics.NewDesc(name, help, []string{"shard", "phase"}, nil, metrics.ALPHA, "")
	}
	return &counts{shard: shard, phases: phases, counts: map[*metrics.Desc]Count{
		describe("kcp_logicalcluster_count", "Number of logical clusters by phase."): logicalClusters,
		describe("kcp_workspace_count", "Number of workspaces by phase."):            workspaces,
	}}
}

// DescribeWithStability says which metrics there are.
func (c *counts) DescribeWithStability(ch chan<- *metrics.Desc) {
	for desc := range c.counts {
		ch <- desc
	}
}

// CollectWithStability counts.
func (c *counts) CollectWithStability(ch chan<- metrics.Metric) {
	for desc, count := range c.counts {
		byPhase := count()
		for _, phase := range c.phases {
			ch <- metrics.NewLazyConstMetric(desc, metrics.GaugeValue, float64(byPhase[phase]), c.shard, phase)
		}
	}
}
