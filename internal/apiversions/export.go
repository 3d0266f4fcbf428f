package apiversions

import (
	"fmt"
	"strings"

	"github.com/forkless/kcp/pkg/apis/apis/v1alpha1"
	"github.com/forkless/kcp/pkg/apis/apis/v1alpha2"
)

// ExportToV1alpha1 returns in as v1alpha1 shows it. It shares memory with in.
func ExportToV1alpha1(in *v1alpha2.APIExport) *v1alpha1.APIExport {
	out := &v1alpha1.APIExport{ObjectMeta: metaFor(&in.ObjectMeta)}
	out.SetGroupVersionKind(v1alpha1.GroupVersion.WithKind("APIExport"))

	var others []v1alpha2.ResourceSchema
	for _, resource := range in.Spec.Resources {
		if isNamedBySchema(&resource) {
			out.Spec.LatestResourceSchemas = append(out.Spec.LatestResourceSchemas, resource.Schema)
		} else {
			others = append(others, resource)
		}
	}
	keep(&out.ObjectMeta, ResourceSchemasAnnotationKey, others)

	originals := takeReadable[v1alpha1.PermissionClaim](&out.ObjectMeta, OriginalClaimsAnnotationKey)
	claims, kept := exportClaims1(in.Spec.PermissionClaims, originals)
	out.Spec.PermissionClaims = claims
	keep(&out.ObjectMeta, PermissionClaimsAnnotationKey, kept)

	out.Spec.Identity = (*v1alpha1.Identity)(in.Spec.Identity)
	if policy := in.Spec.MaximalPermissionPolicy; policy != nil {
		out.Spec.MaximalPermissionPolicy = &v1alpha1.MaximalPermissionPolicy{Local: (*v1alpha1.LocalAPIExportPolicy)(policy.Local)}
	}

	out.Status.IdentityHash, out.Status.Conditions = in.Status.IdentityHash, in.Status.Conditions
	for _, workspace := range in.Status.VirtualWorkspaces {
		out.Status.VirtualWorkspaces = append(out.Status.VirtualWorkspaces, v1alpha1.VirtualWorkspace(workspace))
	}
	return out
}

// ExportToV1alpha2 returns in as v1alpha2 shows it and as it is stored. It shares memory
// with in. An error says what in the object cannot be understood.
func ExportToV1alpha2(in *v1alpha1.APIExport) (*v1alpha2.APIExport, error) {
	out := &v1alpha2.APIExport{ObjectMeta: metaFor(&in.ObjectMeta)}
	out.SetGroupVersionKind(v1alpha2.GroupVersion.WithKind("APIExport"))

	for _, name := range in.Spec.LatestResourceSchemas {
		resource, group, err := SplitSchemaName(name)
		if err != nil {
			return nil, err
		}
		out.Spec.Resources = append(out.Spec.Resources, v1alpha2.ResourceSchema{
			Name: resource, Group: group, Schema: name,
			Storage: v1alpha2.ResourceSchemaStorage{CRD: &v1alpha2.ResourceSchemaStorageCRD{}},
		})
	}
	others, err := take[v1alpha2.ResourceSchema](&out.ObjectMeta, ResourceSchemasAnnotationKey)
	if err != nil {
		return nil, err
	}
	out.Spec.Resources = append(out.Spec.Resources, others...)

	saved, err := take[v1alpha2.PermissionClaim](&out.ObjectMeta, PermissionClaimsAnnotationKey)
	if err != nil {
		return nil, err
	}
	out.Spec.PermissionClaims = exportClaims2(in.Spec.PermissionClaims, saved)
	keep(&out.ObjectMeta, OriginalClaimsAnnotationKey, naming(in.Spec.PermissionClaims))

	out.Spec.Identity = (*v1alpha2.Identity)(in.Spec.Identity)
	if policy := in.Spec.MaximalPermissionPolicy; policy != nil {
		out.Spec.MaximalPermissionPolicy = &v1alpha2.MaximalPermissionPolicy{Local: (*v1alpha2.LocalAPIExportPolicy)(policy.Local)}
	}

	out.Status.IdentityHash, out.Status.Conditions = in.Status.IdentityHash, in.Status.Conditions
	for _, workspace := range in.Status.VirtualWorkspaces {
		out.Status.VirtualWorkspaces = append(out.Status.VirtualWorkspaces, v1alpha2.VirtualWorkspace(workspace))
	}
	return out, nil
}

// isNamedBySchema says whether the name of the schema says all there is to say about a
// resource.
func isNamedBySchema(r *v1alpha2.ResourceSchema) bool {
	if r.Storage.Virtual != nil {
		return false
	}
	resource, group, err := SplitSchemaName(r.Schema)
	return err == nil && resource == r.Name && group == r.Group
}

// coreGroup is what names of schemas call the core group.
const coreGroup = "core"

// SplitSchemaName returns the resource and the group that the APIResourceSchema called
// name is of: "<prefix>.<resource>.<group>", where the core group is called core.
func SplitSchemaName(name string) (resource, group string, err error) {
	parts := strings.SplitN(name, ".", 3)
	if len(parts) != 3 {
		return "", "", fmt.Errorf("invalid schema name %q: must be of the form <prefix>.<resource>.<group>", name)
	}
	if group = parts[2]; group == coreGroup {
		group = ""
	}
	return parts[1], group, nil
}

// SchemaSuffix returns what names of the schemas of a resource end in, behind the prefix:
// ".<resource>.<group>".
func SchemaSuffix(resource, group string) string {
	if group == "" {
		group = coreGroup
	}
	return "." + resource + "." + group
}
