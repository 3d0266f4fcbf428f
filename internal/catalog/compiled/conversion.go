package compiled

import (
	"fmt"
	"net/http"
	"sync"

	"k8s.io/apiextensions-apiserver/pkg/apiserver/conversion"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	apischema "k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/util/webhook"
	"k8s.io/client-go/rest"
	"k8s.io/component-base/metrics"
)

// NewConverters returns the factory of converters for all clusters. Conversion webhooks
// are servers of tenants: what they answer is bounded, and what is measured of them does
// not grow with their number.
//
// Upstream's factory keeps the clients it used last, a fixed number, and gives each 30
// seconds for an answer. A client belongs to a URL and a bundle of certificates, not to a
// cluster, and holds nothing of one.
func NewConverters() (*conversion.CRConverterFactory, error) {
	boundSeries()
	factory, err := conversion.NewCRConverterFactory(webhook.NewDefaultServiceResolver(), boundAnswers)
	if err != nil {
		return nil, fmt.Errorf("making the factory of converters: %w", err)
	}
	return factory, nil
}

// boundSeries takes from upstream's metric of conversions the labels that tenants choose
// the values of. Each value would be a series that stays for good.
var boundSeries = sync.OnceFunc(func() {
	const metric = "apiserver_crd_conversion_webhook_duration_seconds"
	metrics.SetLabelAllowList(map[string]string{
		metric + ",crd_name":     "",
		metric + ",from_version": "",
		metric + ",to_version":   "",
	})
})

// boundAnswers makes clients of webhooks read no more than is reasonable.
func boundAnswers(resolver webhook.AuthenticationInfoResolver) webhook.AuthenticationInfoResolver {
	bounded := func(config *rest.Config, err error) (*rest.Config, error) {
		if err != nil {
			return nil, err
		}
		config.Wrap(func(next http.RoundTripper) http.RoundTripper { return newBoundedTripper(next) })
		return config, nil
	}
	return &webhook.AuthenticationInfoResolverDelegator{
		ClientConfigForFunc: func(hostPort string) (*rest.Config, error) {
			return bounded(resolver.ClientConfigFor(hostPort))
		},
		ClientConfigForServiceFunc: func(name, namespace string, port int) (*rest.Config, error) {
			return bounded(resolver.ClientConfigForService(name, namespace, port))
		},
	}
}

// ask is how views convert objects by webhook: as a list, so that it takes one request.
func (a *API) ask(objects []*unstructured.Unstructured, to apischema.GroupVersion) ([]*unstructured.Unstructured, error) {
	if len(objects) == 1 {
		converted, err := a.unsafe.ConvertToVersion(objects[0], to)
		if err != nil {
			return nil, err
		}
		result, ok := converted.(*unstructured.Unstructured)
		if !ok {
			return nil, fmt.Errorf("conversion returned %T", converted)
		}
		return []*unstructured.Unstructured{result}, nil
	}
	list := &unstructured.UnstructuredList{Items: make([]unstructured.Unstructured, len(objects))}
	for i, object := range objects {
		list.Items[i] = *object
	}
	// Errors name the kind of the list. Its version is not looked at, but for being one
	// that the definition has.
	list.SetGroupVersionKind(objects[0].GroupVersionKind())
	converted, err := a.unsafe.ConvertToVersion(list, to)
	if err != nil {
		return nil, err
	}
	result, ok := converted.(*unstructured.UnstructuredList)
	if !ok {
		return nil, fmt.Errorf("conversion of a list returned %T", converted)
	}
	for i := range result.Items {
		// The list may have been shorter than what was asked for; who called looks.
		if i < len(objects) {
			objects[i] = &result.Items[i]
		}
	}
	return objects[:min(len(objects), len(result.Items))], nil
}
