package builtin

import (
	"errors"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/cel/openapi/resolver"
)

func TestTypeConverterKnowsBuiltinKinds(t *testing.T) {
	converter, err := TypesOf(false).TypeConverter()
	if err != nil {
		t.Fatal(err)
	}
	object := &corev1.Namespace{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Namespace"}}
	if _, err := converter.ObjectToTyped(object); err != nil {
		t.Error(err)
	}
	object.Kind = "Pod"
	if _, err := converter.ObjectToTyped(object); err == nil {
		t.Error("a kind that is not served has a structure")
	}
}

func TestSchemaHasAllThatItRefersTo(t *testing.T) {
	kind := schema.GroupVersionKind{Group: "coordination.k8s.io", Version: "v1", Kind: "Lease"}
	found, err := TypesOf(false).Schema(kind)
	if err != nil {
		t.Fatal(err)
	}
	metadata, spec := found.Properties["metadata"], found.Properties["spec"]
	if len(metadata.Properties["name"].Type) == 0 || len(spec.Properties["leaseTransitions"].Type) == 0 {
		t.Errorf("the schema of a lease still refers to others: %+v", found)
	}
	kind.Kind = "Nothing"
	if _, err := TypesOf(false).Schema(kind); !errors.Is(err, resolver.ErrSchemaNotFound) {
		t.Errorf("the schema of a kind that there is not: %v", err)
	}
}
