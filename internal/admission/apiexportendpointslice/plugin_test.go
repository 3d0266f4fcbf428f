package apiexportendpointslice_test

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apiserver/pkg/admission"

	"github.com/forkless/kcp/internal/admission/admissiontest"
	"github.com/forkless/kcp/internal/admission/apiexportendpointslice"
	"github.com/forkless/kcp/internal/admission/bind"
	"github.com/forkless/kcp/internal/exportref"
	"github.com/forkless/kcp/internal/tenancy/tenancytest"
	apisv1alpha1 "github.com/forkless/kcp/pkg/apis/apis/v1alpha1"
)

func TestPlugin(t *testing.T) {
	tree := tenancytest.New(t)
	tree.AddCluster("root:own", "root:universal")
	tree.AddCluster("root:provider", "root:universal")
	own, provider := tenancytest.ClusterAt("root:own"), tenancytest.ClusterAt("root:provider")
	plugin := apiexportendpointslice.New(bind.Access{
		Exports:    exportref.NewResolver(tree.Paths(), admissiontest.Exports{provider.String() + "/widgets", provider.String() + "/secret"}),
		Authorizer: admissiontest.Grants{provider.String() + " bind apiexports/widgets", provider.String() + " bind apiexports/gone", own.String() + " bind apiexports/later"},
	})
	for name, tc := range map[string]struct{ reason, path, export, denied string }{
		"Allowed":     {reason: "who may bind may know where", path: "root:provider", export: "widgets"},
		"Denied":      {reason: "who may not may not", path: "root:provider", export: "secret", denied: "unable to create APIExportEndpointSlice: no permission to bind to export root:provider:secret"},
		"NoExport":    {reason: "what is not there is as forbidden", path: "root:provider", export: "gone", denied: "unable to create APIExportEndpointSlice: no permission to bind to export root:provider:gone"},
		"NoWorkspace": {reason: "wherever it is not", path: "root:nowhere", export: "widgets", denied: "no permission to bind to export root:nowhere:widgets"},
		"Own":         {reason: "in the own workspace the export may come later", export: "later"},
		"OwnDenied":   {reason: "for those who may bind it", export: "widgets", denied: "no permission to bind to export widgets"},
	} {
		t.Run(name, func(t *testing.T) {
			r := admissiontest.Request{
				Resource: apisv1alpha1.GroupVersion.WithResource("apiexportendpointslices"), Kind: "APIExportEndpointSlice", Operation: admission.Create,
				Object: admissiontest.Unstructured(t, &apisv1alpha1.APIExportEndpointSlice{
					ObjectMeta: metav1.ObjectMeta{Name: "a"},
					Spec:       apisv1alpha1.APIExportEndpointSliceSpec{APIExport: apisv1alpha1.ExportBindingReference{Path: tc.path, Name: tc.export}},
				}),
			}
			admissiontest.Check(t, tc.reason, plugin.Validate(admissiontest.In(t, own), r.Attributes(), nil), tc.denied)
		})
	}
}
