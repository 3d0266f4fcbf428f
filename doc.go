// Package kcp is a map of this repository; there is no code in it but tests about the
// repository as a whole: its layers, its dependencies and its documents.
//
// In reading order, which is also the order of the layers from the bottom up:
//
//   - pkg/logicalcluster and pkg/apis are the vocabulary: names and paths of workspaces,
//     and our API kinds. Clients import them. internal/apihash are names made of them.
//   - pkg/tenancy are the rules about workspaces and their types that the server decides
//     by, and clients that want to know beforehand.
//   - internal/schema, internal/tenancy, internal/authn/identity, internal/features,
//     internal/apiversions, internal/conversion, internal/permissionclaims,
//     internal/binding and their like are rules that can be decided without asking
//     anybody.
//   - config holds what is embedded in the server and put into a new installation.
//   - internal/storage is the seam of tenancy: one place puts the cluster of a request
//     into storage keys. Beside it are the other mechanisms: internal/builtin,
//     internal/authn, internal/authz, internal/discovery, internal/exportref,
//     internal/inflight, internal/metrics, internal/openapi, internal/quota,
//     internal/route. Above them internal/controller tells those who act on it what
//     happens in storage.
//   - internal/catalog answers which resources exist in a workspace. It and its
//     neighbors (internal/admission, internal/boundcrd, internal/claimed) are the domains:
//     they know what workspaces, bindings and shards mean.
//   - internal/bootstrap, internal/controllers, internal/homes, internal/hookcontent and
//     internal/virtual are the behavior.
//   - internal/launch takes hold of what a server needs, which internal/archive may fill.
//     internal/filelock and internal/registry tell processes of each other.
//   - pkg/server puts all of it together, as lists: filters, controllers, start-up steps.
//   - internal/inprocess runs a server inside something else, and internal/apply fills one.
//     pkg/kcptest are control planes for the tests of others, internal/servertest for ours,
//     with what these have in common.
//   - pkg/cli holds the commands, and cmd the programs that are made of them.
//   - test holds what is tested from outside, a folder for each subject, and examples, a
//     module of its own, what others write against a workspace.
//
// docs/design says how these work together and why. layers_test.go says who may import
// whom.
package kcp
