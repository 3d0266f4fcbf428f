// Package metrics decides what /metrics says, and keeps it from growing with what
// tenants do.
//
// The metrics of the libraries have labels with names that tenants choose: groups,
// resources and versions of their definitions, names of their webhooks and policies,
// hosts of their webhooks. Every new name would make several hundred series, which stay
// in memory until the process ends. So:
//
//  1. Bound, called before anything is measured, tells upstream's metrics the names that
//     count: those of the built-in APIs and of our own. All others are measured
//     together, as "unexpected".
//  2. apiserver_cache_list_total alone keeps its labels for custom resources, because
//     tests rely on it. Its series go with the store of their resource: Forget, and Prune for late ones.
//  3. Nothing here has a label for a workspace. What is said of workspaces is counts of
//     them, worked out when somebody asks (Counts).
package metrics
