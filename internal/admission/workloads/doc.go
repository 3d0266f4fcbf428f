// Package workloads holds upstream's admission plugins for workload types: those that set
// defaults from classes and limits, and check them.
//
// Upstream's plugins read from informers and know nothing of clusters. An instance of a
// plugin is made for each request that concerns it, over informers that read the cluster
// of the request through the registries that serve it: classes and limits are few, and
// instances are small. So there is nothing to be kept for a cluster, and requests for
// other resources cost a look-up in a map.
package workloads
