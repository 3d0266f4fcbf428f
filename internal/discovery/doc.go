// Package discovery tells clients which APIs a logical cluster serves: /api, /apis and
// what lies directly below them, in the old form, one document for each group version,
// and in the aggregated form, all in one answer.
//
// What a cluster serves is the built-in groups, which a Builtins records while the
// server installs them, and the definitions of the cluster. A document is built on
// first request and kept by content: clusters with the same definitions share it, and
// nothing at all is kept for a cluster. Requests that carry no cluster, or the
// wildcard, see the built-in groups only.
//
// The package does not decide who may see the documents, nor does it serve objects.
//
// The contract on order and collisions:
//
//  1. The core group comes first, then the built-in groups in the order they were
//     installed (or by priority, if one was set), then the others by name.
//  2. The versions of a group are in Kubernetes' order, v1 before v1beta1; the first
//     is the preferred one.
//  3. The resources of a version are in the order of their names.
//  4. In the core group a definition hides a built-in resource of its name; in any
//     other group the built-in resource hides the definition.
//  5. A definition that is being deleted offers no verb that makes or changes objects.
package discovery
