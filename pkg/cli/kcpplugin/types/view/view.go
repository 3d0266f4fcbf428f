// Package view is what is told of a workspace type: what it comes to with all it extends,
// for those who make workspaces of it. It makes that up from objects that others have
// read, and reads nothing itself.
package view

import (
	"slices"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	tenancyv1alpha1 "github.com/forkless/kcp/pkg/apis/tenancy/v1alpha1"
	"github.com/forkless/kcp/pkg/cli/output"
	"github.com/forkless/kcp/pkg/tenancy"
)

// Kind is that of the document.
const Kind = "TypeView"

// Answer is what is known about a question.
type Answer string

// The answers.
const (
	Yes     Answer = "yes"
	No      Answer = "no"
	Unknown Answer = "unknown"
)

// View is a workspace type with everything that it has from those it extends.
type View struct {
	metav1.TypeMeta `json:",inline"`

	// Type is "<path>:<name>", the name and the path of its workspace follow, and the
	// logical cluster of that.
	Type    string `json:"type"`
	Name    string `json:"name"`
	Path    string `json:"path"`
	Cluster string `json:"cluster,omitempty"`
	// Extends are the types it extends, directly or not, in the order in which they count.
	Extends []Base `json:"extends"`
	// Initializers and Terminators are what a workspace of the type waits for, in order.
	Initializers []Hook `json:"initializers"`
	Terminators  []Hook `json:"terminators"`
	// Bindings are the exports that are bound in a workspace of the type.
	Bindings []Binding `json:"bindings"`
	// Parents and Children limit what may be above and below; without any all may.
	Parents  []Limit `json:"parents"`
	Children []Limit `json:"children"`
	// DefaultChild is the type of children that are created without saying theirs.
	DefaultChild string `json:"defaultChild,omitempty"`
	// Labels are given to workspaces of the type.
	Labels map[string]string `json:"labels,omitempty"`
	// AuthenticationConfigurations are those of the type.
	AuthenticationConfigurations []string `json:"authenticationConfigurations,omitempty"`
	// VirtualWorkspaces are where initializers and terminators find their workspaces.
	VirtualWorkspaces []tenancyv1alpha1.VirtualWorkspace `json:"virtualWorkspaces"`
	// Use says who may make workspaces of the type; nil if nobody has looked.
	Use *Use `json:"use,omitempty"`
}

// Base is a type that another one extends.
type Base struct {
	Type string `json:"type"`
	// Direct says that the type names it itself.
	Direct bool `json:"direct"`
}

// Hook is an initializer or a terminator.
type Hook struct {
	// ID is how LogicalClusters spell it.
	ID string `json:"id"`
	// Type is the type it is from, empty for the server's own.
	Type string `json:"type,omitempty"`
	// Rules are what it may do; without any it acts as the creator of the workspace.
	Rules []rbacv1.PolicyRule `json:"rules,omitempty"`
}

// Binding is a default binding.
type Binding struct {
	Path   string `json:"path"`
	Export string `json:"export"`
	// From is the type that asks for it.
	From string `json:"from"`
	// Maintained says that it is looked after as long as the workspace lives.
	Maintained bool `json:"maintained"`
	// Found says whether the export is there, MayBind whether the caller may bind it. They
	// are empty if nobody has looked.
	Found   Answer `json:"found,omitempty"`
	MayBind Answer `json:"mayBind,omitempty"`
}

// Limit is a demand on the types above or below.
type Limit struct {
	// From is the type that demands it.
	From string `json:"from"`
	// None allows no type, Types these and those that extend them.
	None  bool     `json:"none,omitempty"`
	Types []string `json:"types,omitempty"`
}

// Use says who may make workspaces of a type. That takes the verb on everything that the
// type extends as well.
type Use struct {
	// You is about the caller, and Lacking the types that the caller may not use.
	You     Answer   `json:"you"`
	Lacking []string `json:"lacking,omitempty"`
	// Subjects are those whom the RBAC of the workspace of the type lets use it; Readable
	// says whether the caller may see that.
	Subjects []Subject `json:"subjects,omitempty"`
	Readable bool      `json:"readable"`
}

// Subject is somebody who may use a type.
type Subject struct {
	Kind string `json:"kind"`
	Name string `json:"name"`
	// Binding is the ClusterRoleBinding that lets them.
	Binding string `json:"binding"`
}

// Of returns what can be told from the types alone.
func Of(set *tenancy.Set) *View {
	own := set.Type
	v := &View{
		TypeMeta:     output.Meta(Kind),
		Type:         own.String(),
		Name:         own.Object.Name,
		Path:         own.Path.String(),
		Cluster:      own.Cluster.String(),
		Extends:      bases(set),
		Initializers: initializers(set),
		Terminators:  terminators(set),
		Bindings:     bindings(set),
		Parents: limits(set, func(s *tenancyv1alpha1.WorkspaceTypeSpec) *tenancyv1alpha1.WorkspaceTypeSelector {
			return s.LimitAllowedParents
		}),
		Children: limits(set, func(s *tenancyv1alpha1.WorkspaceTypeSpec) *tenancyv1alpha1.WorkspaceTypeSelector {
			return s.LimitAllowedChildren
		}),
		Labels:            own.Object.Spec.AdditionalWorkspaceLabels,
		VirtualWorkspaces: virtualWorkspaces(own.Object),
	}
	if child := own.Object.Spec.DefaultChildWorkspaceType; child != nil {
		v.DefaultChild = tenancy.TypeAnnotation(*child)
	}
	for _, ref := range own.Object.Spec.AuthenticationConfigurations {
		v.AuthenticationConfigurations = append(v.AuthenticationConfigurations, ref.Name)
	}
	return v
}

func bases(set *tenancy.Set) []Base {
	all := []Base{}
	for _, alias := range set.Aliases[:len(set.Aliases)-1] {
		all = append(all, Base{Type: alias.String(), Direct: slices.ContainsFunc(set.Bases, alias.Is)})
	}
	return all
}

// virtualWorkspaces returns the addresses that somebody uses: the status has those of
// both kinds, whatever the type makes workspaces wait for.
func virtualWorkspaces(t *tenancyv1alpha1.WorkspaceType) []tenancyv1alpha1.VirtualWorkspace {
	used := []tenancyv1alpha1.VirtualWorkspace{}
	for _, address := range t.Status.VirtualWorkspaces {
		terminating := address.Type == tenancyv1alpha1.VirtualWorkspaceTerminating
		if terminating && t.Spec.Terminator || !terminating && t.Spec.Initializer {
			used = append(used, address)
		}
	}
	return used
}

func limits(set *tenancy.Set, of func(*tenancyv1alpha1.WorkspaceTypeSpec) *tenancyv1alpha1.WorkspaceTypeSelector) []Limit {
	all := []Limit{}
	for _, alias := range set.Aliases {
		selector := of(&alias.Object.Spec)
		if selector == nil {
			continue
		}
		limit := Limit{From: alias.String(), None: selector.None}
		for _, ref := range selector.Types {
			limit.Types = append(limit.Types, tenancy.TypeAnnotation(ref))
		}
		all = append(all, limit)
	}
	return all
}
