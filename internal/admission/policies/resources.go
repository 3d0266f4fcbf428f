package policies

import (
	"fmt"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/kubernetes/pkg/kubeapiserver/admission/exclusion"

	"github.com/forkless/kcp/internal/admission/configurations"
)

// exempt are the resources that no policy is asked about: policies themselves, which
// could otherwise lock everybody out for good, and what is answered instead of stored.
var exempt = sets.New(append(exclusion.Excluded(),
	configurations.ValidatingPolicies.GroupResource, configurations.ValidatingPolicyBindings.GroupResource,
	configurations.MutatingPolicies.GroupResource, configurations.MutatingPolicyBindings.GroupResource)...)

// Served returns stored in the version that is served, by convert, which sets out.
func Served[In runtime.Object, Out runtime.Object](stored runtime.Object, out Out, convert func(in In, out Out) error) (Out, error) {
	in, ok := stored.(In)
	if !ok {
		return out, fmt.Errorf("%T is stored where %T belongs", stored, in)
	}
	if err := convert(in, out); err != nil {
		return out, fmt.Errorf("converting %T: %w", stored, err)
	}
	return out, nil
}
