// Package clients runs docs/clients.md and docs/apis.md: Helm, controller-runtime and client-go
// against a workspace, and an API that workspaces share, on a server that runs as users run it.
package clients
