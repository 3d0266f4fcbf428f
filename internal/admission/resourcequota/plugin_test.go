package resourcequota_test

import (
	"context"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/admission"

	"github.com/forkless/kcp/internal/admission/admissiontest"
	"github.com/forkless/kcp/internal/admission/request"
	"github.com/forkless/kcp/internal/admission/resourcequota"
	"github.com/forkless/kcp/pkg/logicalcluster"
)

// full is a ledger in which nothing has room, in one cluster.
type full logicalcluster.Name

// Measured says that pods are.
func (full) Measured(resource schema.GroupResource) bool { return resource.Resource == "pods" }

func (f full) Charge(_ context.Context, cluster logicalcluster.Name, a admission.Attributes) error {
	if cluster != logicalcluster.Name(f) {
		return nil
	}
	return request.Denied(a, "exceeded quota")
}

func TestValidate(t *testing.T) {
	for name, c := range map[string]struct {
		reason      string
		resource    string
		operation   admission.Operation
		subresource string
		cluster     logicalcluster.Name
		want        string
	}{
		"Create":      {"what is created is charged", "serviceaccounts", admission.Create, "", logicalcluster.Root, "exceeded quota"},
		"Elsewhere":   {"in its own cluster", "serviceaccounts", admission.Create, "", logicalcluster.SystemAdmin, ""},
		"Update":      {"what is changed is there already", "serviceaccounts", admission.Update, "", logicalcluster.Root, ""},
		"Subresource": {"a token is no object", "serviceaccounts", admission.Create, "token", logicalcluster.Root, ""},
		"Measured":    {"a change of what is measured may use more", "pods", admission.Update, "", logicalcluster.Root, "exceeded quota"},
		"Resize":      {"a subresource may, too", "pods", admission.Update, "resize", logicalcluster.Root, "exceeded quota"},
	} {
		t.Run(name, func(t *testing.T) {
			a := admissiontest.Request{
				Resource: corev1.SchemeGroupVersion.WithResource(c.resource), Kind: "Kind",
				Operation: c.operation, Subresource: c.subresource, Namespace: "default", Name: "a",
			}.Attributes()
			err := resourcequota.New(full(logicalcluster.Root)).Validate(admissiontest.In(t, c.cluster), a, nil)
			admissiontest.Check(t, c.reason, err, c.want)
		})
	}
	a := admissiontest.Request{Resource: corev1.SchemeGroupVersion.WithResource("secrets"), Kind: "Secret", Operation: admission.Create}.Attributes()
	if err := resourcequota.New(full(logicalcluster.Root)).Validate(t.Context(), a, nil); !apierrors.IsInternalError(err) {
		t.Errorf("a request without a cluster is a mistake, got error %v", err)
	}
}
