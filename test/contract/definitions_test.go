package contract

import (
	"fmt"
	"net/http"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

var customResourceDefinitions = apiextensionsv1.SchemeGroupVersion.WithResource("customresourcedefinitions")

// definition is a CustomResourceDefinition with one version, v1.
type definition struct {
	group, plural, kind string
	namespaced          bool
	// properties of the spec, with their types.
	properties  map[string]string
	annotations map[string]string
}

func (d definition) resource() schema.GroupVersionResource {
	return schema.GroupVersionResource{Group: d.group, Version: "v1", Resource: d.plural}
}

// url is the path of the resource.
func (d definition) url(namespace string) string {
	if namespace != "" {
		namespace = "/namespaces/" + namespace
	}
	return "/apis/" + d.group + "/v1" + namespace + "/" + d.plural
}

func (d definition) object() *unstructured.Unstructured {
	spec := map[string]apiextensionsv1.JSONSchemaProps{}
	for name, of := range d.properties {
		spec[name] = apiextensionsv1.JSONSchemaProps{Type: of}
	}
	crd := &apiextensionsv1.CustomResourceDefinition{
		ObjectMeta: metav1.ObjectMeta{Name: d.plural + "." + d.group, Annotations: d.annotations},
		Spec: apiextensionsv1.CustomResourceDefinitionSpec{
			Group: d.group,
			Names: apiextensionsv1.CustomResourceDefinitionNames{Plural: d.plural, Kind: d.kind},
			Scope: apiextensionsv1.ClusterScoped,
			Versions: []apiextensionsv1.CustomResourceDefinitionVersion{{
				Name: "v1", Served: true, Storage: true,
				Schema: &apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: &apiextensionsv1.JSONSchemaProps{
					Type: "object",
					Properties: map[string]apiextensionsv1.JSONSchemaProps{
						"spec":   {Type: "object", Properties: spec},
						"status": {Type: "object", Properties: map[string]apiextensionsv1.JSONSchemaProps{"said": {Type: "string"}}},
					},
				}},
				Subresources: &apiextensionsv1.CustomResourceSubresources{Status: &apiextensionsv1.CustomResourceSubresourceStatus{}},
			}},
		},
	}
	if d.namespaced {
		crd.Spec.Scope = apiextensionsv1.NamespaceScoped
	}
	object, err := runtime.DefaultUnstructuredConverter.ToUnstructured(crd)
	if err != nil {
		panic(err)
	}
	delete(object, "status")
	u := &unstructured.Unstructured{Object: object}
	u.SetGroupVersionKind(apiextensionsv1.SchemeGroupVersion.WithKind("CustomResourceDefinition"))
	return u
}

// tryDefine creates the definition.
func (c caller) tryDefine(d definition) error {
	c.t.Helper()
	_, err := c.resource(customResourceDefinitions).Create(c.t.Context(), d.object(), metav1.CreateOptions{})
	return err
}

// define creates the definition and waits until it is served.
func (c caller) define(d definition) {
	c.t.Helper()
	ok(c.t, c.tryDefine(d))
	eventually(c.t, d.plural+"."+d.group+" is served", func() error {
		if a := c.get(d.url("")); a.code != http.StatusOK {
			return fmt.Errorf("got %d %s", a.code, a.body)
		}
		return nil
	})
}

// createObject creates an empty object, in the namespace default if it needs one.
func (c caller) createObject(d definition, name string) error {
	c.t.Helper()
	object := &unstructured.Unstructured{Object: map[string]any{}}
	object.SetAPIVersion(d.group + "/v1")
	object.SetKind(d.kind)
	object.SetName(name)
	if d.namespaced {
		_, err := c.resource(d.resource()).Namespace("default").Create(c.t.Context(), object, metav1.CreateOptions{})
		return err
	}
	_, err := c.resource(d.resource()).Create(c.t.Context(), object, metav1.CreateOptions{})
	return err
}
