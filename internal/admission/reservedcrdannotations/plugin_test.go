package reservedcrdannotations_test

import (
	"testing"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiserver/pkg/admission"

	"github.com/forkless/kcp/internal/admission/admissiontest"
	"github.com/forkless/kcp/internal/admission/reservedcrdannotations"
	"github.com/forkless/kcp/pkg/logicalcluster"
)

func TestValidate(t *testing.T) {
	cases := map[string]struct{ reason, cluster, key, denied string }{
		"Own":      {"the domain itself", "root", "apis.kcp.io/x", "annotations apis.kcp.io/x are reserved"},
		"Below":    {"domains below it", "root", "internal.apis.kcp.io/x", "reserved"},
		"Beside":   {"a domain that only ends like it is another one", "root", "myapis.kcp.io/x", ""},
		"NoDomain": {"a key without a domain", "root", "apis.kcp.io", ""},
		"Other":    {"other keys are free", "root", "example.com/x", ""},
		"Bound":    {"definitions of bound APIs have them", "system:bound-crds", "apis.kcp.io/x", ""},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			crd := &apiextensions.CustomResourceDefinition{}
			crd.Annotations = map[string]string{c.key: ""}
			r := admissiontest.Request{
				Resource:  apiextensionsv1.SchemeGroupVersion.WithResource("customresourcedefinitions"),
				Operation: admission.Update,
				Object:    crd,
				User:      admissiontest.Masters(),
			}
			ctx := admissiontest.In(t, logicalcluster.MustParseName(c.cluster))
			admissiontest.Check(t, c.reason, reservedcrdannotations.New().Validate(ctx, r.Attributes(), nil), c.denied)
		})
	}
}
