package server

import (
	"context"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/registry/rest"
	"k8s.io/kube-openapi/pkg/validation/spec"

	kcpadmission "github.com/forkless/kcp/internal/admission"
	"github.com/forkless/kcp/internal/admission/informers"
	"github.com/forkless/kcp/internal/admission/policies"
	"github.com/forkless/kcp/internal/storage/cached"
	apisv1alpha2 "github.com/forkless/kcp/pkg/apis/apis/v1alpha2"
	"github.com/forkless/kcp/pkg/logicalcluster"
)

// admission makes the chain of admission plugins. What they ask the authorizer leaves
// no trace in the audit event of the request.
func (s *Server) admission() (admission.Interface, error) {
	namespaces := cached.NewNamespaceReader(s.layer)
	s.listeners = append(s.listeners, s.configurations.Listener())
	workloadPlugins, err := s.workloadPlugins()
	if err != nil {
		return nil, err
	}
	return kcpadmission.New(kcpadmission.Config{
		Single:         s.options.Single,
		Workloads:      workloadPlugins,
		Types:          s.workspaceTypes,
		Clusters:       s.logicalClusters,
		Paths:          s.resolver,
		Exports:        knownExports{s.sharing},
		Conversions:    s.sharing,
		ObjectLimits:   s.objectLimits,
		ObjectCounts:   s.layer,
		Quotas:         s.quotas,
		Claims:         s.claims,
		Authorizer:     s.authorizer.Silent(),
		Namespaces:     namespaces,
		Configurations: informers.Sources{Index: s.configurations, Namespaces: namespaces},
		// The kinds are known when requests come, and not yet.
		Mapper:    func(cluster logicalcluster.Name) meta.RESTMapper { return s.kinds.Mapper(cluster) },
		Objects:   policies.Registries(s.registry),
		ParamKind: s.paramKind,
		Structure: s.typeConverter,
	})
}

// knownExports reads exports from memory, but nobody is told from memory alone that there is
// none: who has created one may refer to it at once.
type knownExports struct{ sharing *cached.APIs }

// Export implements exportref.Exports.
func (e knownExports) Export(ctx context.Context, cluster logicalcluster.Name, name string) (*apisv1alpha2.APIExport, error) {
	export, err := e.sharing.Export(ctx, cluster, name)
	if apierrors.IsNotFound(err) {
		return e.sharing.CurrentExport(ctx, cluster, name)
	}
	return export, err
}

// paramKind returns the resource that serves a kind in a cluster.
func (s *Server) paramKind(cluster logicalcluster.Name, kind schema.GroupVersionKind) (resource schema.GroupVersionResource, namespaced, ok bool) {
	found, ok := s.kinds.OfKind(cluster, kind)
	return found.Resource, found.Namespaced, ok
}

// registry returns what serves a resource of a cluster.
func (s *Server) registry(cluster logicalcluster.Name, resource schema.GroupVersionResource) (rest.Storage, error) {
	if _, ok := s.catalog.Lookup(cluster, resource.GroupResource()); ok {
		return s.catalog.Registry(cluster, resource)
	}
	return s.groups.Registry(resource)
}

// typeConverter returns what knows the structure of a kind of a cluster.
func (s *Server) typeConverter(cluster logicalcluster.Name, kind schema.GroupVersionKind) managedfields.TypeConverter {
	if converter := s.catalog.TypeConverter(cluster, kind); converter != nil {
		return converter
	}
	converter, err := s.types.TypeConverter()
	if err != nil {
		// It would be a mistake in what upstream describes, found by the first test.
		panic(err)
	}
	return converter
}

// schemaOf returns the OpenAPI schema of a kind of a cluster.
func (s *Server) schemaOf(cluster logicalcluster.Name, kind schema.GroupVersionKind) (*spec.Schema, error) {
	if found, err := s.catalog.Schema(cluster, kind); found != nil || err != nil {
		return found, err
	}
	return s.types.Schema(kind)
}

// resourceOf returns the resource that serves a kind in the cluster of ctx.
func (s *Server) resourceOf(ctx context.Context, kind schema.GroupVersionKind) (schema.GroupVersionResource, error) {
	cluster, err := logicalcluster.Require(ctx)
	if err != nil {
		return schema.GroupVersionResource{}, err
	}
	found, ok := s.kinds.OfKind(cluster, kind)
	if !ok {
		return schema.GroupVersionResource{}, &meta.NoKindMatchError{GroupKind: kind.GroupKind(), SearchedVersions: []string{kind.Version}}
	}
	return found.Resource, nil
}
