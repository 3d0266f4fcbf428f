package cached

import (
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	apistorage "k8s.io/apiserver/pkg/storage"

	"github.com/forkless/kcp/internal/storage"
	apisv1alpha1 "github.com/forkless/kcp/pkg/apis/apis/v1alpha1"
	apisv1alpha2 "github.com/forkless/kcp/pkg/apis/apis/v1alpha2"
	corev1alpha1 "github.com/forkless/kcp/pkg/apis/core/v1alpha1"
	tenancyv1alpha1 "github.com/forkless/kcp/pkg/apis/tenancy/v1alpha1"
	topologyv1alpha1 "github.com/forkless/kcp/pkg/apis/topology/v1alpha1"
)

// Namespaces is the resource of namespaces.
var Namespaces = storage.Resource{GroupResource: schema.GroupResource{Resource: "namespaces"}}

// The resources of our own APIs.
var (
	Workspaces                            = storage.Resource{GroupResource: tenancyv1alpha1.Resource("workspaces")}
	WorkspaceTypes                        = storage.Resource{GroupResource: tenancyv1alpha1.Resource("workspacetypes")}
	WorkspaceAuthenticationConfigurations = storage.Resource{GroupResource: tenancyv1alpha1.Resource("workspaceauthenticationconfigurations")}
	LogicalClusters                       = storage.Resource{GroupResource: corev1alpha1.Resource("logicalclusters")}
	Shards                                = storage.Resource{GroupResource: corev1alpha1.Resource("shards")}
	Partitions                            = storage.Resource{GroupResource: topologyv1alpha1.Resource("partitions")}
	PartitionSets                         = storage.Resource{GroupResource: topologyv1alpha1.Resource("partitionsets")}
	APIResourceSchemas                    = storage.Resource{GroupResource: apisv1alpha1.Resource("apiresourceschemas")}
	APIExports                            = storage.Resource{GroupResource: apisv1alpha2.Resource("apiexports")}
	APIBindings                           = storage.Resource{GroupResource: apisv1alpha2.Resource("apibindings")}
	APIExportEndpointSlices               = storage.Resource{GroupResource: apisv1alpha1.Resource("apiexportendpointslices")}
	APIConversions                        = storage.Resource{GroupResource: apisv1alpha1.Resource("apiconversions")}
)

var (
	scheme = newScheme()
	codecs = serializer.NewCodecFactory(scheme)

	kinds = map[storage.Resource]storage.Kind{
		Workspaces: sharing(kind[tenancyv1alpha1.Workspace, tenancyv1alpha1.WorkspaceList](tenancyv1alpha1.GroupVersion),
			commonInOurs.shareWorkspace),
		WorkspaceTypes: kind[tenancyv1alpha1.WorkspaceType, tenancyv1alpha1.WorkspaceTypeList](tenancyv1alpha1.GroupVersion),
		WorkspaceAuthenticationConfigurations: kind[tenancyv1alpha1.WorkspaceAuthenticationConfiguration,
			tenancyv1alpha1.WorkspaceAuthenticationConfigurationList](tenancyv1alpha1.GroupVersion),
		LogicalClusters: selectable(sharing(kind[corev1alpha1.LogicalCluster, corev1alpha1.LogicalClusterList](corev1alpha1.GroupVersion),
			commonInOurs.shareLogicalCluster), logicalClusterAttrs),
		Shards:             kind[corev1alpha1.Shard, corev1alpha1.ShardList](corev1alpha1.GroupVersion),
		Partitions:         kind[topologyv1alpha1.Partition, topologyv1alpha1.PartitionList](topologyv1alpha1.GroupVersion),
		PartitionSets:      kind[topologyv1alpha1.PartitionSet, topologyv1alpha1.PartitionSetList](topologyv1alpha1.GroupVersion),
		APIResourceSchemas: kind[apisv1alpha1.APIResourceSchema, apisv1alpha1.APIResourceSchemaList](apisv1alpha1.GroupVersion),
		APIExports:         kind[apisv1alpha2.APIExport, apisv1alpha2.APIExportList](apisv1alpha2.GroupVersion),
		APIBindings: sharing(kind[apisv1alpha2.APIBinding, apisv1alpha2.APIBindingList](apisv1alpha2.GroupVersion),
			commonInOurs.shareBinding),
		APIExportEndpointSlices: kind[apisv1alpha1.APIExportEndpointSlice,
			apisv1alpha1.APIExportEndpointSliceList](apisv1alpha1.GroupVersion),
		APIConversions: kind[apisv1alpha1.APIConversion, apisv1alpha1.APIConversionList](apisv1alpha1.GroupVersion),
	}
)

// Kinds returns our own resources with their Go types.
func Kinds() map[storage.Resource]storage.Kind { return kinds }

func newScheme() *runtime.Scheme {
	scheme := runtime.NewScheme()
	utilruntime.Must(tenancyv1alpha1.AddToScheme(scheme))
	utilruntime.Must(corev1alpha1.AddToScheme(scheme))
	utilruntime.Must(apisv1alpha1.AddToScheme(scheme))
	utilruntime.Must(apisv1alpha2.AddToScheme(scheme))
	utilruntime.Must(topologyv1alpha1.AddToScheme(scheme))
	return scheme
}

// DeletedField is a field by which LogicalClusters that are being deleted can be selected
// within the server: it is "true" for them. Clients cannot name it.
const DeletedField = "kcp.io/deleted"

func logicalClusterAttrs(obj runtime.Object) (labels.Set, fields.Set, error) {
	found, selectable, err := apistorage.DefaultNamespaceScopedAttr(obj)
	if lc, ok := obj.(*corev1alpha1.LogicalCluster); ok && err == nil && !lc.DeletionTimestamp.IsZero() {
		selectable[DeletedField] = "true"
	}
	return found, selectable, err
}

// selectable returns kind with attrs as what says by what objects can be selected.
func selectable(kind storage.Kind, attrs apistorage.AttrFunc) storage.Kind {
	kind.Attrs = attrs
	return kind
}

// sharing returns kind with share as what lets objects have parts in common.
func sharing(kind storage.Kind, share func(runtime.Object, func(string) string)) storage.Kind {
	kind.Share = share
	return kind
}

// kind returns the Kind of a Go type. Objects are stored as JSON, since our types have
// no protobuf form, in the version they have in memory.
func kind[T, L any, O storage.Object[T], OL storage.Object[L]](version schema.GroupVersion) storage.Kind {
	info, _ := runtime.SerializerInfoForMediaType(codecs.SupportedMediaTypes(), runtime.ContentTypeJSON)
	return storage.Kind{
		New:     func() runtime.Object { return O(new(T)) },
		NewList: func() runtime.Object { return OL(new(L)) },
		Codec:   codecs.CodecForVersions(info.Serializer, info.Serializer, version, version),
	}
}
