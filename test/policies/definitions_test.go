package policies

import (
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/utils/ptr"

	"k8s.io/apiextensions-apiserver/pkg/apihelpers"

	"github.com/forkless/kcp/internal/servertest"
)

// crontabs is a definition with a status and a scale, in two versions.
func crontabs(group string) *apiextensionsv1.CustomResourceDefinition {
	schema := &apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: &apiextensionsv1.JSONSchemaProps{
		Type: "object",
		Properties: map[string]apiextensionsv1.JSONSchemaProps{
			"spec": {Type: "object", Properties: map[string]apiextensionsv1.JSONSchemaProps{
				"cronSpec": {Type: "string"},
				"image":    {Type: "string"},
				"replicas": {Type: "integer", Minimum: ptr.To(0.0)},
				"args": {
					Type: "array", XListType: ptr.To("map"), XListMapKeys: []string{"name"},
					Items: &apiextensionsv1.JSONSchemaPropsOrArray{Schema: &apiextensionsv1.JSONSchemaProps{
						Type: "object", Required: []string{"name"},
						Properties: map[string]apiextensionsv1.JSONSchemaProps{"name": {Type: "string"}, "value": {Type: "string"}},
					}},
				},
			}},
			"status": {Type: "object", Properties: map[string]apiextensionsv1.JSONSchemaProps{"ready": {Type: "boolean"}}},
		},
	}}
	version := apiextensionsv1.CustomResourceDefinitionVersion{
		Name: "v1", Served: true, Storage: true, Schema: schema,
		Subresources: &apiextensionsv1.CustomResourceSubresources{Status: &apiextensionsv1.CustomResourceSubresourceStatus{}},
	}
	beta := version
	beta.Name, beta.Storage = "v1beta1", false
	return &apiextensionsv1.CustomResourceDefinition{
		ObjectMeta: metav1.ObjectMeta{Name: "crontabs." + group},
		Spec: apiextensionsv1.CustomResourceDefinitionSpec{
			Group:    group,
			Scope:    apiextensionsv1.NamespaceScoped,
			Names:    apiextensionsv1.CustomResourceDefinitionNames{Plural: "crontabs", Singular: "crontab", Kind: "CronTab", ListKind: "CronTabList"},
			Versions: []apiextensionsv1.CustomResourceDefinitionVersion{version, beta},
		},
	}
}

// clusterScoped makes a definition one of objects without namespaces.
func clusterScoped(crd *apiextensionsv1.CustomResourceDefinition) *apiextensionsv1.CustomResourceDefinition {
	crd.Spec.Scope = apiextensionsv1.ClusterScoped
	return crd
}

// define makes a definition and waits until it is served.
func (w *workspace) define(t testing.TB, crd *apiextensionsv1.CustomResourceDefinition) {
	t.Helper()
	definitions := w.definitions.ApiextensionsV1().CustomResourceDefinitions()
	if _, err := definitions.Create(t.Context(), crd, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	servertest.Eventually(t, "definition "+crd.Name+" is established", func() (bool, any) {
		latest, err := definitions.Get(t.Context(), crd.Name, metav1.GetOptions{})
		if err != nil {
			t.Fatal(err)
		}
		return apihelpers.IsCRDConditionTrue(latest, apiextensionsv1.Established), latest.Status.Conditions
	})
}

// resourceOf is what crontabs of a group are served as.
func resourceOf(group, version string) schema.GroupVersionResource {
	return schema.GroupVersionResource{Group: group, Version: version, Resource: "crontabs"}
}

func crontab(group, version, name string, spec map[string]any) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": group + "/" + version, "kind": "CronTab",
		"metadata": map[string]any{"name": name},
		"spec":     spec,
	}}
}
