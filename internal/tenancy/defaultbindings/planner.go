package defaultbindings

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	apischema "k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apiserver/pkg/authentication/user"

	"github.com/forkless/kcp/internal/binding"
	"github.com/forkless/kcp/internal/schema"
	apisv1alpha1 "github.com/forkless/kcp/pkg/apis/apis/v1alpha1"
	apisv1alpha2 "github.com/forkless/kcp/pkg/apis/apis/v1alpha2"
	"github.com/forkless/kcp/pkg/logicalcluster"
	"github.com/forkless/kcp/pkg/tenancy"
)

// APIs reads exports and what they are made of. What is not there is a NotFound Status.
// The results are shared and must not be changed.
type APIs interface {
	Export(ctx context.Context, cluster logicalcluster.Name, name string) (*apisv1alpha2.APIExport, error)
	Schema(ctx context.Context, cluster logicalcluster.Name, name string) (*apisv1alpha1.APIResourceSchema, error)
	Conversion(ctx context.Context, cluster logicalcluster.Name, name string) (*apisv1alpha1.APIConversion, error)
}

// Definitions returns what schemas are served by.
type Definitions interface {
	OfSchema(s *apisv1alpha1.APIResourceSchema, cluster logicalcluster.Name, conversion *apisv1alpha1.APIConversion) (*schema.Definition, error)
}

// Stored reads which definitions of bound schemas are stored.
type Stored interface {
	// Has says whether a cluster has a definition of that name.
	Has(ctx context.Context, cluster logicalcluster.Name, name string) (bool, error)
}

// Identities says where the objects of bound resources are stored.
type Identities interface {
	Storage(resource apischema.GroupResource, identityHash string) (identity string, ok bool)
}

// Reserved returns what has resources and names of a group in a workspace that has bound
// nothing.
type Reserved func(in logicalcluster.Name, group string) []binding.Rival

// MayBind says whether a user may bind an export of cluster.
type MayBind func(ctx context.Context, cluster logicalcluster.Name, export string, who user.Info) (bool, error)

// References finds the clusters of exports.
type References interface {
	// Cluster returns the cluster that path leads to, seen from another; an error that
	// exportref.IsNotFound knows if it leads nowhere.
	Cluster(ctx context.Context, from logicalcluster.Name, path string) (logicalcluster.Name, error)
}

// Planner plans bindings. All its fields are required. It keeps no state.
type Planner struct {
	APIs        APIs
	Definitions Definitions
	Stored      Stored
	Identities  Identities
	Reserved    Reserved
	References  References
	MayBind     MayBind
}

// Wanted is an export that is to be bound.
type Wanted struct {
	// Binding is the name of the binding.
	Binding string
	// Path and Export are what it is to refer to.
	Path, Export string
	// Type is the workspace type that wants it, for messages; empty if none does.
	Type string
}

// because says on whose account something is bound, as the end of a message.
func (w Wanted) because() string {
	if w.Type == "" {
		return ""
	}
	return ", which workspace type " + w.Type + " binds by default"
}

// Input is what Plan works from. Nothing of it is changed.
type Input struct {
	// Consumer is the workspace that binds.
	Consumer tenancy.Place
	// Wanted are the exports to bind, none twice.
	Wanted []Wanted
	// Who binds; nil stands for the server, which may.
	Who user.Info
	// Existing are the bindings that the workspace has already. They are left as they are,
	// unless Overwrite is set: then what they refer to and their answers to claims are put
	// right.
	Existing  []apisv1alpha2.APIBinding
	Overwrite bool
	// Decide has it decided what is bound: nobody else can take anything in the workspace
	// until the plan is carried out, because it is not there yet. Otherwise that is left to
	// the controller of APIBindings.
	Decide bool
	// Now is when it happens.
	Now metav1.Time
	// NewUID makes the UIDs of the bindings.
	NewUID func() types.UID
}
