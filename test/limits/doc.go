// Package limits shows that workspaces hold no more than they may: by the resource quotas
// of their namespaces and their own, and by the limit on all their objects; with many
// clients at a time, after a restart, and without one workspace counting for another.
package limits
