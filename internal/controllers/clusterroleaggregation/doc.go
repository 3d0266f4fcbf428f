// Package clusterroleaggregation is the controller that gives ClusterRoles with an
// aggregation rule the rules of the ClusterRoles that it selects, as in Kubernetes.
//
//  1. A role gathers from its own workspace only. Those of system:admin, though in force
//     everywhere, gather there and are gathered from there.
//  2. What a role gathers is in the order of its selectors, and of the names of the
//     roles they select; each rule once. Gathered roles may gather themselves: the
//     controller looks again after each change, until nothing does.
//  3. A workspace without such a role costs nothing: the controller knows those that have
//     one, and looks at no other.
package clusterroleaggregation
