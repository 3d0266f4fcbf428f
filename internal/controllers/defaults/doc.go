// Package defaults is the controller of what every namespace has: the service account
// default and the ConfigMap kube-root-ca.crt. It is what Kubernetes' controllers of these
// two do.
//
//  1. A namespace that is not terminating gets what it lacks, both in one transaction.
//     That depends on the namespace as it was seen, so nothing is ever created in a
//     namespace that has begun to go.
//  2. What is deleted comes back, and certificates that are changed are changed back. The
//     rest of both objects belongs to whoever wants it.
//  3. Namespaces that are born with their workspace have both already, and cost this
//     controller two look-ups in a watch cache.
//  4. If the certificates are others after a restart, all ConfigMaps are brought up to date
//     in transactions of many, while the server serves.
package defaults
