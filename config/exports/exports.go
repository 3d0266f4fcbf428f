package exports

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/forkless/kcp/internal/apihash"
	apisv1alpha1 "github.com/forkless/kcp/pkg/apis/apis/v1alpha1"
	apisv1alpha2 "github.com/forkless/kcp/pkg/apis/apis/v1alpha2"
	"github.com/forkless/kcp/pkg/apis/conditions"
	corev1alpha1 "github.com/forkless/kcp/pkg/apis/core/v1alpha1"
	tenancyv1alpha1 "github.com/forkless/kcp/pkg/apis/tenancy/v1alpha1"
	topologyv1alpha1 "github.com/forkless/kcp/pkg/apis/topology/v1alpha1"
	"github.com/forkless/kcp/pkg/logicalcluster"
)

// IdentityNamespace is the namespace of the secrets with identities.
const IdentityNamespace = "kcp-system"

// offer is an export of root.
type offer struct {
	name      string
	resources []schema.GroupResource
	// bounded says that what those who bind may do is bounded by the policy of root.
	bounded bool
}

// offers are the exports of root.
var offers = []offer{
	{
		name: "shards.core.kcp.io",
		resources: []schema.GroupResource{
			corev1alpha1.Resource("shards"),
		},
	},
	{
		name: "tenancy.kcp.io",
		resources: []schema.GroupResource{
			tenancyv1alpha1.Resource("workspaces"),
			tenancyv1alpha1.Resource("workspacetypes"),
			tenancyv1alpha1.Resource("workspaceauthenticationconfigurations"),
		},
		bounded: true,
	},
	{
		name: "topology.kcp.io",
		resources: []schema.GroupResource{
			topologyv1alpha1.Resource("partitions"),
			topologyv1alpha1.Resource("partitionsets"),
		},
		bounded: true,
	},
}

// Names returns the names of the exports, sorted. Root has bindings to them of the same
// names.
func Names() []string {
	names := make([]string, 0, len(offers))
	for _, o := range offers {
		names = append(names, o.name)
	}
	return names
}

// Resources returns the resources that an export of root offers.
func Resources(export string) []schema.GroupResource {
	for _, o := range offers {
		if o.name == export {
			return o.resources
		}
	}
	return nil
}

// Exported are the exports of root and the schemas they name.
type Exported struct {
	Schemas []*apisv1alpha1.APIResourceSchema
	Exports []*apisv1alpha2.APIExport
}

// New returns the exports that are made from definitions, which are only read. keys are
// the identities of the exports by their names. The objects belong to the caller, but for
// what they share with definitions.
func New(definitions []*apiextensionsv1.CustomResourceDefinition, keys map[string][]byte, now metav1.Time) (*Exported, error) {
	byResource := map[schema.GroupResource]*apiextensionsv1.CustomResourceDefinition{}
	for _, crd := range definitions {
		byResource[schema.GroupResource{Group: crd.Spec.Group, Resource: crd.Spec.Names.Plural}] = crd
	}
	all := &Exported{}
	for _, o := range offers {
		var resources []apisv1alpha2.ResourceSchema
		for _, resource := range o.resources {
			crd, ok := byResource[resource]
			if !ok {
				return nil, fmt.Errorf("export %s: nothing defines %s", o.name, resource)
			}
			described, err := schemaOf(crd)
			if err != nil {
				return nil, fmt.Errorf("export %s: %w", o.name, err)
			}
			all.Schemas = append(all.Schemas, described)
			resources = append(resources, apisv1alpha2.ResourceSchema{
				Group: resource.Group, Name: resource.Resource, Schema: described.Name,
				Storage: apisv1alpha2.ResourceSchemaStorage{CRD: &apisv1alpha2.ResourceSchemaStorageCRD{}},
			})
		}
		all.Exports = append(all.Exports, o.export(resources, keys[o.name], now))
	}
	return all, nil
}

// export returns the export as the server would have completed it: with the secret of its
// identity, and the identity in its status.
func (o *offer) export(resources []apisv1alpha2.ResourceSchema, key []byte, now metav1.Time) *apisv1alpha2.APIExport {
	export := &apisv1alpha2.APIExport{
		TypeMeta: metav1.TypeMeta{APIVersion: apisv1alpha2.GroupVersion.String(), Kind: "APIExport"},
		ObjectMeta: metav1.ObjectMeta{
			Name:        o.name,
			Annotations: map[string]string{logicalcluster.PathAnnotationKey: logicalcluster.Root.String()},
		},
		Spec: apisv1alpha2.APIExportSpec{
			Resources: resources,
			Identity:  &apisv1alpha2.Identity{SecretRef: &corev1.SecretReference{Namespace: IdentityNamespace, Name: o.name}},
		},
		Status: apisv1alpha2.APIExportStatus{IdentityHash: apihash.Identity(key)},
	}
	if o.bounded {
		export.Spec.MaximalPermissionPolicy = &apisv1alpha2.MaximalPermissionPolicy{Local: &apisv1alpha2.LocalAPIExportPolicy{}}
	}
	conditions.Set(export, conditions.Condition{
		Type: apisv1alpha1.APIExportIdentityValid, Status: corev1.ConditionTrue, LastTransitionTime: now.Rfc3339Copy(),
	})
	return export
}
