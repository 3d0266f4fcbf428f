// Package informers is client-go's informers and client, as upstream's admission plugins
// want them, for one cluster and without what informers are made of: no request, no
// watch, no goroutine, and no copy of the objects.
//
// There are informers for the configurations of webhooks; policies are read without any.
// Configurations come from a configurations.Index, namespaces from the watch cache. Both
// are converted to their v1 types when they are read. Factory and Client have what the
// plugins ask for. What else a Client is asked is an error that names it; what else a
// Factory is asked is a mistake in the server, and a panic.
package informers
