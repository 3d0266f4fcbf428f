// Package clients runs docs/clients.md and docs/apis.md: Helm, controller-runtime and client-go
// against a workspace, and an API that workspaces share, on a server that runs as users run it;
// and the guides about what is stuck, docs/find-out-why.md and docs/newcomers-hour.md.
package clients
