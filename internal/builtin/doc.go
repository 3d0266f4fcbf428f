// Package builtin is the list of the Kubernetes APIs that every logical cluster
// serves without anybody having defined them: config maps, secrets, namespaces,
// RBAC, leases, events, admission configuration, certificate signing requests,
// custom resource definitions, and the authentication and authorization reviews.
//
// New assembles their upstream registries over a storage the caller provides and
// hands them back as API groups that a generic API server installs. The package
// adds nothing to what upstream's strategies and validation do, with one exception:
// upstream resolves the parameter kind of an admission policy without knowing whose
// request it is, see params.go.
//
// The contract:
//
//  1. Only v1 is served of every group, and no resource besides those listed.
//     TestServedResources holds the list, with verbs. Workload types are served if the
//     configuration says so; they are the business of package workload.
//  2. The registries know nothing of logical clusters. The cluster travels in the
//     request's context down to the storage, which must refuse a context without one.
//  3. New only assembles: it starts nothing and reads nothing.
//
// Registries are taken from upstream's storage packages, not from its
// RESTStorageProviders, which link clients, informers and the control plane's
// bootstrap code.
package builtin
