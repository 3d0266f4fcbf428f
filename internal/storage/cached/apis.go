package cached

import (
	"context"

	"github.com/forkless/kcp/internal/storage"
	apisv1alpha1 "github.com/forkless/kcp/pkg/apis/apis/v1alpha1"
	apisv1alpha2 "github.com/forkless/kcp/pkg/apis/apis/v1alpha2"
	"github.com/forkless/kcp/pkg/logicalcluster"
)

// APIs reads what apis.kcp.io is made of: schemas, exports, bindings and what belongs to
// them.
type APIs struct {
	schemas     *storage.Reader[apisv1alpha1.APIResourceSchema, *apisv1alpha1.APIResourceSchema, *apisv1alpha1.APIResourceSchemaList]
	exports     *storage.Reader[apisv1alpha2.APIExport, *apisv1alpha2.APIExport, *apisv1alpha2.APIExportList]
	bindings    *storage.Reader[apisv1alpha2.APIBinding, *apisv1alpha2.APIBinding, *apisv1alpha2.APIBindingList]
	slices      *storage.Reader[apisv1alpha1.APIExportEndpointSlice, *apisv1alpha1.APIExportEndpointSlice, *apisv1alpha1.APIExportEndpointSliceList]
	conversions *storage.Reader[apisv1alpha1.APIConversion, *apisv1alpha1.APIConversion, *apisv1alpha1.APIConversionList]
}

// NewAPIs returns a reader over layer.
func NewAPIs(layer *storage.Layer) *APIs {
	return &APIs{
		schemas: storage.NewReader[apisv1alpha1.APIResourceSchema](layer, APIResourceSchemas,
			func() *apisv1alpha1.APIResourceSchemaList { return &apisv1alpha1.APIResourceSchemaList{} },
			func(l *apisv1alpha1.APIResourceSchemaList) []apisv1alpha1.APIResourceSchema { return l.Items }),
		exports: storage.NewReader[apisv1alpha2.APIExport](layer, APIExports,
			func() *apisv1alpha2.APIExportList { return &apisv1alpha2.APIExportList{} },
			func(l *apisv1alpha2.APIExportList) []apisv1alpha2.APIExport { return l.Items }),
		bindings: storage.NewReader[apisv1alpha2.APIBinding](layer, APIBindings,
			func() *apisv1alpha2.APIBindingList { return &apisv1alpha2.APIBindingList{} },
			func(l *apisv1alpha2.APIBindingList) []apisv1alpha2.APIBinding { return l.Items }),
		slices: storage.NewReader[apisv1alpha1.APIExportEndpointSlice](layer, APIExportEndpointSlices,
			func() *apisv1alpha1.APIExportEndpointSliceList { return &apisv1alpha1.APIExportEndpointSliceList{} },
			func(l *apisv1alpha1.APIExportEndpointSliceList) []apisv1alpha1.APIExportEndpointSlice { return l.Items }),
		conversions: storage.NewReader[apisv1alpha1.APIConversion](layer, APIConversions,
			func() *apisv1alpha1.APIConversionList { return &apisv1alpha1.APIConversionList{} },
			func(l *apisv1alpha1.APIConversionList) []apisv1alpha1.APIConversion { return l.Items }),
	}
}

// Schema returns an APIResourceSchema of a cluster, or a NotFound Status error.
func (a *APIs) Schema(ctx context.Context, cluster logicalcluster.Name, name string) (*apisv1alpha1.APIResourceSchema, error) {
	return a.schemas.Get(ctx, cluster, "", name)
}

// Export returns an APIExport of a cluster, or a NotFound Status error.
func (a *APIs) Export(ctx context.Context, cluster logicalcluster.Name, name string) (*apisv1alpha2.APIExport, error) {
	return a.exports.Get(ctx, cluster, "", name)
}

// CurrentExport is Export from etcd instead of the watch cache.
func (a *APIs) CurrentExport(ctx context.Context, cluster logicalcluster.Name, name string) (*apisv1alpha2.APIExport, error) {
	return a.exports.GetCurrent(ctx, cluster, "", name)
}

// Exports returns the APIExports of a cluster, or of all for the wildcard.
func (a *APIs) Exports(ctx context.Context, cluster logicalcluster.Name) ([]apisv1alpha2.APIExport, error) {
	return a.exports.List(ctx, cluster, "")
}

// Binding returns an APIBinding of a cluster, or a NotFound Status error.
func (a *APIs) Binding(ctx context.Context, cluster logicalcluster.Name, name string) (*apisv1alpha2.APIBinding, error) {
	return a.bindings.Get(ctx, cluster, "", name)
}

// CurrentBinding is Binding from etcd instead of the watch cache.
func (a *APIs) CurrentBinding(ctx context.Context, cluster logicalcluster.Name, name string) (*apisv1alpha2.APIBinding, error) {
	return a.bindings.GetCurrent(ctx, cluster, "", name)
}

// Bindings returns the APIBindings of a cluster, or of all for the wildcard.
func (a *APIs) Bindings(ctx context.Context, cluster logicalcluster.Name) ([]apisv1alpha2.APIBinding, error) {
	return a.bindings.List(ctx, cluster, "")
}

// CurrentBindings is Bindings with everything that was written before the call.
func (a *APIs) CurrentBindings(ctx context.Context, cluster logicalcluster.Name) ([]apisv1alpha2.APIBinding, error) {
	return a.bindings.ListCurrent(ctx, cluster, "")
}

// EndpointSlices returns the APIExportEndpointSlices of a cluster, or of all for the
// wildcard.
func (a *APIs) EndpointSlices(ctx context.Context, cluster logicalcluster.Name) ([]apisv1alpha1.APIExportEndpointSlice, error) {
	return a.slices.List(ctx, cluster, "")
}

// EndpointSlice returns an APIExportEndpointSlice of a cluster, or a NotFound Status error.
func (a *APIs) EndpointSlice(ctx context.Context, cluster logicalcluster.Name, name string) (*apisv1alpha1.APIExportEndpointSlice, error) {
	return a.slices.Get(ctx, cluster, "", name)
}

// Conversion returns an APIConversion of a cluster, or a NotFound Status error.
func (a *APIs) Conversion(ctx context.Context, cluster logicalcluster.Name, name string) (*apisv1alpha1.APIConversion, error) {
	return a.conversions.Get(ctx, cluster, "", name)
}
