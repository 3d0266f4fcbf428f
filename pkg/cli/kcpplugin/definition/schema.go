// Package definition makes APIResourceSchemas of CustomResourceDefinitions. It asks no
// server: what it makes depends on its arguments only.
//
// A schema is called "<prefix>.<plural>.<group>" and never changes, so another spec needs
// another prefix. Prefix derives one from the day and the content; Same says whether a
// schema that is there already will do.
package definition

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation"

	apisv1alpha1 "github.com/forkless/kcp/pkg/apis/apis/v1alpha1"
)

// coreGroup is how names call the group that has none.
const coreGroup = "core"

// hashLength is how many digits of the hash of a spec are part of a prefix.
const hashLength = 8

var prefixPattern = regexp.MustCompile(`^[a-z]([-a-z0-9]*[a-z0-9])?$`)

// CheckPrefix says what is wrong with the prefix of a name, if anything.
func CheckPrefix(prefix string) error {
	if prefixPattern.MatchString(prefix) {
		return nil
	}
	return fmt.Errorf("the prefix %q has to begin with a letter, to consist of lower-case letters, digits and \"-\", and not to end in \"-\"", prefix)
}

// Prefix returns the prefix for a spec that is new today: v<yymmdd>-<hash>.
func Prefix(spec apisv1alpha1.APIResourceSchemaSpec, today time.Time) (string, error) {
	content, err := json.Marshal(spec)
	if err != nil {
		return "", err
	}
	hash := sha256.Sum256(content)
	return "v" + today.UTC().Format("060102") + "-" + hex.EncodeToString(hash[:])[:hashLength], nil
}

// Suffix returns what the names of all schemas of a resource end in.
func Suffix(spec apisv1alpha1.APIResourceSchemaSpec) string {
	if spec.Group == "" {
		return spec.Names.Plural + "." + coreGroup
	}
	return spec.Names.Plural + "." + spec.Group
}

// New returns the schema of a spec, with a name that begins with prefix.
func New(spec apisv1alpha1.APIResourceSchemaSpec, prefix string) (*apisv1alpha1.APIResourceSchema, error) {
	name := prefix + "." + Suffix(spec)
	if problems := validation.IsDNS1123Subdomain(name); len(problems) > 0 {
		return nil, fmt.Errorf("the name %q: %s", name, strings.Join(problems, ", "))
	}
	return &apisv1alpha1.APIResourceSchema{
		TypeMeta:   metav1.TypeMeta{APIVersion: apisv1alpha1.GroupVersion.String(), Kind: "APIResourceSchema"},
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec:       spec,
	}, nil
}

// Spec returns what crd describes as the spec of a schema.
func Spec(crd *apiextensionsv1.CustomResourceDefinition) (apisv1alpha1.APIResourceSchemaSpec, error) {
	definition := crd.Spec.DeepCopy()
	conversion, err := conversionOf(definition)
	if err != nil {
		return apisv1alpha1.APIResourceSchemaSpec{}, fmt.Errorf("CustomResourceDefinition %s: %w", crd.Name, err)
	}
	// A server would fill in the names that are left out; a schema has to have them.
	apiextensionsv1.SetDefaults_CustomResourceDefinitionSpec(definition)
	spec := apisv1alpha1.APIResourceSchemaSpec{
		Group:      definition.Group,
		Names:      definition.Names,
		Scope:      definition.Scope,
		Conversion: conversion,
	}
	if spec.Group == coreGroup {
		spec.Group = ""
	}
	if crd.Name != Suffix(spec) {
		return apisv1alpha1.APIResourceSchemaSpec{}, fmt.Errorf("CustomResourceDefinition %s: it would have to be called %s", crd.Name, Suffix(spec))
	}
	for i := range definition.Versions {
		version, err := versionOf(&definition.Versions[i])
		if err != nil {
			return apisv1alpha1.APIResourceSchemaSpec{}, fmt.Errorf("CustomResourceDefinition %s, version %s: %w", crd.Name, definition.Versions[i].Name, err)
		}
		spec.Versions = append(spec.Versions, version)
	}
	if len(spec.Versions) == 0 {
		return apisv1alpha1.APIResourceSchemaSpec{}, fmt.Errorf("CustomResourceDefinition %s: it has no versions", crd.Name)
	}
	return spec, nil
}

