package tenancystatus_test

import (
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/admission"

	"github.com/forkless/kcp/internal/admission/admissiontest"
	"github.com/forkless/kcp/internal/admission/tenancystatus"
	corev1alpha1 "github.com/forkless/kcp/pkg/apis/core/v1alpha1"
	tenancyv1alpha1 "github.com/forkless/kcp/pkg/apis/tenancy/v1alpha1"
	"github.com/forkless/kcp/pkg/logicalcluster"
)

func TestAdmit(t *testing.T) {
	workspaces := tenancyv1alpha1.GroupVersion.WithResource("workspaces")
	cases := map[string]struct {
		reason      string
		resource    schema.GroupVersionResource
		subresource string
		group       string
		denied      string
	}{
		"User":       {reason: "an admin of a workspace is nobody special", resource: workspaces, subresource: "status", denied: "the status is set by the system"},
		"Type":       {reason: "the same for types", resource: tenancyv1alpha1.GroupVersion.WithResource("workspacetypes"), subresource: "status", denied: "set by the system"},
		"Admin":      {reason: "system admins may", resource: workspaces, subresource: "status", group: "system:kcp:admin"},
		"Privileged": {reason: "so may the system", resource: workspaces, subresource: "status", group: "system:masters"},
		"Object":     {reason: "the object itself is another matter", resource: workspaces},
		"Cluster":    {reason: "initializers are removed from the status of logical clusters", resource: corev1alpha1.GroupVersion.WithResource("logicalclusters"), subresource: "status"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			r := admissiontest.Request{Resource: c.resource, Subresource: c.subresource, Operation: admission.Update, User: admissiontest.User(c.group)}
			admissiontest.Check(t, c.reason, tenancystatus.New().Admit(admissiontest.In(t, logicalcluster.Root), r.Attributes(), nil), c.denied)
		})
	}
}
