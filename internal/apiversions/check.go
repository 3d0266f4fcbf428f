package apiversions

import (
	"errors"
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/forkless/kcp/pkg/apis/apis/v1alpha1"
	"github.com/forkless/kcp/pkg/apis/apis/v1alpha2"
)

// errClaimsMismatch is what is wrong with an annotation about claims that are not there.
var errClaimsMismatch = errors.New("permission claims defined in annotation do not match permission claims defined in spec")

// CheckAnnotations returns an error that says what is wrong with the annotations of an
// export in v1alpha1, which a client may have written by hand: they have to say something
// of what is in the spec, and nothing that the spec says otherwise. Exports in v1alpha2 are
// always right.
func CheckAnnotations(u *unstructured.Unstructured) error {
	if u.GroupVersionKind().Version != v1alpha1.GroupVersion.Version {
		return nil
	}
	export, err := read[v1alpha1.APIExport](u)
	if err != nil {
		return err
	}
	meta := metaFor(&export.ObjectMeta)
	others, err := take[v1alpha2.ResourceSchema](&meta, ResourceSchemasAnnotationKey)
	if err != nil {
		return err
	}
	named := map[string]bool{}
	for _, name := range export.Spec.LatestResourceSchemas {
		named[name] = true
	}
	for _, other := range others {
		if named[other.Schema] {
			return fmt.Errorf("duplicate resource schema %q", other.Schema)
		}
		named[other.Schema] = true
	}
	saved, err := take[v1alpha2.PermissionClaim](&meta, PermissionClaimsAnnotationKey)
	if err != nil {
		return err
	}
	claims := index(export.Spec.PermissionClaims, keyOf1)
	for i := range saved {
		if claims[keyOf2(&saved[i])] == nil {
			return errClaimsMismatch
		}
	}
	return nil
}
