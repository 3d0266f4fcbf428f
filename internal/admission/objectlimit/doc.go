// Package objectlimit holds logical clusters to a number of objects.
//
// The number is that of the annotation core.kcp.io/max-total-objects of the
// LogicalCluster, or else the one of the server, which root and the clusters of the
// system are not held to. Counting, and taking a slot for what is created, is the work of
// the storage layer, which does it with the write itself: that is what makes the limit
// exact. This package says who is limited (Limits), refuses early what would be refused
// there (Plugin: also dry runs, and before a quota is charged), makes the layer count as
// soon as anybody is limited (Watch), and says who is close to the limit (Collector).
//
// Limited are creates by clients, in clusters that are Ready. Never refused are events,
// which are not counted either, the LogicalCluster and the binding of the creator, and
// what the server writes itself.
package objectlimit
