package cached

import (
	"context"
	"errors"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/kubernetes/pkg/apis/admissionregistration"

	"github.com/forkless/kcp/internal/storage"
	"github.com/forkless/kcp/pkg/logicalcluster"
)

// ValidatingPolicies is the resource of ValidatingAdmissionPolicies.
var ValidatingPolicies = storage.Resource{
	GroupResource: schema.GroupResource{Group: admissionregistration.GroupName, Resource: "validatingadmissionpolicies"},
}

// ValidatingPolicyReader reads ValidatingAdmissionPolicies.
type ValidatingPolicyReader struct {
	layer  *storage.Layer
	reader *storage.Reader[admissionregistration.ValidatingAdmissionPolicy, *admissionregistration.ValidatingAdmissionPolicy, *admissionregistration.ValidatingAdmissionPolicyList]
}

// NewValidatingPolicyReader returns a reader over layer.
func NewValidatingPolicyReader(layer *storage.Layer) ValidatingPolicyReader {
	return ValidatingPolicyReader{layer: layer, reader: storage.NewReader[admissionregistration.ValidatingAdmissionPolicy](layer, ValidatingPolicies,
		func() *admissionregistration.ValidatingAdmissionPolicyList {
			return &admissionregistration.ValidatingAdmissionPolicyList{}
		},
		func(l *admissionregistration.ValidatingAdmissionPolicyList) []admissionregistration.ValidatingAdmissionPolicy {
			return l.Items
		})}
}

// Get returns a policy, or a NotFound Status error.
func (r ValidatingPolicyReader) Get(ctx context.Context, cluster logicalcluster.Name, name string) (*admissionregistration.ValidatingAdmissionPolicy, error) {
	return r.reader.Get(ctx, cluster, "", name)
}

// Update writes policy, or returns a Conflict Status error if it has changed since it was
// read.
func (r ValidatingPolicyReader) Update(ctx context.Context, cluster logicalcluster.Name, policy *admissionregistration.ValidatingAdmissionPolicy) error {
	batch := r.layer.NewBatch()
	batch.Update(ValidatingPolicies, cluster, policy)
	err := batch.Commit(ctx)
	if errors.Is(err, storage.ErrBatchConflict) {
		return apierrors.NewConflict(ValidatingPolicies.GroupResource, policy.Name, err)
	}
	return err
}
