// Package webhooks is the admission plugins that ask the webhooks which workspaces have
// configured, before (mutating) and after (validating) everything else is decided.
//
// What is asked, in which order, and what follows from the answers is upstream's. Its
// plugins know nothing of clusters, so each cluster with configurations has plugins of
// its own, for as long as it has configurations: see package configurations. Such a
// plugin shares nothing with those of other clusters, no connection either, so that a
// webhook that does not answer keeps only those waiting who configured it, or have bound
// what it is about.
//
// The webhooks of a provider are asked about the objects of all who have bound its APIs,
// of whom there may be many. A plugin can be used in one cluster at a time, since it looks
// at namespaces and permissions, but there need not be one for each: a cluster has as many
// as there are others in which its webhooks are being asked at the same moment, and one
// after a while.
//
// Webhooks read in the annotation kcp.io/cluster where an object is, also of one that is
// not stored yet. The annotation is there for them only; in a cluster that is the only one
// to its clients objects come without it, but for those that are to be replaced or deleted.
package webhooks
