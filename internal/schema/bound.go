package schema

import (
	"encoding/json"
	"errors"
	"fmt"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	apisv1alpha1 "github.com/forkless/kcp/pkg/apis/apis/v1alpha1"
	"github.com/forkless/kcp/pkg/logicalcluster"
)

// pathSegment is the value of the annotation that relaxes the rule for names.
const pathSegment = "path-segment"

// apiApprovedAnnotation is what definitions in groups of the Kubernetes project need.
const apiApprovedAnnotation = apiextensionsv1.KubeAPIApprovedAnnotation

// BoundCRD returns the definition that a schema of a cluster becomes when it is bound. It
// is called as the UID of the schema, which is unique over all clusters. conversion is the
// APIConversion of the schema's name; nil if there is none. Neither is changed or
// retained.
func BoundCRD(s *apisv1alpha1.APIResourceSchema, cluster logicalcluster.Name, conversion *apisv1alpha1.APIConversion) (*apiextensionsv1.CustomResourceDefinition, error) {
	if s.UID == "" {
		return nil, fmt.Errorf("schema %s has no UID", s.Name)
	}
	crd := &apiextensionsv1.CustomResourceDefinition{
		ObjectMeta: metav1.ObjectMeta{
			Name: string(s.UID),
			Annotations: map[string]string{
				apisv1alpha1.AnnotationBoundCRDKey:      "",
				apisv1alpha1.AnnotationSchemaClusterKey: cluster.String(),
				apisv1alpha1.AnnotationSchemaNameKey:    s.Name,
			},
		},
		Spec: apiextensionsv1.CustomResourceDefinitionSpec{
			Group: s.Spec.Group,
			Names: *s.Spec.Names.DeepCopy(),
			Scope: s.Spec.Scope,
		},
	}
	if approved, ok := s.Annotations[apiApprovedAnnotation]; ok {
		crd.Annotations[apiApprovedAnnotation] = approved
	}
	if s.Spec.NameValidation == apisv1alpha1.NameValidationPathSegment {
		crd.Annotations[apisv1alpha1.AnnotationValidateNameKey] = pathSegment
	}
	for i := range s.Spec.Versions {
		version, err := boundVersion(&s.Spec.Versions[i])
		if err != nil {
			return nil, fmt.Errorf("schema %s, version %s: %w", s.Name, s.Spec.Versions[i].Name, err)
		}
		crd.Spec.Versions = append(crd.Spec.Versions, version)
	}
	if err := addConversion(crd, s, conversion); err != nil {
		return nil, fmt.Errorf("schema %s: %w", s.Name, err)
	}
	apiextensionsv1.SetObjectDefaults_CustomResourceDefinition(crd)
	crd.Status.AcceptedNames = *crd.Spec.Names.DeepCopy()
	if version, ok := storageVersion(&crd.Spec); ok {
		crd.Status.StoredVersions = []string{version}
	}
	return crd, nil
}

func boundVersion(version *apisv1alpha1.APIResourceVersion) (apiextensionsv1.CustomResourceDefinitionVersion, error) {
	version = version.DeepCopy()
	props := &apiextensionsv1.JSONSchemaProps{}
	if err := json.Unmarshal(version.Schema.Raw, props); err != nil {
		return apiextensionsv1.CustomResourceDefinitionVersion{}, fmt.Errorf("reading the schema: %w", err)
	}
	bound := apiextensionsv1.CustomResourceDefinitionVersion{
		Name:                     version.Name,
		Served:                   version.Served,
		Storage:                  version.Storage,
		Deprecated:               version.Deprecated,
		DeprecationWarning:       version.DeprecationWarning,
		Schema:                   &apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: props},
		AdditionalPrinterColumns: version.AdditionalPrinterColumns,
		SelectableFields:         version.SelectableFields,
	}
	if version.Subresources.Status != nil || version.Subresources.Scale != nil {
		bound.Subresources = &version.Subresources
	}
	return bound, nil
}

// addConversion says how objects are converted between the versions of crd. One version
// needs no conversion, whatever the schema says.
func addConversion(crd *apiextensionsv1.CustomResourceDefinition, s *apisv1alpha1.APIResourceSchema, conversion *apisv1alpha1.APIConversion) error {
	if len(crd.Spec.Versions) < 2 || s.Spec.Conversion == nil {
		return nil
	}
	switch s.Spec.Conversion.Strategy {
	case apisv1alpha1.ConversionWebhook:
		return addWebhook(crd, s.Spec.Conversion.Webhook)
	default:
		crd.Spec.Conversion = &apiextensionsv1.CustomResourceConversion{Strategy: apiextensionsv1.NoneConverter}
		if conversion == nil {
			return nil
		}
		rules, err := json.Marshal(conversion.Spec)
		if err != nil {
			return fmt.Errorf("writing conversion rules: %w", err)
		}
		crd.Annotations[apisv1alpha1.AnnotationConversionRulesKey] = string(rules)
		return nil
	}
}

func addWebhook(crd *apiextensionsv1.CustomResourceDefinition, webhook *apisv1alpha1.WebhookConversion) error {
	if webhook == nil || webhook.ClientConfig == nil || webhook.ClientConfig.URL == "" {
		return errors.New("the conversion webhook has no URL")
	}
	url := webhook.ClientConfig.URL
	crd.Spec.Conversion = &apiextensionsv1.CustomResourceConversion{
		Strategy: apiextensionsv1.WebhookConverter,
		Webhook: &apiextensionsv1.WebhookConversion{
			ClientConfig:             &apiextensionsv1.WebhookClientConfig{URL: &url, CABundle: webhook.ClientConfig.CABundle},
			ConversionReviewVersions: webhook.ConversionReviewVersions,
		},
	}
	return nil
}

// BoundResource returns the resource that a schema describes.
func BoundResource(s *apisv1alpha1.APIResourceSchema) schema.GroupResource {
	return schema.GroupResource{Group: s.Spec.Group, Resource: s.Spec.Names.Plural}
}

// rulesOf returns the conversion rules in the annotations of a bound definition.
func rulesOf(crd *apiextensionsv1.CustomResourceDefinition) (*apisv1alpha1.APIConversionSpec, error) {
	raw, ok := crd.Annotations[apisv1alpha1.AnnotationConversionRulesKey]
	if !ok {
		return nil, nil
	}
	rules := &apisv1alpha1.APIConversionSpec{}
	if err := json.Unmarshal([]byte(raw), rules); err != nil {
		return nil, fmt.Errorf("definition %q: reading conversion rules: %w", crd.Name, err)
	}
	return rules, nil
}

func hasPathSegmentNames(crd *apiextensionsv1.CustomResourceDefinition) bool {
	return crd.Annotations[apisv1alpha1.AnnotationValidateNameKey] == pathSegment
}
