package compiled

import (
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime"
	apischema "k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"k8s.io/client-go/scale/scheme/autoscalingv1"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"github.com/forkless/kcp/internal/schema"
)

// equivalentResources says which kinds the versions of definition serve, so that
// admission webhooks and policies for one version match requests for another.
func equivalentResources(definition *schema.Definition) runtime.EquivalentResourceMapper {
	registry := runtime.NewEquivalentResourceRegistry()
	for _, version := range definition.CRD.Spec.Versions {
		resource := definition.GroupResource().WithVersion(version.Name)
		kind := definition.GroupKind().WithVersion(version.Name)
		registry.RegisterKindFor(resource, "", kind)
		if version.Subresources == nil {
			continue
		}
		if version.Subresources.Status != nil {
			registry.RegisterKindFor(resource, "status", kind)
		}
		if version.Subresources.Scale != nil {
			registry.RegisterKindFor(resource, "scale", autoscalingv1.SchemeGroupVersion.WithKind("Scale"))
		}
	}
	return registry
}

// replicasPaths says, for each version, which field the scale subresource owns on
// behalf of its users. Versions without the subresource have no such field.
func replicasPaths(crd *apiextensionsv1.CustomResourceDefinition) managedfields.ResourcePathMappings {
	paths := managedfields.ResourcePathMappings{}
	for _, version := range crd.Spec.Versions {
		groupVersion := apischema.GroupVersion{Group: crd.Spec.Group, Version: version.Name}.String()
		if version.Subresources == nil || version.Subresources.Scale == nil {
			paths[groupVersion] = nil
			continue
		}
		path := fieldpath.Path{}
		for _, name := range strings.Split(strings.TrimPrefix(version.Subresources.Scale.SpecReplicasPath, "."), ".") {
			path = append(path, fieldpath.PathElement{FieldName: &name})
		}
		paths[groupVersion] = path
	}
	return paths
}
