package apibinding

import (
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/forkless/kcp/internal/admission/claim"
	apisv1alpha2 "github.com/forkless/kcp/pkg/apis/apis/v1alpha2"
)

// claimKey is what tells the answers of a binding apart.
type claimKey struct{ group, resource, identityHash string }

func keyOf(c *apisv1alpha2.AcceptablePermissionClaim) claimKey {
	return claimKey{c.Group, c.Resource, c.IdentityHash}
}

// validate checks what a binding says by itself.
func validate(b *apisv1alpha2.APIBinding) field.ErrorList {
	var errs field.ErrorList
	reference := field.NewPath("spec", "reference", "export")
	switch export := b.Spec.Reference.Export; {
	case export == nil:
		errs = append(errs, field.Required(reference, ""))
	case export.Name == "":
		errs = append(errs, field.Required(reference.Child("name"), ""))
	}
	path, seen := field.NewPath("spec", "permissionClaims"), sets.New[claimKey]()
	for i := range b.Spec.PermissionClaims {
		c, path := &b.Spec.PermissionClaims[i], path.Index(i)
		if seen.Has(keyOf(c)) {
			errs = append(errs, field.Duplicate(path, c.Resource+"."+c.Group))
		}
		seen.Insert(keyOf(c))
		errs = append(errs, claim.Validate(&c.PermissionClaim, path)...)
		errs = append(errs, claim.ValidateSelector(&c.Selector, path.Child("selector"))...)
	}
	return errs
}

// validateUpdate checks that selectors stay what they are in answers to claims that have
// both a group and an identity. Those of the others may change, which clients rely on.
func validateUpdate(b, old *apisv1alpha2.APIBinding) error {
	if old == nil {
		return nil
	}
	before := map[claimKey]*apisv1alpha2.AcceptablePermissionClaim{}
	for i := range old.Spec.PermissionClaims {
		c := &old.Spec.PermissionClaims[i]
		before[keyOf(c)] = c
	}
	var errs field.ErrorList
	for i := range b.Spec.PermissionClaims {
		c := &b.Spec.PermissionClaims[i]
		was := before[keyOf(c)]
		if was == nil || c.Group == "" || c.IdentityHash == "" || equality.Semantic.DeepEqual(was.Selector, c.Selector) {
			continue
		}
		path := field.NewPath("spec", "permissionClaims").Index(i).Child("selector")
		errs = append(errs, field.Invalid(path, field.OmitValueType{}, "Permission claim selector is immutable"))
	}
	if len(errs) == 0 {
		return nil
	}
	return apierrors.NewInvalid(apisv1alpha2.GroupVersion.WithKind("APIBinding").GroupKind(), b.Name, errs)
}
