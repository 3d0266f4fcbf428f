package configurations

import (
	"slices"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/forkless/kcp/internal/storage"
)

// The resources of configurations.
var (
	MutatingWebhooks         = resource("mutatingwebhookconfigurations")
	ValidatingWebhooks       = resource("validatingwebhookconfigurations")
	MutatingPolicies         = resource("mutatingadmissionpolicies")
	MutatingPolicyBindings   = resource("mutatingadmissionpolicybindings")
	ValidatingPolicies       = resource("validatingadmissionpolicies")
	ValidatingPolicyBindings = resource("validatingadmissionpolicybindings")
)

// resources are all of them. A kind is the place of a resource in it.
var resources = [...]storage.Resource{
	MutatingWebhooks, ValidatingWebhooks,
	MutatingPolicies, MutatingPolicyBindings,
	ValidatingPolicies, ValidatingPolicyBindings,
}

// Resources returns all of them.
func Resources() []storage.Resource { return slices.Clone(resources[:]) }

type kind int

func resource(name string) storage.Resource {
	return storage.Resource{GroupResource: schema.GroupResource{Group: admissionregistrationv1.GroupName, Resource: name}}
}

// kindOf returns the kind of a resource; ok is false if it is none of configurations.
func kindOf(resource storage.Resource) (k kind, ok bool) {
	// The group of most resources is another one.
	if resource.Group != admissionregistrationv1.GroupName {
		return 0, false
	}
	i := slices.Index(resources[:], resource)
	return kind(i), i >= 0
}

// kindsOf returns the kinds of resources, which must be ones of configurations.
func kindsOf(resources []storage.Resource) []kind {
	kinds := make([]kind, 0, len(resources))
	for _, resource := range resources {
		k, ok := kindOf(resource)
		if !ok {
			panic("configurations: " + resource.GroupResource.String() + " is no resource of configurations")
		}
		kinds = append(kinds, k)
	}
	return kinds
}
