package server

import (
	"context"
	"slices"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/utils/clock"

	"github.com/forkless/kcp/internal/binding"
	"github.com/forkless/kcp/internal/controller"
	"github.com/forkless/kcp/internal/controllers/apibinding"
	"github.com/forkless/kcp/internal/exportref"
	"github.com/forkless/kcp/internal/storage"
	"github.com/forkless/kcp/internal/storage/cached"
	"github.com/forkless/kcp/pkg/logicalcluster"
)

func (s *Server) bindingController() (*controller.Controller, error) {
	var err error
	s.bindings, err = apibinding.New(apibinding.Config{
		Layer:       s.layer,
		APIs:        s.sharing,
		Clusters:    s.logicalClusters,
		Definitions: s.definitions,
		Bound:       s.boundDefinitions,
		Identities:  s.identities,
		Catalog:     s.catalog,
		Exports:     exportref.NewResolver(s.resolver, s.sharing),
		Reserved:    s.reserved,
		Freed:       s.ownDefinitions.Freed,
		Locks:       s.resourceLocks,
		Clock:       clock.RealClock{},
	})
	if err != nil {
		return nil, err
	}
	if err := s.layer.CompleteCreates(cached.APIBindings, s.bindings.Complete); err != nil {
		return nil, err
	}
	return s.bindings.Controller, nil
}

// reserved returns the APIs of a group that a cluster has without binding them, and that
// nobody else can have there.
func (s *Server) reserved(in logicalcluster.Name, group string) []binding.Rival {
	var reserved []binding.Rival
	for _, served := range s.system.Definitions(in) {
		if crd := served.Definition.CRD; crd.Spec.Group == group {
			reserved = append(reserved, binding.BuiltIn(served.Definition.GroupResource(), crd.Spec.Names))
		}
	}
	groups, err := s.builtins.Groups()
	if err != nil {
		// It would be a mistake in what upstream installs, found by the first test.
		panic(err)
	}
	for _, builtin := range groups {
		if builtin.Name != group {
			continue
		}
		for _, version := range builtin.Versions {
			for _, resource := range version.Resources {
				reserved = append(reserved, binding.BuiltIn(schema.GroupResource{Group: group, Resource: resource.Resource},
					apiextensionsv1.CustomResourceDefinitionNames{
						Plural:     resource.Resource,
						Singular:   resource.SingularResource,
						ShortNames: resource.ShortNames,
						Kind:       resource.ResponseKind.Kind,
						ListKind:   resource.ResponseKind.Kind + "List",
					}))
			}
		}
	}
	return reserved
}

// isReserved says whether every cluster has a resource without binding it.
func (s *Server) isReserved(resource schema.GroupResource) bool {
	return slices.ContainsFunc(s.reserved(logicalcluster.Root, resource.Group), func(r binding.Rival) bool { return r.Resource == resource })
}

// openBoundStores opens the stores of what is bound in a cluster.
func (s *Server) openBoundStores(ctx context.Context, in logicalcluster.Name) error {
	bindings, err := s.sharing.CurrentBindings(ctx, in)
	if err != nil {
		return err
	}
	for i := range bindings {
		for _, bound := range bindings[i].Status.BoundResources {
			resource := storage.Resource{GroupResource: schema.GroupResource{Group: bound.Group, Resource: bound.Resource}}
			identity, ok := s.identities.Storage(resource.GroupResource, bound.Schema.IdentityHash)
			if !ok {
				continue
			}
			resource.Identity = identity
			if err := s.openStore(resource); err != nil {
				return err
			}
		}
	}
	return nil
}
