// Package configurations knows which logical clusters have webhook configurations and
// admission policies, and looks after what is made for those that have: instances of
// upstream's admission plugins, which know nothing of clusters.
//
// An Index is told of every change in the six resources of configurations, by one watch
// per resource for all clusters, and keeps what it is told, by cluster. Upstream's
// plugins read from it, through the informers of package informers; package policies
// does without them.
//
//  1. A cluster without configurations costs nothing but a look-up in a map.
//  2. A plugin for a cluster is made when it is first needed, once however many
//     requests need it at the same time, and dropped with the last configuration it was
//     made for: its context ends, and whoever still uses it finds no configurations.
//  3. Nothing is answered before the Index has been told of all that exists: a request
//     never slips past a configuration because the server has just been started.
//  4. What plugins read is never ahead of what they are told, nor behind.
package configurations
