package reservednames_test

import (
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apiserver/pkg/admission"

	"github.com/forkless/kcp/internal/admission/admissiontest"
	"github.com/forkless/kcp/internal/admission/reservednames"
	tenancyv1alpha1 "github.com/forkless/kcp/pkg/apis/tenancy/v1alpha1"
	"github.com/forkless/kcp/pkg/logicalcluster"
)

func TestAdmit(t *testing.T) {
	cases := map[string]struct{ reason, resource, name, denied string }{
		"Any":       {"any is reserved", "workspacetypes", "any", "name is reserved"},
		"System":    {"system is reserved", "workspacetypes", "system", "name is reserved"},
		"Other":     {"others are not", "workspacetypes", "anything", ""},
		"Workspace": {"a workspace may be called so", "workspaces", "any", ""},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			r := admissiontest.Request{
				Resource:  tenancyv1alpha1.GroupVersion.WithResource(c.resource),
				Operation: admission.Create,
				Object:    &unstructured.Unstructured{Object: map[string]any{"metadata": map[string]any{"name": c.name}}},
				User:      admissiontest.Masters(),
			}
			admissiontest.Check(t, c.reason, reservednames.New().Admit(admissiontest.In(t, logicalcluster.Root), r.Attributes(), nil), c.denied)
		})
	}
}
