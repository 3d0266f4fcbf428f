package exports

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	apisv1alpha1 "github.com/forkless/kcp/pkg/apis/apis/v1alpha1"
)

// prefixLength is how much of the hash of a schema its name begins with.
const prefixLength = 12

// schemaOf returns the schema that describes what a definition does. Only what our own
// definitions have is taken over: one version, without conversion.
func schemaOf(crd *apiextensionsv1.CustomResourceDefinition) (*apisv1alpha1.APIResourceSchema, error) {
	spec := apisv1alpha1.APIResourceSchemaSpec{
		Group:          crd.Spec.Group,
		Names:          crd.Spec.Names,
		Scope:          crd.Spec.Scope,
		NameValidation: apisv1alpha1.NameValidationDNS1123Subdomain,
	}
	if count := len(crd.Spec.Versions); count != 1 {
		return nil, fmt.Errorf("%s has %d versions and nothing says how to convert between them", crd.Name, count)
	}
	for i := range crd.Spec.Versions {
		version, err := versionOf(&crd.Spec.Versions[i])
		if err != nil {
			return nil, fmt.Errorf("%s: %w", crd.Name, err)
		}
		spec.Versions = append(spec.Versions, version)
	}
	content, err := json.Marshal(spec)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", crd.Name, err)
	}
	sum := sha256.Sum256(content)
	return &apisv1alpha1.APIResourceSchema{
		TypeMeta: metav1.TypeMeta{APIVersion: apisv1alpha1.GroupVersion.String(), Kind: "APIResourceSchema"},
		// A prefix begins with a letter.
		ObjectMeta: metav1.ObjectMeta{Name: "v" + hex.EncodeToString(sum[:])[:prefixLength] + "." + crd.Name},
		Spec:       spec,
	}, nil
}

func versionOf(version *apiextensionsv1.CustomResourceDefinitionVersion) (apisv1alpha1.APIResourceVersion, error) {
	raw, err := json.Marshal(version.Schema.OpenAPIV3Schema)
	if err != nil {
		return apisv1alpha1.APIResourceVersion{}, fmt.Errorf("version %s: %w", version.Name, err)
	}
	described := apisv1alpha1.APIResourceVersion{
		Name:                     version.Name,
		Served:                   version.Served,
		Storage:                  version.Storage,
		Deprecated:               version.Deprecated,
		DeprecationWarning:       version.DeprecationWarning,
		Schema:                   runtime.RawExtension{Raw: raw},
		AdditionalPrinterColumns: version.AdditionalPrinterColumns,
		SelectableFields:         version.SelectableFields,
	}
	if version.Subresources != nil {
		described.Subresources = *version.Subresources
	}
	return described, nil
}
