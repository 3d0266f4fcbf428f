package tenancy

import (
	"fmt"
	"slices"
	"strings"

	corev1alpha1 "github.com/forkless/kcp/pkg/apis/core/v1alpha1"
	"github.com/forkless/kcp/pkg/logicalcluster"
)

// HookKind is one of the two ends of a workspace's life.
type HookKind string

// The kinds of hooks, as status.virtualWorkspaces of a WorkspaceType spells them.
const (
	Initializing HookKind = "initializing"
	Terminating  HookKind = "terminating"
)

// systemHookPrefix begins the identifiers of hooks that are the server's own.
const systemHookPrefix = "system:"

// Hook is an initializer or a terminator: what a workspace type lets somebody do to a
// logical cluster before it is ready, or before it may go.
type Hook struct {
	Kind HookKind
	// ID is how LogicalClusters and URLs name it: "<cluster of the type>:<its name>", or
	// "system:<name>" for the server's own.
	ID string
	// Type is the name of the WorkspaceType, and Cluster where it is. Both are empty for
	// hooks of the server.
	Type    string
	Cluster logicalcluster.Name
}

// ParseHook takes an identifier apart.
func ParseHook(kind HookKind, id string) (Hook, error) {
	hook := Hook{Kind: kind, ID: id}
	if name, ok := strings.CutPrefix(id, systemHookPrefix); ok && name != "" {
		return hook, nil
	}
	at := strings.LastIndex(id, separator)
	if at < 0 || at == len(id)-1 {
		return Hook{}, fmt.Errorf("%q is not of the form <cluster>:<workspace type>", id)
	}
	cluster, err := logicalcluster.ParseName(id[:at])
	if err != nil {
		return Hook{}, fmt.Errorf("%q does not begin with the name of a logical cluster: %w", id, err)
	}
	hook.Cluster, hook.Type = cluster, id[at+1:]
	return hook, nil
}

// System says whether the hook is the server's own, which no workspace type describes.
func (h Hook) System() bool { return h.Type == "" }

// Label returns the label of the LogicalClusters in whose status the hook is.
func (h Hook) Label() (key, value string) {
	if h.Kind == Terminating {
		return corev1alpha1.TerminatorLabel(corev1alpha1.Terminator(h.ID))
	}
	return corev1alpha1.InitializerLabel(corev1alpha1.Initializer(h.ID))
}

// PendingIn says whether lc still has the hook in its status.
func (h Hook) PendingIn(lc *corev1alpha1.LogicalCluster) bool {
	if h.Kind == Terminating {
		return slices.Contains(lc.Status.Terminators, corev1alpha1.Terminator(h.ID))
	}
	return slices.Contains(lc.Status.Initializers, corev1alpha1.Initializer(h.ID))
}

// ActiveIn says whether it is the hook's turn in lc: its controller sees the logical
// cluster, and may reach what is in it, as long as this is so.
func (h Hook) ActiveIn(lc *corev1alpha1.LogicalCluster) bool {
	if !h.PendingIn(lc) {
		return false
	}
	if h.Kind == Terminating {
		return !lc.DeletionTimestamp.IsZero()
	}
	return lc.Status.Phase == corev1alpha1.PhaseInitializing
}
