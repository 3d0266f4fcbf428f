// Package route finds out which logical cluster a request is for.
//
// A URL /clusters/<path or id>/<rest> is split without looking at anything but the
// URL (Split). A path of one segment is the name of a cluster and is taken as it is:
// authorization decides whether there is one. A longer path is walked along Workspace
// objects (Resolver), from its first segment, a cluster name, or from where a tree of its
// own begins: the home of a user, or what Trees knows. The filters put the
// cluster into the context and take the prefix off the URL, so that everything behind
// them sees a plain Kubernetes request:
//
//	WithVirtualWorkspaces  what is below /services/, with the virtual workspace in the context
//	WithCluster            400, 404, 503 for what cannot be resolved; 501 for /metrics
//	WithoutInactive        403 for clusters that were taken offline
//	WithWildcardGuard      405 for anything but list and watch over all clusters
//
// Existence must not leak: unknown single names go on and fail in authorization
// exactly as forbidden ones do, and so does every URL of a virtual workspace.
package route