func versionOf(v *apiextensionsv1.CustomResourceDefinitionVersion) (apisv1alpha1.APIResourceVersion, error) {
	if v.Schema == nil || v.Schema.OpenAPIV3Schema == nil {
		return apisv1alpha1.APIResourceVersion{}, errors.New("it has no schema")
	}
	raw, err := json.Marshal(v.Schema.OpenAPIV3Schema)
	if err != nil {
		return apisv1alpha1.APIResourceVersion{}, err
	}
	version := apisv1alpha1.APIResourceVersion{
		Name:                     v.Name,
		Served:                   v.Served,
		Storage:                  v.Storage,
		Deprecated:               v.Deprecated,
		DeprecationWarning:       v.DeprecationWarning,
		Schema:                   runtime.RawExtension{Raw: raw},
		AdditionalPrinterColumns: v.AdditionalPrinterColumns,
		SelectableFields:         v.SelectableFields,
	}
	if v.Subresources != nil {
		version.Subresources = *v.Subresources
	}
	return version, nil
}

// conversionOf returns how versions are converted. A webhook is reached by its URL: what
// is called a service in one cluster is nothing in another.
func conversionOf(definition *apiextensionsv1.CustomResourceDefinitionSpec) (*apisv1alpha1.CustomResourceConversion, error) {
	conversion := definition.Conversion
	several := len(definition.Versions) > 1
	switch {
	case conversion == nil && several:
		return nil, errors.New("it has several versions and says nothing about conversion between them (spec.conversion)")
	case conversion == nil:
		return nil, nil
	case conversion.Strategy == apiextensionsv1.NoneConverter && !several:
		// A server adds this to every definition; it says nothing.
		return nil, nil
	case conversion.Strategy == apiextensionsv1.NoneConverter:
		return &apisv1alpha1.CustomResourceConversion{Strategy: apisv1alpha1.ConversionNone}, nil
	case conversion.Strategy != apiextensionsv1.WebhookConverter:
		return nil, fmt.Errorf("its conversion strategy %q is unknown", conversion.Strategy)
	}
	webhook := conversion.Webhook
	switch {
	case webhook == nil || webhook.ClientConfig == nil:
		return nil, errors.New("its conversion webhook has no address")
	case webhook.ClientConfig.Service != nil:
		return nil, errors.New("its conversion webhook is a service of one cluster, which cannot be reached from others; it has to be a URL")
	case webhook.ClientConfig.URL == nil || *webhook.ClientConfig.URL == "":
		return nil, errors.New("its conversion webhook has no URL")
	}
	return &apisv1alpha1.CustomResourceConversion{
		Strategy: apisv1alpha1.ConversionWebhook,
		Webhook: &apisv1alpha1.WebhookConversion{
			ClientConfig: &apisv1alpha1.WebhookClientConfig{
				URL:      *webhook.ClientConfig.URL,
				CABundle: webhook.ClientConfig.CABundle,
			},
			ConversionReviewVersions: webhook.ConversionReviewVersions,
		},
	}, nil
}

// Same says whether a and b describe the same, though one of them may have been through
// a server, which fills in defaults and orders fields its own way.
func Same(a, b apisv1alpha1.APIResourceSchemaSpec) bool {
	x, errX := normalize(a)
	y, errY := normalize(b)
	return errX == nil && errY == nil && equality.Semantic.DeepEqual(x, y)
}

func normalize(spec apisv1alpha1.APIResourceSchemaSpec) (map[string]any, error) {
	if spec.NameValidation == "" {
		spec.NameValidation = apisv1alpha1.NameValidationDNS1123Subdomain
	}
	content, err := json.Marshal(spec)
	if err != nil {
		return nil, err
	}
	var fields map[string]any
	return fields, json.Unmarshal(content, &fields)
}
