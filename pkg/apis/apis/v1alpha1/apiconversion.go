package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// APIConversion says how objects change between the versions of the APIResourceSchema
// that has its name, in the same workspace.
//
// +kubebuilder:object:root=true
// +kubebuilder:resource:scope=Cluster,categories=kcp
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
type APIConversion struct {
	metav1.TypeMeta `json:",inline"`
	// +required
	metav1.ObjectMeta `json:"metadata"`

	// +required
	Spec APIConversionSpec `json:"spec"`
}

// APIConversionSpec is the conversions between versions.
type APIConversionSpec struct {
	// conversions are from one version to another, each in one direction.
	//
	// +required
	// +listType=map
	// +listMapKey=from
	// +listMapKey=to
	Conversions []APIVersionConversion `json:"conversions"`
}

// APIVersionConversion is the conversion from one version to another.
type APIVersionConversion struct {
	// from is the version that objects have.
	//
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:Pattern=`^v[1-9][0-9]*([a-z]+[1-9][0-9]*)?$`
	From string `json:"from"`

	// to is the version that is wanted.
	//
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:Pattern=`^v[1-9][0-9]*([a-z]+[1-9][0-9]*)?$`
	To string `json:"to"`

	// rules say which field becomes which. Fields that no rule names stay as they are,
	// where the other version has them.
	//
	// +optional
	// +listType=map
	// +listMapKey=destination
	Rules []APIConversionRule `json:"rules,omitempty"`

	// preserve are the paths of fields that the other version does not have. Their values
	// are kept in an annotation until the object is converted back.
	//
	// +optional
	Preserve []string `json:"preserve,omitempty"`
}

// APIConversionRule says what a field becomes.
type APIConversionRule struct {
	// field is the path of the field in the version that objects have, such as
	// spec.size.
	//
	// +required
	// +kubebuilder:validation:MinLength=1
	Field string `json:"field"`

	// destination is the path of the field in the version that is wanted.
	//
	// +required
	// +kubebuilder:validation:MinLength=1
	Destination string `json:"destination"`

	// transformation is a CEL expression for the new value, in which self is the value of
	// the field. Without one the value is taken as it is.
	//
	// +optional
	Transformation string `json:"transformation,omitempty"`
}

// APIConversionList is a list of APIConversions.
//
// +kubebuilder:object:root=true
type APIConversionList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata"`

	Items []APIConversion `json:"items"`
}
