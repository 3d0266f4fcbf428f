package compiled

import (
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

var ageColumn = apiextensionsv1.CustomResourceColumnDefinition{
	Name:        "Age",
	Type:        "date",
	Description: metav1.ObjectMeta{}.SwaggerDoc()["creationTimestamp"],
	JSONPath:    ".metadata.creationTimestamp",
}

// columns returns the columns objects are printed with.
func columns(version *apiextensionsv1.CustomResourceDefinitionVersion) []apiextensionsv1.CustomResourceColumnDefinition {
	if len(version.AdditionalPrinterColumns) > 0 {
		return version.AdditionalPrinterColumns
	}
	return []apiextensionsv1.CustomResourceColumnDefinition{ageColumn}
}

// scaleColumns returns the columns the scale subresource is printed with. The paths
// are those of a Scale, not those of the object it is made from.
func scaleColumns(scale *apiextensionsv1.CustomResourceSubresourceScale) []apiextensionsv1.CustomResourceColumnDefinition {
	var columns []apiextensionsv1.CustomResourceColumnDefinition
	if scale.SpecReplicasPath != "" {
		columns = append(columns, apiextensionsv1.CustomResourceColumnDefinition{
			Name: "Desired", Type: "integer", Description: "Number of desired replicas", JSONPath: ".spec.replicas",
		})
	}
	if scale.StatusReplicasPath != "" {
		columns = append(columns, apiextensionsv1.CustomResourceColumnDefinition{
			Name: "Available", Type: "integer", Description: "Number of actual replicas", JSONPath: ".status.replicas",
		})
	}
	return append(columns, ageColumn)
}
