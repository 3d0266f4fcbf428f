// Package policies is what admission policies of both kinds, validating and mutating,
// have in common. It brings upstream's dispatchers, which decide and mutate, together
// with the policies of the workspace that a request is for.
//
// Upstream's policy source is one for a whole server: informers over policies, bindings
// and parameters, a goroutine that looks once a second whether something has changed,
// and all that for each of its plugins. Here nothing of that exists:
//
//  1. A Source reads from the configurations.Index, which the watch that all listeners
//     share tells of policies and bindings. A cluster without bindings has nothing in a
//     Source; its requests pay one look-up in a map.
//  2. A policy is compiled when the first request meets it. What has been compiled is
//     shared by all policies of the same name and content in all clusters, and goes with
//     the last of them.
//  3. Parameters, namespaces and the kinds of parameters are read from memory when a
//     request needs them, in the cluster of the request. Neither a definition nor a
//     parameter has to be waited for.
//  4. What upstream asks without a context (the namespace lister, the parameter lister,
//     the authorizer of CEL) is made for each request and carries the request's context,
//     and with it the cluster.
//
// Requests wait until the index knows what existed when the server started: nothing
// slips past a policy that is stored.
package policies
