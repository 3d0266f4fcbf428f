package metrics

import (
	"maps"
	"slices"
	"strings"
	"sync"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/component-base/metrics"
)

// Served is a resource that every installation serves, or, with a slash in its name, a
// subresource of one.
type Served = schema.GroupVersionResource

// The labels whose values tenants choose, and which Bound therefore bounds.
var (
	resourceLabels = []string{"group", "resource"}
	versionLabels  = []string{"group", "version", "resource"}
	requestLabels  = []string{"group", "version", "resource", "subresource"}
	nameLabels     = []string{"name"}
	policyLabels   = []string{"policy", "policy_binding"}
	hostLabels     = []string{"host"}
)

// bounded are the metrics of the libraries that have such labels.
var bounded = map[string][]string{
	// Requests.
	"apiserver_request_total":                requestLabels,
	"apiserver_request_duration_seconds":     requestLabels,
	"apiserver_request_slo_duration_seconds": requestLabels,
	"apiserver_request_sli_duration_seconds": requestLabels,
	"apiserver_request_terminations_total":   requestLabels,
	"apiserver_request_aborts_total":         requestLabels,
	"apiserver_response_sizes":               requestLabels,
	"apiserver_longrunning_requests":         requestLabels,
	"apiserver_requested_deprecated_apis":    requestLabels,
	"apiserver_selfrequest_total":            {"group", "resource", "subresource"},
	"apiserver_request_body_size_bytes":      resourceLabels,
	"apiserver_watch_events_total":           versionLabels,
	"apiserver_watch_events_sizes":           versionLabels,
	"apiserver_watch_list_duration_seconds":  versionLabels,

	// The watch cache; apiserver_cache_list_total is left as it is, see Forget.
	"apiserver_cache_list_fetched_objects_total":    resourceLabels,
	"apiserver_cache_list_returned_objects_total":   resourceLabels,
	"apiserver_init_events_total":                   resourceLabels,
	"apiserver_terminated_watchers_total":           resourceLabels,
	"apiserver_storage_consistency_checks_total":    resourceLabels,
	"apiserver_watch_shards_total":                  resourceLabels,
	"apiserver_watch_filtered_events_total":         resourceLabels,
	"apiserver_watch_cache_events_received_total":   resourceLabels,
	"apiserver_watch_cache_events_dispatched_total": resourceLabels,
	"apiserver_watch_cache_resource_version":        resourceLabels,
	"apiserver_watch_cache_initializations_total":   resourceLabels,
	"apiserver_watch_cache_read_wait_seconds":       resourceLabels,
	"apiserver_watch_cache_consistent_read_total":   resourceLabels,
	"watch_cache_capacity":                          resourceLabels,
	"watch_cache_capacity_increase_total":           resourceLabels,
	"watch_cache_capacity_decrease_total":           resourceLabels,

	// The store.
	"etcd_request_duration_seconds":                     resourceLabels,
	"etcd_requests_total":                               resourceLabels,
	"etcd_request_errors_total":                         resourceLabels,
	"etcd_bookmark_counts":                              resourceLabels,
	"etcd_bookmark_total":                               resourceLabels,
	"apiserver_resource_objects":                        resourceLabels,
	"apiserver_resource_size_estimate_bytes":            resourceLabels,
	"apiserver_storage_events_received_total":           resourceLabels,
	"apiserver_storage_list_total":                      resourceLabels,
	"apiserver_storage_list_fetched_objects_total":      resourceLabels,
	"apiserver_storage_list_evaluated_objects_total":    resourceLabels,
	"apiserver_storage_list_returned_objects_total":     resourceLabels,
	"apiserver_storage_decode_errors_total":             resourceLabels,
	"apiserver_storage_transformation_operations_total": {"resource"},

	// Admission: webhooks and policies have names that tenants choose. The plugins do
	// not; they are measured by apiserver_admission_controller_*.
	"apiserver_admission_webhook_admission_duration_seconds":       nameLabels,
	"apiserver_admission_webhook_rejection_count":                  nameLabels,
	"apiserver_admission_webhook_fail_open_count":                  nameLabels,
	"apiserver_admission_webhook_request_total":                    nameLabels,
	"apiserver_admission_match_condition_evaluation_errors_total":  nameLabels,
	"apiserver_admission_match_condition_exclusions_total":         nameLabels,
	"apiserver_admission_match_condition_evaluation_seconds":       nameLabels,
	"apiserver_validating_admission_policy_check_total":            policyLabels,
	"apiserver_validating_admission_policy_check_duration_seconds": policyLabels,
	"apiserver_mutating_admission_policy_check_total":              policyLabels,
	"apiserver_mutating_admission_policy_check_duration_seconds":   policyLabels,

	// Definitions.
	"apiserver_crd_conversion_webhook_duration_seconds": {"crd_name", "from_version", "to_version"},

	// Clients, of which webhooks have one for each host.
	"rest_client_request_duration_seconds":        hostLabels,
	"rest_client_dns_resolution_duration_seconds": hostLabels,
	"rest_client_request_size_bytes":              hostLabels,
	"rest_client_response_size_bytes":             hostLabels,
	"rest_client_rate_limiter_duration_seconds":   hostLabels,
	"rest_client_requests_total":                  hostLabels,
	"rest_client_request_retries_total":           hostLabels,

	// Issuers of tokens, which workspaces may name.
	"apiserver_authentication_jwt_authenticator_latency_seconds":                   {"jwt_issuer_hash"},
	"apiserver_authentication_jwt_authenticator_jwks_fetch_last_timestamp_seconds": {"jwt_issuer_hash"},
}

// paths are what requests that are about no resource have for a subresource.
var paths = []string{"/healthz", "/livez", "/readyz", "/version", "/metrics", "/api", "/apis", "/openapi/v2", "/openapi/v3"}

var bound sync.Once

// Bound makes the metrics of the process tell the given resources apart, and no others.
// It has to be called before the first of them is measured; later calls do nothing.
func Bound(served []Served) {
	bound.Do(func() { metrics.SetLabelAllowList(allowList(served)) })
}

// allowList returns the values that each label of each bounded metric may have, in the
// form that upstream takes from a flag: "metric,label" to "value,value".
func allowList(served []Served) map[string]string {
	values := valuesOf(served)
	list := map[string]string{}
	for metric, labels := range bounded {
		for _, label := range labels {
			list[metric+","+label] = values[label]
		}
	}
	return list
}

// valuesOf returns the values of each label. Those of labels that are not here are all
// chosen by tenants; they may be empty only.
func valuesOf(served []Served) map[string]string {
	groups, versions, resources := map[string]bool{"": true}, map[string]bool{"": true}, map[string]bool{"": true}
	subresources := map[string]bool{"": true}
	for _, path := range paths {
		subresources[path] = true
	}
	for _, r := range served {
		resource, subresource, _ := strings.Cut(r.Resource, "/")
		groups[r.Group], versions[r.Version], resources[resource], subresources[subresource] = true, true, true, true
	}
	join := func(set map[string]bool) string { return strings.Join(slices.Sorted(maps.Keys(set)), ",") }
	return map[string]string{
		"group":       join(groups),
		"version":     join(versions),
		"resource":    join(resources),
		"subresource": join(subresources),
	}
}
