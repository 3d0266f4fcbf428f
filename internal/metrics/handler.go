package metrics

import (
	"io"
	"net/http"

	"github.com/blang/semver/v4"
	"github.com/prometheus/client_golang/prometheus"
	handlermetrics "k8s.io/apiserver/pkg/endpoints/handlers/metrics"
	requestmetrics "k8s.io/apiserver/pkg/endpoints/metrics"
	cachermetrics "k8s.io/apiserver/pkg/storage/cacher/metrics"
	etcdmetrics "k8s.io/apiserver/pkg/storage/etcd3/metrics"
	"k8s.io/component-base/metrics"
	"k8s.io/component-base/metrics/legacyregistry"
)

// Config is what is measured beside what the libraries measure.
type Config struct {
	// Own are the metrics of one server; those of the libraries are the process's.
	Own []metrics.StableCollector
	// Refresh is called before the metrics are gathered, to set those that are not
	// kept up to date all the time.
	Refresh func()
	// Reset lets DELETE set the metrics of the libraries to zero.
	Reset bool
}

// NewHandler returns what serves /metrics.
func NewHandler(config Config) http.Handler {
	requestmetrics.Register()
	handlermetrics.Register()
	cachermetrics.Register()
	etcdmetrics.Register()

	own := registryOf(config.Own)
	gather := metrics.HandlerFor(prometheus.Gatherers{legacyregistry.DefaultGatherer, own}, metrics.HandlerOpts{})
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if config.Reset && r.Method == http.MethodDelete {
			legacyregistry.Reset()
			_, _ = io.WriteString(w, "metrics reset\n")
			return
		}
		if config.Refresh != nil {
			config.Refresh()
		}
		gather.ServeHTTP(w, r)
	})
}

// registryOf returns a registry of collectors. The process remembers those that upstream
// makes for ever, and with them the server that the collectors belong to.
func registryOf(collectors []metrics.StableCollector) *prometheus.Registry {
	registry := prometheus.NewRegistry()
	for _, c := range collectors {
		// The version decides what is deprecated, which is nothing.
		if c.Create(&semver.Version{}, c) {
			registry.MustRegister(c)
		}
	}
	return registry
}
