package v1alpha1

// APIExportPermissionClaimLabelPrefix and the hash of an export make the label by which
// the objects are known that the export may see. Its value says by which claim.
const APIExportPermissionClaimLabelPrefix = "claimed.internal.apis.kcp.io/"

// InternalAPIBindingExportLabelKey is the label of an APIBinding with the hash of its
// export.
const InternalAPIBindingExportLabelKey = "internal.apis.kcp.io/export"

// APIBindingFinalizer keeps an APIBinding until the instances of what it binds are gone.
const APIBindingFinalizer = "apis.kcp.io/apibinding-finalizer"

// ResourceBindingsAnnotationKey is the annotation of a LogicalCluster that says which
// binding, or definition, owns which resource.
const ResourceBindingsAnnotationKey = "internal.apis.kcp.io/resource-bindings"

// AnnotationAPIExportExtraKeyPrefix begins the annotations of an export that all its
// bindings get.
const AnnotationAPIExportExtraKeyPrefix = "extra.apis.kcp.io/"

// APIExportEndpointSliceSkipKey is the annotation of an APIExport, or its label, that
// keeps an endpoint slice from being made for it.
const APIExportEndpointSliceSkipKey = "apiexports.apis.kcp.io/skip-endpointslice"

// Annotations of the definitions that bound schemas become.
const (
	// AnnotationBoundCRDKey marks them.
	AnnotationBoundCRDKey = "apis.kcp.io/bound-crd"
	// AnnotationSchemaClusterKey is the logical cluster of the schema.
	AnnotationSchemaClusterKey = "apis.kcp.io/schema-cluster"
	// AnnotationSchemaNameKey is the name of the schema.
	AnnotationSchemaNameKey = "apis.kcp.io/schema-name"
	// AnnotationConversionRulesKey holds the rules of the schema's APIConversion, as JSON.
	AnnotationConversionRulesKey = "apis.kcp.io/conversion-rules"
	// AnnotationValidateNameKey with the value "path-segment" relaxes the rule for names.
	AnnotationValidateNameKey = "internal.kcp.io/validate-name"
)

// MaximalPermissionPolicyRBACUserGroupPrefix begins the names of users and groups for
// whom the policy of an export is written.
const MaximalPermissionPolicyRBACUserGroupPrefix = "apis.kcp.io:binding:"

// PreservedAnnotationPrefix and a version make the annotation with the values of that
// version that the present one has no fields for.
const PreservedAnnotationPrefix = "preserve.conversion.apis.kcp.io/"

// SecretKeyAPIExportIdentity is the key of a secret's data with the identity of an export.
const SecretKeyAPIExportIdentity = "key"
