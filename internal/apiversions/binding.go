package apiversions

import (
	"github.com/forkless/kcp/pkg/apis/apis/v1alpha1"
	"github.com/forkless/kcp/pkg/apis/apis/v1alpha2"
)

// BindingToV1alpha1 returns in as v1alpha1 shows it. It shares memory with in.
func BindingToV1alpha1(in *v1alpha2.APIBinding) *v1alpha1.APIBinding {
	out := &v1alpha1.APIBinding{ObjectMeta: metaFor(&in.ObjectMeta)}
	out.SetGroupVersionKind(v1alpha1.GroupVersion.WithKind("APIBinding"))
	out.Spec.Reference.Export = (*v1alpha1.ExportBindingReference)(in.Spec.Reference.Export)

	original := index(takeReadable[v1alpha1.PermissionClaim](&out.ObjectMeta, OriginalClaimsAnnotationKey), keyOf1)
	var kept []v1alpha2.AcceptablePermissionClaim
	for i := range in.Spec.PermissionClaims {
		c := &in.Spec.PermissionClaims[i]
		out.Spec.PermissionClaims = append(out.Spec.PermissionClaims, v1alpha1.AcceptablePermissionClaim{
			PermissionClaim: asScoped1(&c.ScopedPermissionClaim, original),
			State:           v1alpha1.AcceptablePermissionClaimState(c.State),
		})
		if !isForAll(&c.ScopedPermissionClaim) {
			kept = append(kept, *c)
		}
	}
	keep(&out.ObjectMeta, AcceptableClaimsAnnotationKey, kept)
	statusToV1alpha1(in, out)
	return out
}

func statusToV1alpha1(in *v1alpha2.APIBinding, out *v1alpha1.APIBinding) {
	out.Status.APIExportClusterName = in.Status.APIExportClusterName
	out.Status.Phase = v1alpha1.APIBindingPhase(in.Status.Phase)
	out.Status.Conditions = in.Status.Conditions
	for _, resource := range in.Status.BoundResources {
		out.Status.BoundResources = append(out.Status.BoundResources, v1alpha1.BoundAPIResource{
			Group: resource.Group, Resource: resource.Resource,
			Schema:          v1alpha1.BoundAPIResourceSchema(resource.Schema),
			StorageVersions: resource.StorageVersions,
		})
	}

	originals := takeReadable[v1alpha1.PermissionClaim](&out.ObjectMeta, OriginalStatusExportClaimsAnnotationKey)
	claims, kept := exportClaims1(in.Status.ExportPermissionClaims, originals)
	out.Status.ExportPermissionClaims = claims
	keep(&out.ObjectMeta, StatusExportClaimsAnnotationKey, kept)

	original := index(takeReadable[v1alpha1.PermissionClaim](&out.ObjectMeta, OriginalStatusAppliedClaimsAnnotationKey), keyOf1)
	var scoped []v1alpha2.ScopedPermissionClaim
	for i := range in.Status.AppliedPermissionClaims {
		c := &in.Status.AppliedPermissionClaims[i]
		out.Status.AppliedPermissionClaims = append(out.Status.AppliedPermissionClaims, asScoped1(c, original))
		if !isForAll(c) {
			scoped = append(scoped, *c)
		}
	}
	keep(&out.ObjectMeta, StatusAppliedClaimsAnnotationKey, scoped)
}

// asScoped1 returns c in v1alpha1. Originals named objects, which counts as all: once c is
// not for all any more, they say nothing of it.
func asScoped1(c *v1alpha2.ScopedPermissionClaim, originals map[claimKey]*v1alpha1.PermissionClaim) v1alpha1.PermissionClaim {
	original := originals[keyOf2(&c.PermissionClaim)]
	if !isMatchAll(&c.Selector) {
		original = nil
	}
	return asClaim1(&c.PermissionClaim, c.Selector.MatchAll, original)
}

// BindingToV1alpha2 returns in as v1alpha2 shows it and as it is stored. It shares memory
// with in. An error says what in the object cannot be understood.
func BindingToV1alpha2(in *v1alpha1.APIBinding) (*v1alpha2.APIBinding, error) {
	out := &v1alpha2.APIBinding{ObjectMeta: metaFor(&in.ObjectMeta)}
	out.SetGroupVersionKind(v1alpha2.GroupVersion.WithKind("APIBinding"))
	out.Spec.Reference.Export = (*v1alpha2.ExportBindingReference)(in.Spec.Reference.Export)

	saved, err := take[v1alpha2.AcceptablePermissionClaim](&out.ObjectMeta, AcceptableClaimsAnnotationKey)
	if err != nil {
		return nil, err
	}
	found := index(saved, func(c *v1alpha2.AcceptablePermissionClaim) claimKey { return keyOf2(&c.PermissionClaim) })
	var claims []v1alpha1.PermissionClaim
	for i := range in.Spec.PermissionClaims {
		c := &in.Spec.PermissionClaims[i]
		claims = append(claims, c.PermissionClaim)
		var scoped *v1alpha2.ScopedPermissionClaim
		if answer := found[keyOf1(&c.PermissionClaim)]; answer != nil {
			scoped = &answer.ScopedPermissionClaim
		}
		out.Spec.PermissionClaims = append(out.Spec.PermissionClaims, v1alpha2.AcceptablePermissionClaim{
			ScopedPermissionClaim: asScoped2(&c.PermissionClaim, scoped),
			State:                 v1alpha2.AcceptablePermissionClaimState(c.State),
		})
	}
	keep(&out.ObjectMeta, OriginalClaimsAnnotationKey, naming(claims))
	return out, statusToV1alpha2(in, out)
}

func statusToV1alpha2(in *v1alpha1.APIBinding, out *v1alpha2.APIBinding) error {
	out.Status.APIExportClusterName = in.Status.APIExportClusterName
	out.Status.Phase = v1alpha2.APIBindingPhase(in.Status.Phase)
	out.Status.Conditions = in.Status.Conditions
	for _, resource := range in.Status.BoundResources {
		out.Status.BoundResources = append(out.Status.BoundResources, v1alpha2.BoundAPIResource{
			Group: resource.Group, Resource: resource.Resource,
			Schema:          v1alpha2.BoundAPIResourceSchema(resource.Schema),
			StorageVersions: resource.StorageVersions,
		})
	}

	saved, err := take[v1alpha2.PermissionClaim](&out.ObjectMeta, StatusExportClaimsAnnotationKey)
	if err != nil {
		return err
	}
	out.Status.ExportPermissionClaims = exportClaims2(in.Status.ExportPermissionClaims, saved)
	keep(&out.ObjectMeta, OriginalStatusExportClaimsAnnotationKey, naming(in.Status.ExportPermissionClaims))

	scoped, err := take[v1alpha2.ScopedPermissionClaim](&out.ObjectMeta, StatusAppliedClaimsAnnotationKey)
	if err != nil {
		return err
	}
	found := index(scoped, func(c *v1alpha2.ScopedPermissionClaim) claimKey { return keyOf2(&c.PermissionClaim) })
	for i := range in.Status.AppliedPermissionClaims {
		c := &in.Status.AppliedPermissionClaims[i]
		out.Status.AppliedPermissionClaims = append(out.Status.AppliedPermissionClaims, asScoped2(c, found[keyOf1(c)]))
	}
	keep(&out.ObjectMeta, OriginalStatusAppliedClaimsAnnotationKey, naming(in.Status.AppliedPermissionClaims))
	return nil
}
