package v1alpha1

import (
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// APIResourceSchema describes a resource as a CustomResourceDefinition does, without
// serving it. It is called "<prefix>.<plural>.<group>", and its spec never changes: a
// changed schema is a new object with another prefix.
//
// +kubebuilder:object:root=true
// +kubebuilder:resource:scope=Cluster,categories=kcp
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
type APIResourceSchema struct {
	metav1.TypeMeta `json:",inline"`
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// +required
	Spec APIResourceSchemaSpec `json:"spec"`
}

// NameValidation says which names the objects of a resource may have.
// +kubebuilder:validation:Enum=DNS1123Subdomain;PathSegmentName
type NameValidation string

// The rules for names.
const (
	// NameValidationDNS1123Subdomain is the rule of custom resources.
	NameValidationDNS1123Subdomain NameValidation = "DNS1123Subdomain"
	// NameValidationPathSegment allows whatever can stand in a URL, as roles have it.
	NameValidationPathSegment NameValidation = "PathSegmentName"
)

// APIResourceSchemaSpec is the description of a resource.
//
// +kubebuilder:validation:XValidation:rule="size(self.versions) == 1 || (size(self.versions) > 1 && has(self.conversion))",message="Conversion must be specified when multiple versions exist"
type APIResourceSchemaSpec struct {
	// group is the API group of the resource, empty for the core group.
	//
	// +required
	Group string `json:"group"`

	// names of the resource and its kind.
	//
	// +required
	Names apiextensionsv1.CustomResourceDefinitionNames `json:"names"`

	// scope says whether the objects live in namespaces.
	//
	// +required
	// +kubebuilder:validation:Enum=Cluster;Namespaced
	Scope apiextensionsv1.ResourceScope `json:"scope"`

	// versions are the versions of the resource.
	//
	// +required
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MinItems=1
	Versions []APIResourceVersion `json:"versions"`

	// nameValidation says which names objects may have.
	//
	// +optional
	// +kubebuilder:default=DNS1123Subdomain
	NameValidation NameValidation `json:"nameValidation,omitempty"`

	// conversion says how objects are converted between versions. It is needed if there
	// is more than one.
	//
	// +optional
	Conversion *CustomResourceConversion `json:"conversion,omitempty"`
}

// APIResourceVersion is one version of a resource.
type APIResourceVersion struct {
	// name of the version, such as v1 or v2beta1.
	//
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:Pattern=`^v[1-9][0-9]*([a-z]+[1-9][0-9]*)?$`
	Name string `json:"name"`

	// served says whether clients may use the version.
	//
	// +required
	// +kubebuilder:default=true
	Served bool `json:"served"`

	// storage says that objects are stored in this version. Exactly one version does.
	//
	// +required
	Storage bool `json:"storage"`

	// deprecated makes every response in this version carry a warning.
	//
	// +optional
	Deprecated bool `json:"deprecated,omitempty"`

	// deprecationWarning is that warning, in place of one that is made up.
	//
	// +optional
	DeprecationWarning *string `json:"deprecationWarning,omitempty"`

	// schema is the structural OpenAPI v3 schema of the objects.
	//
	// +required
	// +kubebuilder:pruning:PreserveUnknownFields
	// +structType=atomic
	Schema runtime.RawExtension `json:"schema"`

	// subresources are status and scale, where objects have them.
	//
	// +optional
	Subresources apiextensionsv1.CustomResourceSubresources `json:"subresources,omitempty,omitzero"`

	// additionalPrinterColumns are the columns of tables beside the name.
	//
	// +optional
	// +listType=map
	// +listMapKey=name
	AdditionalPrinterColumns []apiextensionsv1.CustomResourceColumnDefinition `json:"additionalPrinterColumns,omitempty"`

	// selectableFields can be used in field selectors.
	//
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=8
	SelectableFields []apiextensionsv1.SelectableField `json:"selectableFields,omitempty"`
}

// CustomResourceConversion says how objects are converted between versions.
//
// +kubebuilder:validation:XValidation:rule="(self.strategy == 'None' && !has(self.webhook)) || (self.strategy == 'Webhook' && has(self.webhook))",message="Webhook must be specified if strategy=Webhook"
type CustomResourceConversion struct {
	// strategy is None, which changes nothing but the version unless an APIConversion
	// has the name of the schema, or Webhook.
	//
	// +required
	// +kubebuilder:validation:Enum=None;Webhook
	Strategy ConversionStrategyType `json:"strategy"`

	// webhook is who converts, if the strategy is Webhook.
	//
	// +optional
	Webhook *WebhookConversion `json:"webhook,omitempty"`
}

// ConversionStrategyType names a way to convert objects.
type ConversionStrategyType string

// The ways to convert objects.
const (
	// ConversionNone changes the version and nothing else.
	ConversionNone ConversionStrategyType = "None"
	// ConversionWebhook asks a server.
	ConversionWebhook ConversionStrategyType = "Webhook"
)

// WebhookConversion says which server converts.
type WebhookConversion struct {
	// clientConfig says where the server is.
	//
	// +optional
	ClientConfig *WebhookClientConfig `json:"clientConfig,omitempty"`

	// conversionReviewVersions are the versions of ConversionReview that the server
	// understands, the preferred one first.
	//
	// +required
	// +listType=atomic
	ConversionReviewVersions []string `json:"conversionReviewVersions"`
}

// WebhookClientConfig says where a server is. There are no services to refer to.
type WebhookClientConfig struct {
	// url of the server.
	//
	// +optional
	// +kubebuilder:validation:Format=uri
	URL string `json:"url,omitempty"`

	// caBundle are the certificates to know the server by, in PEM.
	//
	// +optional
	CABundle []byte `json:"caBundle,omitempty"`
}

// APIResourceSchemaList is a list of APIResourceSchemas.
//
// +kubebuilder:object:root=true
type APIResourceSchemaList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata"`

	Items []APIResourceSchema `json:"items"`
}
