package metrics

import (
	"errors"
	"sync"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
	"k8s.io/apimachinery/pkg/runtime/schema"
	cachermetrics "k8s.io/apiserver/pkg/storage/cacher/metrics"
	"k8s.io/component-base/metrics"
	"k8s.io/component-base/metrics/legacyregistry"
)

// The metric that keeps the names of custom resources, described as upstream does.
const (
	cacheLists     = "apiserver_cache_list_total"
	cacheListsHelp = "[ALPHA] Number of LIST requests served from watch cache"
)

// listedFromCache is upstream's metric of that name. It is not exported; a registry says
// what it has instead when it is asked to register the same again.
var listedFromCache = sync.OnceValue(func() *metrics.CounterVec {
	cachermetrics.Register()
	twin := prometheus.NewCounterVec(prometheus.CounterOpts{Name: cacheLists, Help: cacheListsHelp},
		[]string{"group", "resource", "index"})
	registered, ok := errors.AsType[prometheus.AlreadyRegisteredError](legacyregistry.Registerer().Register(twin))
	if !ok {
		return nil
	}
	existing, _ := registered.ExistingCollector.(*metrics.CounterVec)
	return existing
})

// Forget drops the series about a resource whose store has been closed. A list that was
// under way then may make one anew, which Prune finds.
func Forget(resource schema.GroupResource) {
	if vec := listedFromCache(); vec != nil {
		vec.DeletePartialMatch(prometheus.Labels{"group": resource.Group, "resource": resource.Resource})
	}
}

// Prune drops the series about resources of which open says that their store is not open.
func Prune(open func(schema.GroupResource) bool) {
	vec := listedFromCache()
	if vec == nil {
		return
	}
	for _, resource := range measured(vec) {
		if !open(resource) {
			Forget(resource)
		}
	}
}

// measured returns the resources that have series.
func measured(vec *metrics.CounterVec) []schema.GroupResource {
	series := make(chan prometheus.Metric)
	go func() {
		defer close(series)
		vec.Collect(series)
	}()
	var resources []schema.GroupResource
	for one := range series {
		var content dto.Metric
		if err := one.Write(&content); err != nil {
			continue
		}
		var resource schema.GroupResource
		for _, label := range content.GetLabel() {
			switch label.GetName() {
			case "group":
				resource.Group = label.GetValue()
			case "resource":
				resource.Resource = label.GetValue()
			}
		}
		resources = append(resources, resource)
	}
	return resources
}
