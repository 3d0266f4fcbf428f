package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// WorkspaceAuthenticationConfiguration lets users of further token issuers into the
// workspaces of a type. It takes effect through
// WorkspaceType.spec.authenticationConfigurations.
//
// +kubebuilder:object:root=true
// +kubebuilder:resource:scope=Cluster,categories=kcp
type WorkspaceAuthenticationConfiguration struct {
	metav1.TypeMeta `json:",inline"`
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// +required
	Spec WorkspaceAuthenticationConfigurationSpec `json:"spec"`
}

// WorkspaceAuthenticationConfigurationSpec lists the issuers.
type WorkspaceAuthenticationConfigurationSpec struct {
	// jwt are authenticators for JSON web tokens, as Kubernetes' structured
	// authentication configuration has them.
	//
	// +required
	JWT []JWTAuthenticator `json:"jwt"`
}

// JWTAuthenticator turns tokens of one issuer into users.
type JWTAuthenticator struct {
	// issuer is who signs the tokens, and how to check that.
	//
	// +required
	Issuer Issuer `json:"issuer"`

	// claimValidationRules must all hold for the claims of a token.
	//
	// +optional
	ClaimValidationRules []ClaimValidationRule `json:"claimValidationRules,omitempty"`

	// claimMappings say how claims become the attributes of a user.
	//
	// +required
	ClaimMappings ClaimMappings `json:"claimMappings"`

	// userValidationRules must all hold for the user.
	//
	// +optional
	UserValidationRules []UserValidationRule `json:"userValidationRules,omitempty"`
}

// Issuer is who signs tokens.
type Issuer struct {
	// url is compared with the claim "iss", and where discovery begins.
	//
	// +required
	URL string `json:"url"`

	// discoveryURL is where discovery begins if it is not at url.
	//
	// +optional
	DiscoveryURL string `json:"discoveryURL,omitempty"`

	// certificateAuthority holds, in PEM, the certificates to check the issuer's server
	// with. If it is left out, those of the system are used.
	//
	// +optional
	CertificateAuthority string `json:"certificateAuthority,omitempty"`

	// audiences are compared with the claim "aud".
	//
	// +optional
	Audiences []string `json:"audiences,omitempty"`

	// audienceMatchPolicy says how. MatchAny: one must agree.
	//
	// +optional
	AudienceMatchPolicy AudienceMatchPolicy `json:"audienceMatchPolicy,omitempty"`
}

// AudienceMatchPolicy says how audiences are compared.
// +kubebuilder:validation:Enum=MatchAny
type AudienceMatchPolicy string

// AudienceMatchPolicyMatchAny wants one of the audiences to agree.
const AudienceMatchPolicyMatchAny AudienceMatchPolicy = "MatchAny"

// ClaimValidationRule is a condition on the claims of a token: a claim with a value,
// or an expression with a message.
//
// +kubebuilder:validation:XValidation:rule="has(self.claim) || has(self.expression)",message="either claim or expression must be specified"
// +kubebuilder:validation:XValidation:rule="!(has(self.claim) && has(self.expression))",message="claim and expression cannot both be specified"
// +kubebuilder:validation:XValidation:rule="has(self.claim) == has(self.requiredValue)",message="requiredValue must be specified with claim, and only then"
// +kubebuilder:validation:XValidation:rule="has(self.expression) == has(self.message)",message="message must be specified with expression, and only then"
type ClaimValidationRule struct {
	// claim is the name of the claim to look at.
	//
	// +optional
	Claim string `json:"claim,omitempty"`

	// requiredValue is what the claim must be.
	//
	// +optional
	RequiredValue *string `json:"requiredValue,omitempty"`

	// expression in CEL over claims that must be true.
	//
	// +optional
	Expression string `json:"expression,omitempty"`

	// message says what is wrong if the expression is false.
	//
	// +optional
	Message string `json:"message,omitempty"`
}

// ClaimMappings say how claims become the attributes of a user.
type ClaimMappings struct {
	// username is the name of the user.
	//
	// +required
	Username PrefixedClaimOrExpression `json:"username"`

	// groups are the groups the user is in.
	//
	// +optional
	Groups *PrefixedClaimOrExpression `json:"groups,omitempty"`

	// uid is the UID of the user.
	//
	// +optional
	UID *ClaimOrExpression `json:"uid,omitempty"`

	// extra are further attributes of the user.
	//
	// +optional
	Extra []ExtraMapping `json:"extra,omitempty"`
}

// PrefixedClaimOrExpression is a value taken from a claim, with a prefix, or from an
// expression.
//
// +kubebuilder:validation:XValidation:rule="has(self.claim) || has(self.expression)",message="either claim or expression must be specified"
// +kubebuilder:validation:XValidation:rule="!(has(self.claim) && has(self.expression))",message="claim and expression cannot both be specified"
// +kubebuilder:validation:XValidation:rule="!has(self.prefix) || has(self.claim)",message="prefix can only be specified when claim is specified"
type PrefixedClaimOrExpression struct {
	// claim is the name of the claim that holds the value.
	//
	// +optional
	Claim string `json:"claim,omitempty"`

	// prefix is put before the value of the claim.
	//
	// +optional
	Prefix *string `json:"prefix,omitempty"`

	// expression in CEL over claims that yields the value.
	//
	// +optional
	Expression string `json:"expression,omitempty"`
}

// ClaimOrExpression is a value taken from a claim or from an expression.
//
// +kubebuilder:validation:XValidation:rule="!(has(self.claim) && has(self.expression))",message="claim and expression cannot both be specified"
type ClaimOrExpression struct {
	// claim is the name of the claim that holds the value.
	//
	// +optional
	Claim string `json:"claim,omitempty"`

	// expression in CEL over claims that yields the value.
	//
	// +optional
	Expression string `json:"expression,omitempty"`
}

// ExtraMapping is a further attribute of a user.
type ExtraMapping struct {
	// key of the attribute.
	//
	// +required
	Key string `json:"key"`

	// valueExpression in CEL over claims that yields the value.
	//
	// +required
	ValueExpression string `json:"valueExpression"`
}

// UserValidationRule is a condition on the user.
type UserValidationRule struct {
	// expression in CEL over user that must be true.
	//
	// +required
	Expression string `json:"expression"`

	// message says what is wrong if the expression is false.
	//
	// +required
	Message string `json:"message"`
}

// WorkspaceAuthenticationConfigurationList is a list of
// WorkspaceAuthenticationConfigurations.
//
// +kubebuilder:object:root=true
type WorkspaceAuthenticationConfigurationList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata"`

	Items []WorkspaceAuthenticationConfiguration `json:"items"`
}
