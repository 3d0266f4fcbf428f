// Package workload holds the registries of the Kubernetes types that programs run by:
// pods and what makes them, services and what is behind them, nodes, volumes, budgets,
// autoscalers, classes. They are upstream's, with its strategies, validation and
// subresources. Nothing acts on the objects: no pod is ever run, no endpoint found.
//
// The contract:
//
//  1. Registries know nothing of logical clusters; the cluster is in the context of the
//     request. Where upstream calls on without that context, for the allocations of
//     services and for evictions, it is called with a helper that knows the cluster, and
//     which is borrowed for the request: see pool.
//  2. What services have allocated is what services say, and what requests under way are
//     about to say: see allocations. Nothing is kept for a cluster.
//  3. Nothing connects to a node or a pod: there are no subresources log, exec, attach,
//     portforward and proxy. Addresses of nodes and pods are what tenants write, and the
//     server goes nowhere that they name.
//  4. New only assembles: it starts nothing and reads nothing.
package workload
