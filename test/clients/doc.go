// Package clients runs docs/clients.md: Helm, controller-runtime and client-go against a
// workspace of a server that runs as users run it.
package clients
