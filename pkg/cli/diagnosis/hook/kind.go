package hook

import (
	"fmt"
	"strings"

	rbacv1 "k8s.io/api/rbac/v1"

	corev1alpha1 "github.com/forkless/kcp/pkg/apis/core/v1alpha1"
	tenancyv1alpha1 "github.com/forkless/kcp/pkg/apis/tenancy/v1alpha1"
	"github.com/forkless/kcp/pkg/cli/client"
	"github.com/forkless/kcp/pkg/cli/diagnosis"
)

// Kind is one of the two ends of a workspace's life.
type Kind string

// The kinds, by what people call them.
const (
	Initializer Kind = diagnosis.Initializer
	Terminator  Kind = diagnosis.Terminator
)

// Verb returns what has to be permitted on the type to act as its hook.
func (k Kind) Verb() string {
	if k == Terminator {
		return "terminate"
	}
	return "initialize"
}

// List returns the path of the list that hooks remove themselves from, in a LogicalCluster.
func (k Kind) List() string {
	if k == Terminator {
		return "/status/terminators"
	}
	return "/status/initializers"
}

// Pending returns the identifiers of the hooks that have not finished.
func (k Kind) Pending(lc *corev1alpha1.LogicalCluster) []string {
	if k == Terminator {
		return asStrings(lc.Status.Terminators)
	}
	return asStrings(lc.Status.Initializers)
}

// PendingOn is Pending for a Workspace.
func (k Kind) PendingOn(ws *tenancyv1alpha1.Workspace) []string {
	if k == Terminator {
		return asStrings(ws.Status.Terminators)
	}
	return asStrings(ws.Status.Initializers)
}

// All returns the identifiers of the hooks that there were from the beginning.
func (k Kind) All(lc *corev1alpha1.LogicalCluster) []string {
	if k == Terminator {
		return asStrings(lc.Spec.Terminators)
	}
	return asStrings(lc.Spec.Initializers)
}

// Wanted says whether workspaces of a type wait for a hook of that kind.
func (k Kind) Wanted(t *tenancyv1alpha1.WorkspaceType) bool {
	if k == Terminator {
		return t.Spec.Terminator
	}
	return t.Spec.Initializer
}

// Rules returns what the hook of a type may do in workspaces that wait for it. Without any
// it acts as who has created them.
func (k Kind) Rules(t *tenancyv1alpha1.WorkspaceType) []rbacv1.PolicyRule {
	if k == Terminator {
		return t.Spec.TerminatorPermissions
	}
	return t.Spec.InitializerPermissions
}

// addresses are where the type says that its virtual workspace is, one for each shard.
func (k Kind) addresses(t *tenancyv1alpha1.WorkspaceType) []string {
	wanted := tenancyv1alpha1.VirtualWorkspaceInitializing
	if k == Terminator {
		wanted = tenancyv1alpha1.VirtualWorkspaceTerminating
	}
	var addresses []string
	for _, virtual := range t.Status.VirtualWorkspaces {
		if virtual.Type == wanted {
			addresses = append(addresses, virtual.URL)
		}
	}
	return addresses
}

// Virtual returns the virtual workspace of a hook.
func (k Kind) Virtual(c *client.Client, id string) *client.Hook {
	if k == Terminator {
		return c.Terminator(id)
	}
	return c.Initializer(id)
}

// permissions is the field of a type that has the rules.
func (k Kind) permissions() string { return string(k) + "Permissions" }

// Mode says how the hook of a type gets at what is in workspaces.
func (k Kind) Mode(t *tenancyv1alpha1.WorkspaceType) string {
	if rules := k.Rules(t); len(rules) > 0 {
		return fmt.Sprintf("access by rules (%d)", len(rules))
	}
	return fmt.Sprintf("owner mode (no %s)", k.permissions())
}

func asStrings[T ~string](of []T) []string {
	all := make([]string, len(of))
	for i, one := range of {
		all[i] = string(one)
	}
	return all
}

// system begins the identifiers of hooks that are the server's own.
const system = "system:"

// IsSystem says whether a hook is the server's own, which no type describes.
func IsSystem(id string) bool { return strings.HasPrefix(id, system) }

// Split takes the identifier of a hook apart: the workspace of its type, as a path or the
// name of a cluster, and the name of the type.
func Split(id string) (in, name string, ok bool) {
	i := strings.LastIndex(id, ":")
	if i <= 0 || i == len(id)-1 || IsSystem(id) {
		return "", "", false
	}
	return id[:i], id[i+1:], true
}
