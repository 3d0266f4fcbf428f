package apiconversion_test

import (
	"context"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/admission"

	"github.com/forkless/kcp/internal/admission/admissiontest"
	"github.com/forkless/kcp/internal/admission/apiconversion"
	apisv1alpha1 "github.com/forkless/kcp/pkg/apis/apis/v1alpha1"
	"github.com/forkless/kcp/pkg/logicalcluster"
)

const name = "today.widgets.example.com"

// stored is what there is in root.
type stored struct {
	schema     *apisv1alpha1.APIResourceSchema
	conversion *apisv1alpha1.APIConversion
}

func (s stored) Schema(_ context.Context, cluster logicalcluster.Name, called string) (*apisv1alpha1.APIResourceSchema, error) {
	if s.schema == nil || cluster != logicalcluster.Root || called != name {
		return nil, apierrors.NewNotFound(apisv1alpha1.Resource("apiresourceschemas"), called)
	}
	return s.schema, nil
}

func (s stored) Conversion(_ context.Context, cluster logicalcluster.Name, called string) (*apisv1alpha1.APIConversion, error) {
	if s.conversion == nil || cluster != logicalcluster.Root || called != name {
		return nil, apierrors.NewNotFound(apisv1alpha1.Resource("apiconversions"), called)
	}
	return s.conversion, nil
}

func schema() *apisv1alpha1.APIResourceSchema {
	version := func(name, field string) apisv1alpha1.APIResourceVersion {
		return apisv1alpha1.APIResourceVersion{Name: name, Served: true, Storage: name == "v2", Schema: runtime.RawExtension{
			Raw: []byte(`{"type":"object","properties":{"spec":{"type":"object","properties":{"` + field + `":{"type":"string"}}}}}`),
		}}
	}
	return &apisv1alpha1.APIResourceSchema{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec:       apisv1alpha1.APIResourceSchemaSpec{Versions: []apisv1alpha1.APIResourceVersion{version("v1", "a"), version("v2", "b")}},
	}
}

// conversion converts field to b, and b back.
func conversion(field string) *apisv1alpha1.APIConversion {
	rules := func(from, to, field, destination string) apisv1alpha1.APIVersionConversion {
		return apisv1alpha1.APIVersionConversion{From: from, To: to, Rules: []apisv1alpha1.APIConversionRule{{Field: field, Destination: destination}}}
	}
	return &apisv1alpha1.APIConversion{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: apisv1alpha1.APIConversionSpec{Conversions: []apisv1alpha1.APIVersionConversion{
			rules("v1", "v2", field, "spec.b"), rules("v2", "v1", "spec.b", field),
		}},
	}
}

func TestValidate(t *testing.T) {
	for name, tc := range map[string]struct {
		reason      string
		stored      stored
		object, old runtime.Object
		resource    string
		cluster     logicalcluster.Name
		// want is in the error; empty if there is none.
		want string
	}{
		"Fits": {
			reason: "rules that fit the schema",
			stored: stored{schema: schema()}, object: conversion("spec.a"), resource: "apiconversions",
		},
		"DoesNotFit": {
			reason: "rules for a field that the schema does not have",
			stored: stored{schema: schema()}, object: conversion("spec.c"), resource: "apiconversions",
			want: "no field spec.c",
		},
		"First": {
			reason: "rules may come before their schema",
			object: conversion("spec.c"), resource: "apiconversions",
		},
		"FirstAndWrong": {
			reason: "and be wrong for any schema",
			object: conversion("metadata.name"), resource: "apiconversions",
			want: "same in all versions",
		},
		"Elsewhere": {
			reason: "a schema of another workspace is another schema",
			stored: stored{schema: schema()}, object: conversion("spec.c"), resource: "apiconversions",
			cluster: logicalcluster.SystemShard,
		},
		"Unchanged": {
			reason: "rules that are there already are left alone",
			stored: stored{schema: schema()}, object: conversion("spec.c"), old: conversion("spec.c"), resource: "apiconversions",
		},
		"Changed": {
			reason: "changed ones are not",
			stored: stored{schema: schema()}, object: conversion("spec.c"), old: conversion("spec.a"), resource: "apiconversions",
			want: "no field spec.c",
		},
		"SchemaFits": {
			reason: "a schema for rules that are there",
			stored: stored{conversion: conversion("spec.a")}, object: schema(), resource: "apiresourceschemas",
		},
		"SchemaDoesNotFit": {
			reason: "a schema that rules do not fit",
			stored: stored{conversion: conversion("spec.c")}, object: schema(), resource: "apiresourceschemas",
			want: "does not fit the APIConversion",
		},
		"SchemaLabeled": {
			reason: "a schema can be labeled whatever the rules",
			stored: stored{conversion: conversion("spec.c")}, object: schema(), old: schema(), resource: "apiresourceschemas",
		},
	} {
		t.Run(name, func(t *testing.T) {
			cluster := tc.cluster
			if cluster.Empty() {
				cluster = logicalcluster.Root
			}
			r := admissiontest.Request{
				Resource:  apisv1alpha1.GroupVersion.WithResource(tc.resource),
				Operation: admission.Create,
				Object:    admissiontest.Unstructured(t, tc.object),
				Name:      "today.widgets.example.com",
			}
			if tc.old != nil {
				r.Operation, r.Old = admission.Update, admissiontest.Unstructured(t, tc.old)
			}
			err := apiconversion.New(tc.stored).Validate(admissiontest.In(t, cluster), r.Attributes(), nil)
			switch {
			case tc.want == "" && err != nil:
				t.Errorf("%s: refused: %v", tc.reason, err)
			case tc.want != "" && (err == nil || !strings.Contains(err.Error(), tc.want)):
				t.Errorf("%s: got %v, want %q", tc.reason, err, tc.want)
			case tc.want != "" && !apierrors.IsInvalid(err) && !apierrors.IsForbidden(err):
				t.Errorf("%s: %v is no Status of its kind", tc.reason, err)
			}
		})
	}
}
