package objectlimit

import (
	"context"

	"k8s.io/component-base/metrics"

	"github.com/forkless/kcp/pkg/logicalcluster"
)

// closeToLimit is the share of its limit, in percent, from which on a cluster is measured.
const closeToLimit = 90

// Counts lists how many objects clusters hold.
type Counts interface {
	// EachObjectCount calls visit for every cluster that is counted.
	EachObjectCount(visit func(cluster logicalcluster.Name, count int64))
}

var (
	countDesc = metrics.NewDesc("kcp_logicalcluster_object_count",
		"Number of objects of a logical cluster that is close to its limit.",
		[]string{"shard", "cluster"}, nil, metrics.ALPHA, "")
	limitDesc = metrics.NewDesc("kcp_logicalcluster_object_limit",
		"Number of objects that a logical cluster close to its limit may hold.",
		[]string{"shard", "cluster"}, nil, metrics.ALPHA, "")
)

// collector measures the clusters that are close to their limit. It keeps no series: they
// are worked out for each request for metrics.
type collector struct {
	metrics.BaseStableCollector
	limits Limits
	counts Counts
	shard  string
}

// NewCollector returns what measures the clusters of a shard that are close to their
// limit.
func NewCollector(limits Limits, counts Counts, shard string) metrics.StableCollector {
	return &collector{limits: limits, counts: counts, shard: shard}
}

// DescribeWithStability says which metrics there are.
func (c *collector) DescribeWithStability(ch chan<- *metrics.Desc) {
	ch <- countDesc
	ch <- limitDesc
}

// CollectWithStability measures.
func (c *collector) CollectWithStability(ch chan<- metrics.Metric) {
	c.counts.EachObjectCount(func(cluster logicalcluster.Name, count int64) {
		limit, limited, err := c.limits.Of(context.Background(), cluster)
		if err != nil || !limited || count*100 < limit*closeToLimit {
			return
		}
		ch <- metrics.NewLazyConstMetric(countDesc, metrics.GaugeValue, float64(count), c.shard, cluster.String())
		ch <- metrics.NewLazyConstMetric(limitDesc, metrics.GaugeValue, float64(limit), c.shard, cluster.String())
	})
}
