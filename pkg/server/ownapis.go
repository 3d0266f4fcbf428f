package server

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/uuid"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/authorization/authorizer"

	"github.com/forkless/kcp/config/exports"
	"github.com/forkless/kcp/internal/binding"
	"github.com/forkless/kcp/internal/bootstrap"
	"github.com/forkless/kcp/internal/exportref"
	"github.com/forkless/kcp/internal/storage/cached"
	"github.com/forkless/kcp/internal/tenancy/defaultbindings"
	apisv1alpha2 "github.com/forkless/kcp/pkg/apis/apis/v1alpha2"
	"github.com/forkless/kcp/pkg/logicalcluster"
	"github.com/forkless/kcp/pkg/tenancy"
)

// ownExports returns our own APIs as root offers them. Identities that there are stay, and
// others are made.
func (s *Server) ownExports(ctx context.Context) ([]bootstrap.Object, error) {
	var objects []bootstrap.Object
	keys := map[string][]byte{}
	for _, name := range sets.List(sets.KeySet(s.presetIdentities).Insert(exports.Names()...)) {
		key, known, err := s.identityOf(ctx, name, s.presetIdentities[name])
		if err != nil {
			return nil, err
		}
		keys[name] = key
		if !known {
			objects = append(objects, bootstrap.Object{Resource: cached.Secrets, Cluster: logicalcluster.Root, Object: exports.Secret(name, key)})
		}
	}
	all, err := exports.New(s.own, keys, metav1.Now())
	if err != nil {
		return nil, err
	}
	for _, described := range all.Schemas {
		objects = append(objects, bootstrap.Object{Resource: cached.APIResourceSchemas, Cluster: logicalcluster.Root, Object: described})
	}
	for _, export := range all.Exports {
		objects = append(objects, bootstrap.Object{Resource: cached.APIExports, Cluster: logicalcluster.Root, Object: export})
	}
	return append(objects, s.namespaceIn(logicalcluster.Root, exports.IdentityNamespace)...), nil
}

// identityOf returns the identity of an export of root: the one it has, or else the one that
// is preset for it, or else a new one. known
// says that nothing is to be written of it: it is there, or the export is, which nobody
// but its owner may give another identity.
func (s *Server) identityOf(ctx context.Context, export string, preset []byte) (key []byte, known bool, err error) {
	secret, err := s.accounts.Secret(ctx, logicalcluster.Root, exports.IdentityNamespace, export)
	if err == nil {
		return exports.Key(secret.Data), true, nil
	}
	if !apierrors.IsNotFound(err) {
		return nil, false, err
	}
	object, err := s.sharing.Export(ctx, logicalcluster.Root, export)
	switch {
	case err == nil && object.Status.IdentityHash != "":
		return nil, true, nil
	case err != nil && !apierrors.IsNotFound(err):
		return nil, false, err
	case preset != nil:
		return preset, false, nil
	default:
		return exports.NewKey(), false, nil
	}
}

// bindOwn gives root, and the shard itself, the bindings of our own APIs, and notes where
// their objects are stored.
func (s *Server) bindOwn(ctx context.Context) error {
	if err := s.waitForExports(ctx); err != nil {
		return err
	}
	for _, cluster := range []logicalcluster.Name{logicalcluster.Root, logicalcluster.SystemShard} {
		if err := s.bindOwnIn(ctx, cluster); err != nil {
			return fmt.Errorf("binding our own APIs in %s: %w", cluster, err)
		}
	}
	return nil
}

// waitForExports waits until the exports that were written are in the watch caches, with
// their schemas, and notes their identities.
func (s *Server) waitForExports(ctx context.Context) error {
	var last error
	err := wait.PollUntilContextTimeout(ctx, cachePoll, cacheTimeout, true, func(ctx context.Context) (bool, error) {
		last = s.noteIdentities(ctx)
		return last == nil, nil
	})
	if err != nil && last != nil {
		return fmt.Errorf("waiting for our own exports: %w", last)
	}
	return err
}

func (s *Server) noteIdentities(ctx context.Context) error {
	for _, name := range exports.Names() {
		export, err := s.sharing.Export(ctx, logicalcluster.Root, name)
		if err != nil {
			return err
		}
		for _, resource := range export.Spec.Resources {
			if _, err := s.sharing.Schema(ctx, logicalcluster.Root, resource.Schema); err != nil {
				return err
			}
		}
		for _, resource := range exports.Resources(name) {
			s.identities.SetOwn(resource, export.Status.IdentityHash)
		}
	}
	return nil
}

// bindOwnIn makes the bindings of our own APIs in a cluster. They are called like the
// exports, and what is bound is decided by the controller of bindings.
func (s *Server) bindOwnIn(ctx context.Context, cluster logicalcluster.Name) error {
	lc, err := s.logicalClusters.GetCurrent(ctx, cluster)
	if err != nil {
		return err
	}
	existing, err := s.sharing.CurrentBindings(ctx, cluster)
	if err != nil {
		return err
	}
	var wanted []defaultbindings.Wanted
	for _, name := range exports.Names() {
		wanted = append(wanted, defaultbindings.Wanted{Binding: name, Path: logicalcluster.Root.String(), Export: name})
	}
	plan, err := s.bindingPlanner().Plan(ctx, defaultbindings.Input{
		Consumer: tenancy.PlaceOf(cluster, lc),
		Wanted:   wanted, Existing: existing, Now: metav1.Now(), NewUID: uuid.NewUUID,
	})
	if err != nil {
		return err
	}
	batch := s.layer.NewBatch()
	plan.AddTo(batch)
	// Without it the cluster would be taken for one of an earlier server.
	if locked := binding.WithLocks(lc, binding.LocksOf(lc)); locked != lc {
		batch.Update(cached.LogicalClusters, cluster, locked)
	}
	return batch.Commit(ctx)
}

// waitForOwn waits until root has its own APIs: before that it is not the root of
// anything.
func (s *Server) waitForOwn(ctx context.Context) error {
	missing := func() (schema.GroupResource, bool) {
		for _, resource := range ownResources() {
			if _, ok := s.catalog.Lookup(logicalcluster.Root, resource); !ok {
				return resource, true
			}
		}
		return schema.GroupResource{}, false
	}
	err := wait.PollUntilContextTimeout(ctx, cachePoll, cacheTimeout, true, func(context.Context) (bool, error) {
		_, waits := missing()
		return !waits, nil
	})
	if resource, waits := missing(); err != nil && waits {
		return fmt.Errorf("waiting for root to serve %s: %w", resource, err)
	}
	return err
}

// bindingPlanner plans the bindings that workspaces begin with.
func (s *Server) bindingPlanner() *defaultbindings.Planner {
	return &defaultbindings.Planner{
		APIs:        s.sharing,
		Definitions: s.boundDefinitions,
		Stored:      s.definitions,
		Identities:  s.identities,
		Reserved:    s.reserved,
		References:  exportref.NewResolver(s.resolver, s.sharing),
		MayBind:     s.mayBind,
	}
}

// mayBind says whether a user may bind an export.
func (s *Server) mayBind(ctx context.Context, cluster logicalcluster.Name, export string, who user.Info) (bool, error) {
	return s.authorizer.AllowedIn(ctx, cluster, authorizer.AttributesRecord{
		User:            who,
		Verb:            "bind",
		APIGroup:        apisv1alpha2.GroupVersion.Group,
		APIVersion:      apisv1alpha2.GroupVersion.Version,
		Resource:        cached.APIExports.Resource,
		Name:            export,
		ResourceRequest: true,
	})
}
