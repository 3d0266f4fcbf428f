package informers

import (
	"fmt"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/conversion"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/kubernetes/pkg/apis/admissionregistration"
	convert "k8s.io/kubernetes/pkg/apis/admissionregistration/v1"

	"github.com/forkless/kcp/internal/admission/configurations"
	"github.com/forkless/kcp/internal/storage"
)

// kind is a resource of configurations with V, its type in v1.
type kind[V any, O versioned[V]] struct {
	resource storage.Resource
	// convert returns a stored object in v1. The two share memory.
	convert func(stored runtime.Object) (O, error)
}

type versioned[V any] interface {
	*V
	runtime.Object
	metav1.Object
}

// newKind returns a kind that is stored as S.
func newKind[S, V any, O versioned[V]](resource storage.Resource, to func(*S, *V, conversion.Scope) error) kind[V, O] {
	return kind[V, O]{resource, func(stored runtime.Object) (O, error) {
		in, ok := any(stored).(*S)
		if !ok {
			return nil, fmt.Errorf("%s: %T is not how they are stored", resource.GroupResource, stored)
		}
		out := new(V)
		return out, to(in, out, nil)
	}}
}

var (
	mutatingWebhooks = newKind[admissionregistration.MutatingWebhookConfiguration, admissionregistrationv1.MutatingWebhookConfiguration](
		configurations.MutatingWebhooks, convert.Convert_admissionregistration_MutatingWebhookConfiguration_To_v1_MutatingWebhookConfiguration)
	validatingWebhooks = newKind[admissionregistration.ValidatingWebhookConfiguration, admissionregistrationv1.ValidatingWebhookConfiguration](
		configurations.ValidatingWebhooks, convert.Convert_admissionregistration_ValidatingWebhookConfiguration_To_v1_ValidatingWebhookConfiguration)
)
