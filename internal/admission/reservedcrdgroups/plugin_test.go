package reservedcrdgroups_test

import (
	"testing"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiserver/pkg/admission"

	"github.com/forkless/kcp/internal/admission/admissiontest"
	"github.com/forkless/kcp/internal/admission/reservedcrdgroups"
	"github.com/forkless/kcp/pkg/logicalcluster"
)

func TestValidate(t *testing.T) {
	cases := map[string]struct{ reason, cluster, group, denied string }{
		"Own":      {"the group itself", "root", "apis.kcp.io", "reserved"},
		"Below":    {"groups below it", "root", "x.apis.kcp.io", "reserved"},
		"Other":    {"other groups are free", "root", "example.com", ""},
		"Prefixed": {"only the end counts", "root", "apis.kcp.io.example.com", ""},
		"System":   {"the system's definitions have it", "system:system-crds", "apis.kcp.io", ""},
		"Bound":    {"other system clusters do not", "system:bound-crds", "apis.kcp.io", "reserved"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			internal := &apiextensions.CustomResourceDefinition{}
			internal.Spec.Group = c.group
			external := &apiextensionsv1.CustomResourceDefinition{}
			external.Spec.Group = c.group
			r := admissiontest.Request{
				Resource:  apiextensionsv1.SchemeGroupVersion.WithResource("customresourcedefinitions"),
				Operation: admission.Create,
				User:      admissiontest.Masters(),
			}
			ctx := admissiontest.In(t, logicalcluster.MustParseName(c.cluster))
			r.Object = internal
			admissiontest.Check(t, c.reason, reservedcrdgroups.New().Validate(ctx, r.Attributes(), nil), c.denied)
			r.Object = external
			admissiontest.Check(t, c.reason, reservedcrdgroups.New().Validate(ctx, r.Attributes(), nil), c.denied)
		})
	}
}
