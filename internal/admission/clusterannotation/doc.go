// Package clusterannotation is the admission plugin for the annotation kcp.io/cluster:
// it is that of the workspace a request is to, whatever a client sends, and nobody's
// field.
//
// Storage sees to the first by itself for what it stores. Here it is done for dry runs
// as well, which never get there, and behind field management, which would write down
// who has sent the annotation as its owner.
package clusterannotation
