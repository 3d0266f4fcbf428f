// Package bootstrappolicy is the controller that keeps the policy in force in every
// workspace equal to the roles and bindings stored in system:admin. Any change there
// replaces the policy as a whole.
package bootstrappolicy

import (
	"context"
	"errors"
	"fmt"

	"k8s.io/apimachinery/pkg/runtime"

	"github.com/forkless/kcp/internal/authz"
	"github.com/forkless/kcp/internal/controller"
	"github.com/forkless/kcp/internal/storage"
	"github.com/forkless/kcp/internal/storage/cached"
	"github.com/forkless/kcp/pkg/logicalcluster"
)

// New returns the controller. What is read from policy in system:admin replaces what
// bootstrap holds.
func New(layer *storage.Layer, policy *cached.Policy, bootstrap *authz.Bootstrap) (*controller.Controller, error) {
	var sources []controller.Source
	for _, resource := range []storage.Resource{cached.ClusterRoles, cached.ClusterRoleBindings} {
		store, ok := layer.Store(resource)
		if !ok {
			return nil, fmt.Errorf("the store of %s is not open", resource.GroupResource)
		}
		sources = append(sources, controller.Source{
			Cluster: logicalcluster.SystemAdmin,
			Store:   store,
			Prefix:  resource.Prefix(),
			Keys:    one,
		})
	}
	return controller.New(controller.Options{
		Name:    "bootstrap-policy",
		Sources: sources,
		Reconcile: func(ctx context.Context, _ controller.Key) error {
			return replace(ctx, policy, bootstrap)
		},
	}), nil
}

// one is the single key there is: the policy is read as a whole, however many of its
// objects have changed.
func one(runtime.Object) []controller.Key {
	return []controller.Key{{Cluster: logicalcluster.SystemAdmin, Name: "policy"}}
}

func replace(ctx context.Context, policy *cached.Policy, bootstrap *authz.Bootstrap) error {
	ctx = logicalcluster.NewContext(ctx, logicalcluster.SystemAdmin)
	roles, rolesErr := policy.ListClusterRoles(ctx)
	bindings, bindingsErr := policy.ListClusterRoleBindings(ctx)
	if err := errors.Join(rolesErr, bindingsErr); err != nil {
		return fmt.Errorf("reading the policy of %s: %w", logicalcluster.SystemAdmin, err)
	}
	objects := make([]runtime.Object, 0, len(roles)+len(bindings))
	for _, role := range roles {
		objects = append(objects, role)
	}
	for _, binding := range bindings {
		objects = append(objects, binding)
	}
	snapshot, err := authz.NewSnapshot(objects)
	if err != nil {
		return err
	}
	bootstrap.Replace(snapshot)
	return nil
}
