package discovery

import (
	apidiscoveryv2 "k8s.io/api/apidiscovery/v2"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/forkless/kcp/internal/schema"
)

var subresourceVerbs = metav1.Verbs{"get", "patch", "update"}

// resourceOf returns what clients are told about one version of a definition.
func resourceOf(served schema.Served, version *apiextensionsv1.CustomResourceDefinitionVersion) apidiscoveryv2.APIResourceDiscovery {
	crd := served.Definition.CRD
	names := crd.Status.AcceptedNames
	resource := apidiscoveryv2.APIResourceDiscovery{
		Resource:         names.Plural,
		SingularResource: names.Singular,
		Scope:            apidiscoveryv2.ScopeCluster,
		ResponseKind:     &metav1.GroupVersionKind{Group: crd.Spec.Group, Version: version.Name, Kind: names.Kind},
		Verbs:            served.Verbs(),
		ShortNames:       names.ShortNames,
		Categories:       names.Categories,
	}
	if served.Definition.Namespaced() {
		resource.Scope = apidiscoveryv2.ScopeNamespace
	}
	resource.Subresources = subresourcesOf(version, resource.ResponseKind)
	return resource
}

func subresourcesOf(version *apiextensionsv1.CustomResourceDefinitionVersion, kind *metav1.GroupVersionKind) []apidiscoveryv2.APISubresourceDiscovery {
	if version.Subresources == nil {
		return nil
	}
	var subresources []apidiscoveryv2.APISubresourceDiscovery
	if version.Subresources.Scale != nil {
		scale := autoscalingv1.SchemeGroupVersion.WithKind("Scale")
		subresources = append(subresources, apidiscoveryv2.APISubresourceDiscovery{
			Subresource:  "scale",
			ResponseKind: (*metav1.GroupVersionKind)(&scale),
			Verbs:        subresourceVerbs,
		})
	}
	if version.Subresources.Status != nil {
		subresources = append(subresources, apidiscoveryv2.APISubresourceDiscovery{
			Subresource:  "status",
			ResponseKind: kind,
			Verbs:        subresourceVerbs,
		})
	}
	return subresources
}
