package birth

import (
	"fmt"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/forkless/kcp/config/rbac"
	"github.com/forkless/kcp/internal/binding"
	"github.com/forkless/kcp/internal/storage"
	"github.com/forkless/kcp/internal/storage/cached"
	"github.com/forkless/kcp/internal/tenancy/owners"
	"github.com/forkless/kcp/pkg/apis/conditions"
	corev1alpha1 "github.com/forkless/kcp/pkg/apis/core/v1alpha1"
	tenancyv1alpha1 "github.com/forkless/kcp/pkg/apis/tenancy/v1alpha1"
	"github.com/forkless/kcp/pkg/logicalcluster"
	"github.com/forkless/kcp/pkg/tenancy"
)

// Input is what a workspace is born from. Nothing of it is changed.
type Input struct {
	// Workspace is the Workspace as stored, or as about to be stored, with its UID. It is
	// nil for a logical cluster that is the top of a tree of its own.
	Workspace *tenancyv1alpha1.Workspace

	// Parent is where the Workspace is.
	Parent tenancy.Place

	// Rootless says what a Workspace would, where there is none.
	Rootless Rootless

	// Type is what spec.type of the Workspace points at, or the type of a rootless
	// logical cluster.
	Type *tenancy.Set

	// Cluster is the name of the new logical cluster, never used before.
	Cluster logicalcluster.Name

	// Shard is the place that was chosen.
	Shard Shard

	// Locks says which resources the default bindings give to the workspace.
	Locks binding.Locks

	// Waiting says what the default bindings wait for; nil if they are complete.
	Waiting *conditions.Condition

	// RootCA are the certificates that clients trust the server by, in PEM.
	RootCA string

	// Now is when it happens.
	Now metav1.Time

	// NewUID makes the UIDs of the new objects.
	NewUID func() types.UID
}

// Rootless is a logical cluster without a Workspace.
type Rootless struct {
	// Path is its canonical path.
	Path logicalcluster.Path
	// Owner is the value of the owner annotation: the user whose it is.
	Owner string
}

// Shard is what a workspace has to know of the shard it is on.
type Shard struct {
	// Name of the shard.
	Name string
	// ExternalURL is the address of the shard that users see.
	ExternalURL string
	// Region is the shard's region label, empty if it has none.
	Region string
}

// Objects are a new workspace.
type Objects struct {
	// Workspace is the Workspace in the parent, with its place. It is to be updated, or
	// created if it is not stored yet. It is nil if the input had none.
	Workspace *tenancyv1alpha1.Workspace

	// The others are to be created in the new logical cluster.

	// LogicalCluster describes the new logical cluster.
	LogicalCluster *corev1alpha1.LogicalCluster
	// AdminBinding makes the creator cluster admin. It is nil if nobody knows who the
	// creator is.
	AdminBinding *rbacv1.ClusterRoleBinding
	// Namespaces are those every workspace of the type begins with.
	Namespaces []*corev1.Namespace
	// ServiceAccounts and ConfigMaps are what every namespace has.
	ServiceAccounts []*corev1.ServiceAccount
	ConfigMaps      []*corev1.ConfigMap
}

// Of returns the objects of the workspace that in describes.
func Of(in Input) (*Objects, error) {
	// Storage keeps whole seconds, so objects in memory have them too.
	in.Now = in.Now.Rfc3339Copy()

	creator, err := in.creator()
	if err != nil {
		return nil, err
	}
	born := &Objects{}
	if born.LogicalCluster, err = logicalCluster(in, creator); err != nil {
		return nil, err
	}
	if in.Workspace != nil {
		if born.Workspace, err = workspace(in, born.LogicalCluster); err != nil {
			return nil, err
		}
	}
	if creator != nil && creator.Username != "" {
		born.AdminBinding = rbac.WorkspaceAdmin(creator.Username)
		in.complete(&born.AdminBinding.ObjectMeta)
	}
	if in.Type.IsUniversal() {
		born.addNamespaces(in)
	}
	return born, nil
}

// AddTo adds what is new in the logical cluster to a batch. The Workspace is the caller's to
// write: it may be there already.
func (o *Objects) AddTo(batch *storage.Batch, cluster logicalcluster.Name) {
	batch.Create(cached.LogicalClusters, cluster, o.LogicalCluster)
	if o.AdminBinding != nil {
		batch.Create(cached.ClusterRoleBindings, cluster, o.AdminBinding)
	}
	for _, namespace := range o.Namespaces {
		batch.Create(cached.Namespaces, cluster, namespace)
	}
	for _, account := range o.ServiceAccounts {
		batch.Create(cached.ServiceAccounts, cluster, account)
	}
	for _, configMap := range o.ConfigMaps {
		batch.Create(cached.ConfigMaps, cluster, configMap)
	}
}

// complete sets what every new object gets from the server.
func (in Input) complete(meta *metav1.ObjectMeta) {
	meta.UID = in.NewUID()
	meta.CreationTimestamp = in.Now
}

// creator returns the user in the owner annotation, nil if there is none.
func (in Input) creator() (*authenticationv1.UserInfo, error) {
	owner, ok := in.annotations()[tenancyv1alpha1.OwnerAnnotationKey]
	if !ok {
		return nil, nil
	}
	info, err := owners.Decode(owner)
	if err != nil {
		return nil, fmt.Errorf("annotation %s: %w", tenancyv1alpha1.OwnerAnnotationKey, err)
	}
	return info, nil
}

// waitedFor returns the initializers of all that somebody else has to finish: what the
// birth does is done.
func waitedFor(in Input, all []corev1alpha1.Initializer) []corev1alpha1.Initializer {
	var others []corev1alpha1.Initializer
	for _, initializer := range all {
		done := initializer == universal || initializer == corev1alpha1.InitializerAPIBindings && in.Waiting == nil
		if !done {
			others = append(others, initializer)
		}
	}
	return others
}

// universal is the initializer of the type universal, whose work the birth does.
var universal = corev1alpha1.Initializer(logicalcluster.Root.String() + ":" + tenancy.UniversalType)
