package permissionclaim

import (
	"context"
	"errors"
	"fmt"
	"maps"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/forkless/kcp/internal/controller"
	"github.com/forkless/kcp/internal/permissionclaims"
	"github.com/forkless/kcp/internal/storage"
	"github.com/forkless/kcp/internal/storage/cached"
	apisv1alpha2 "github.com/forkless/kcp/pkg/apis/apis/v1alpha2"
	"github.com/forkless/kcp/pkg/logicalcluster"
)

// reconcileBinding labels what the claims of a binding concern, and then says so in its
// status.
func (l *labels) reconcileBinding(ctx context.Context, key controller.Key) error {
	failed := map[permissionclaims.Name]error{}
	var retry []error
	for _, name := range l.changed.take(key) {
		if err := l.labelClaimed(ctx, key.Cluster, name); err != nil {
			l.changed.add(key, []permissionclaims.Name{name})
			failed[name] = err
			retry = append(retry, err)
		}
	}
	binding, err := l.APIs.Binding(ctx, key.Cluster, key.Name)
	switch {
	case apierrors.IsNotFound(err):
		l.waiting.set(key)
		return errors.Join(retry...)
	case err != nil:
		return err
	}
	if err := l.unserved(ctx, key, binding, failed); err != nil {
		return err
	}
	if err := l.writeStatus(ctx, key.Cluster, binding, failed); err != nil {
		return err
	}
	return errors.Join(retry...)
}

// unserved adds to failed the claims in force of a binding of which there can be no
// objects, and remembers that it waits for there to be some.
func (l *labels) unserved(ctx context.Context, key controller.Key, binding *apisv1alpha2.APIBinding, failed map[permissionclaims.Name]error) error {
	exported, accepted := permissionclaims.Exported(binding), permissionclaims.Accepted(binding)
	maps.DeleteFunc(accepted, func(name permissionclaims.Name, _ apisv1alpha2.AcceptablePermissionClaim) bool {
		_, asked := exported[name]
		return !asked
	})
	// It waits before it is looked: an export that comes in between is heard of.
	var waits, unserved []string
	for name := range accepted {
		if name.IdentityHash != "" {
			waits = append(waits, name.IdentityHash)
		}
	}
	l.waiting.set(key, waits...)
	for name, answer := range accepted {
		switch _, err := permissionclaims.Selector(answer.Selector); {
		case err != nil:
			failed[name] = fmt.Errorf("selector of the claim for %s: %w", name.GroupResource, err)
		case name.IdentityHash == "" && !permissionclaims.IsClaimable(name.GroupResource):
			failed[name] = fmt.Errorf("%s can only be claimed with the identity hash of an APIExport", name.GroupResource)
		case name.IdentityHash != "":
			served, err := l.isServed(ctx, key.Cluster, name)
			if err != nil {
				return err
			}
			if !served {
				unserved = append(unserved, name.IdentityHash)
				failed[name] = fmt.Errorf("no APIExport with identity hash %q serves %s", name.IdentityHash, name.GroupResource)
			}
		}
	}
	l.waiting.set(key, unserved...)
	return nil
}

// isServed says whether what a claim with an identity is for exists: in the cluster, or
// anywhere that it can be bound from.
func (l *labels) isServed(ctx context.Context, cluster logicalcluster.Name, name permissionclaims.Name) (bool, error) {
	if served, ok := l.Lookup(cluster, name.GroupResource); ok && served.IsBound() && served.Export.IdentityHash == name.IdentityHash {
		return true, nil
	}
	exports, err := l.APIs.Exports(ctx, logicalcluster.Wildcard)
	if err != nil {
		return false, err
	}
	for i := range exports {
		if exports[i].Status.IdentityHash != name.IdentityHash {
			continue
		}
		for _, resource := range exports[i].Spec.Resources {
			if resource.Group == name.Group && resource.Name == name.Resource {
				return true, nil
			}
		}
	}
	return false, nil
}

// writeStatus writes what the status of a binding says of claims, if it does not say so.
func (l *labels) writeStatus(ctx context.Context, cluster logicalcluster.Name, binding *apisv1alpha2.APIBinding, failed map[permissionclaims.Name]error) error {
	wanted := permissionclaims.WithStatus(binding, failed)
	if wanted == binding {
		return nil
	}
	batch := l.Layer.NewBatch()
	batch.Update(cached.APIBindings, cluster, wanted)
	err := batch.Commit(ctx)
	if errors.Is(err, storage.ErrBatchConflict) {
		return apierrors.NewConflict(cached.APIBindings.GroupResource, binding.Name, err)
	}
	return err
}
