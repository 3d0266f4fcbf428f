package boundcrd

import (
	"fmt"
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// TestRememberedIsBounded: how much is remembered is not for those to say who write
// schemas.
func TestRememberedIsBounded(t *testing.T) {
	const limit = 100 << 10
	d := newDefinitions(limit)
	write := func(uid string, version, size int) {
		t.Helper()
		crd := &apiextensionsv1.CustomResourceDefinition{
			ObjectMeta: metav1.ObjectMeta{UID: types.UID(uid), ResourceVersion: fmt.Sprint(version)},
			Spec: apiextensionsv1.CustomResourceDefinitionSpec{Versions: []apiextensionsv1.CustomResourceDefinitionVersion{{
				Name: "v1", Schema: &apiextensionsv1.CustomResourceValidation{
					OpenAPIV3Schema: &apiextensionsv1.JSONSchemaProps{Description: strings.Repeat("x", size)},
				},
			}}},
		}
		first, err := d.OfCRD(crd)
		if err != nil {
			t.Fatal(err)
		}
		if again, err := d.OfCRD(crd); err != nil || (again == first) != (size < limit) {
			t.Errorf("%d bytes: remembered %v, error %v", size, again == first, err)
		}
	}
	for version := range 10 {
		write("one", version, 10<<10)
	}
	if d.made.Len() != 1 || d.size > 11<<10 {
		t.Errorf("%d versions of one definition are remembered, %d bytes", d.made.Len(), d.size)
	}
	for i := range 100 {
		write(fmt.Sprint(i), 1, 10<<10)
	}
	if d.size > limit || d.size < limit/2 {
		t.Errorf("%d bytes are remembered of at most %d", d.size, limit)
	}
	write("big", 1, 2*limit)
	if d.size != 0 || d.made.Len() != 0 {
		t.Errorf("%d definitions of %d bytes are left", d.made.Len(), d.size)
	}
}
