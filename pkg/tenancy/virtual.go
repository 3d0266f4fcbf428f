package tenancy

import "strings"

// VirtualWorkspace returns the name of the virtual workspace that is for hooks of a kind.
func (k HookKind) VirtualWorkspace() string { return string(k) + "workspaces" }

// URL returns where the controller of the hook finds the logical clusters that wait for
// it, on the shard with the given address of virtual workspaces.
func (h Hook) URL(shard string) string {
	return strings.TrimRight(shard, "/") + "/services/" + h.Kind.VirtualWorkspace() + "/" + h.ID
}

// Hook returns the hook of the type of a kind. The type may use it or not.
func (t Type) Hook(kind HookKind) Hook {
	return Hook{Kind: kind, ID: t.identifier(), Type: t.Object.Name, Cluster: t.Cluster}
}
