package builtin

import (
	extensions "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	extensionsinstall "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/install"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/runtime/serializer/cbor"
	"k8s.io/apiserver/pkg/features"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/kubernetes/pkg/api/legacyscheme"

	"github.com/forkless/kcp/internal/builtin/crdspec"

	// The groups that are served register themselves in the legacy scheme.
	_ "k8s.io/kubernetes/pkg/apis/admissionregistration/install"
	_ "k8s.io/kubernetes/pkg/apis/authentication/install"
	_ "k8s.io/kubernetes/pkg/apis/authorization/install"
	_ "k8s.io/kubernetes/pkg/apis/certificates/install"
	_ "k8s.io/kubernetes/pkg/apis/coordination/install"
	_ "k8s.io/kubernetes/pkg/apis/core/install"
	_ "k8s.io/kubernetes/pkg/apis/events/install"
	_ "k8s.io/kubernetes/pkg/apis/rbac/install"
)

var (
	// Scheme knows the types of all built-in groups but apiextensions.k8s.io. It is
	// also the scheme to give to the generic API server.
	Scheme = legacyscheme.Scheme

	// Codecs encode and decode what Scheme knows. Stored objects go through them;
	// requests and responses through what New sets on each group, which adds
	// streaming of lists.
	Codecs = legacyscheme.Codecs

	// ExtensionsScheme knows CustomResourceDefinitions. It is a scheme of its own
	// because upstream's registry for them converts with the scheme it is given and
	// the two share no kinds.
	ExtensionsScheme = newExtensionsScheme()

	// ExtensionsCodecs encode and decode what ExtensionsScheme knows.
	ExtensionsCodecs = serializer.NewCodecFactory(ExtensionsScheme)
)

func newExtensionsScheme() *runtime.Scheme {
	scheme := runtime.NewScheme()
	extensionsinstall.Install(scheme)

	// Options such as ListOptions and the answers of discovery are looked up in the
	// core group, whatever group is asked.
	v1 := schema.GroupVersion{Version: "v1"}
	metav1.AddToGroupVersion(scheme, v1)
	scheme.AddUnversionedTypes(v1,
		&metav1.Status{}, &metav1.APIVersions{}, &metav1.APIGroupList{}, &metav1.APIGroup{}, &metav1.APIResourceList{})
	return scheme
}

// StorageCodecs returns the codecs for stored objects of a built-in group.
func StorageCodecs(group string) runtime.StorageSerializer {
	if group == extensions.GroupName {
		return crdspec.Storage(ExtensionsCodecs)
	}
	return Codecs
}

// servingCodecs returns codecs for requests and responses. Upstream's
// NewDefaultAPIGroupInfo makes the same ones anew for each group.
func servingCodecs(scheme *runtime.Scheme) serializer.CodecFactory {
	var options []serializer.CodecFactoryOptionsMutator
	enabled := utilfeature.DefaultFeatureGate.Enabled
	if enabled(features.CBORServingAndStorage) {
		options = append(options, serializer.WithSerializer(cbor.NewSerializerInfo))
	}
	if enabled(features.StreamingCollectionEncodingToJSON) {
		options = append(options, serializer.WithStreamingCollectionEncodingToJSON())
	}
	if enabled(features.StreamingCollectionEncodingToProtobuf) {
		options = append(options, serializer.WithStreamingCollectionEncodingToProtobuf())
	}
	return serializer.NewCodecFactory(scheme, options...)
}
