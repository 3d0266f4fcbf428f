package compiled

import (
	"fmt"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	apischema "k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/runtime/serializer/cbor"
	"k8s.io/apimachinery/pkg/runtime/serializer/json"
	"k8s.io/apimachinery/pkg/runtime/serializer/protobuf"
	"k8s.io/apimachinery/pkg/runtime/serializer/versioning"
	"k8s.io/apiserver/pkg/features"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/client-go/scale"

	"github.com/forkless/kcp/internal/builtin/listjson"
	"github.com/forkless/kcp/internal/catalog/structural"
)

// negotiatedSerializer encodes and decodes the custom resources of one version, and
// the other objects that pass over the same URLs.
type negotiatedSerializer struct {
	schemas    *structural.Schemas
	converter  runtime.ObjectConvertor
	mediaTypes []runtime.SerializerInfo
}

func newNegotiatedSerializer(schemas *structural.Schemas, converter runtime.ObjectConvertor, typer runtime.ObjectTyper) negotiatedSerializer {
	return negotiatedSerializer{
		schemas:    schemas,
		converter:  sameVersionConverter{converter},
		mediaTypes: mediaTypes(creator{}, typer),
	}
}

// SupportedMediaTypes implements runtime.NegotiatedSerializer.
func (s negotiatedSerializer) SupportedMediaTypes() []runtime.SerializerInfo { return s.mediaTypes }

// EncoderForVersion implements runtime.NegotiatedSerializer.
func (s negotiatedSerializer) EncoderForVersion(encoder runtime.Encoder, gv runtime.GroupVersioner) runtime.Encoder {
	return versioning.NewCodec(encoder, nil, s.converter, Scheme, Scheme, Scheme, gv, nil, "customResources")
}

// DecoderToVersion implements runtime.NegotiatedSerializer.
func (s negotiatedSerializer) DecoderToVersion(decoder runtime.Decoder, gv runtime.GroupVersioner) runtime.Decoder {
	strict, isJSON := decoder.(*json.Serializer)
	coercing := coercingDecoder{
		Decoder: decoder,
		schemas: s.schemas,
		options: structural.Options{ReportUnknown: isJSON && strict.IsStrict()},
	}
	return versioning.NewCodec(nil, coercing, runtime.UnsafeObjectConvertor(Scheme), Scheme, Scheme,
		defaulter{delegate: Scheme, schemas: s.schemas}, nil, gv, "customResources")
}

// standard returns the media types custom resources themselves are served as.
// Upstream has no protobuf for them; tables and partial metadata can be had in it.
func (s negotiatedSerializer) standard() []runtime.SerializerInfo {
	var standard []runtime.SerializerInfo
	for _, info := range s.mediaTypes {
		if info.MediaType != runtime.ContentTypeProtobuf {
			standard = append(standard, info)
		}
	}
	return standard
}

func mediaTypes(creator runtime.ObjectCreater, typer runtime.ObjectTyper) []runtime.SerializerInfo {
	enabled := utilfeature.DefaultFeatureGate.Enabled
	streaming := enabled(features.StreamingCollectionEncodingToJSON)
	newJSON := func(options json.SerializerOptions) runtime.Serializer {
		return json.NewSerializerWithOptions(json.DefaultMetaFactory, creator, typer, options)
	}
	// It encodes what else passes over these URLs, such as tables. Of custom resources it
	// decodes those that Kubernetes has Go types for, and encodes none.
	protobufSerializer := newKubernetesDecoder(protobuf.NewSerializerWithOptions(creator, typer, protobuf.SerializerOptions{
		StreamingCollectionsEncoding: enabled(features.StreamingCollectionEncodingToProtobuf),
	}))
	infos := []runtime.SerializerInfo{
		{
			MediaType:        runtime.ContentTypeJSON,
			MediaTypeType:    "application",
			MediaTypeSubType: "json",
			EncodesAsText:    true,
			Serializer:       listjson.Buffered(newJSON(json.SerializerOptions{StreamingCollectionsEncoding: streaming})),
			PrettySerializer: newJSON(json.SerializerOptions{Pretty: true}),
			StrictSerializer: newJSON(json.SerializerOptions{Strict: true, StreamingCollectionsEncoding: streaming}),
			StreamSerializer: &runtime.StreamSerializerInfo{
				EncodesAsText: true,
				Serializer:    newJSON(json.SerializerOptions{}),
				Framer:        json.Framer,
			},
		},
		{
			MediaType:        runtime.ContentTypeYAML,
			MediaTypeType:    "application",
			MediaTypeSubType: "yaml",
			EncodesAsText:    true,
			Serializer:       newJSON(json.SerializerOptions{Yaml: true}),
			StrictSerializer: newJSON(json.SerializerOptions{Yaml: true, Strict: true}),
		},
		{
			MediaType:        runtime.ContentTypeProtobuf,
			MediaTypeType:    "application",
			MediaTypeSubType: "vnd.kubernetes.protobuf",
			Serializer:       protobufSerializer,
			StrictSerializer: protobufSerializer,
			StreamSerializer: &runtime.StreamSerializerInfo{
				Serializer: protobuf.NewRawSerializer(creator, typer),
				Framer:     protobuf.LengthDelimitedFramer,
			},
		},
	}
	if enabled(features.CBORServingAndStorage) {
		infos = append(infos, cbor.NewSerializerInfo(creator, typer))
	}
	return infos
}

// newScaleSerializer returns the serializer of the scale subresource, whose kind is a
// Go type.
func newScaleSerializer() runtime.NegotiatedSerializer {
	enabled := utilfeature.DefaultFeatureGate.Enabled
	var options []serializer.CodecFactoryOptionsMutator
	if enabled(features.CBORServingAndStorage) {
		options = append(options, serializer.WithSerializer(cbor.NewSerializerInfo))
	}
	if enabled(features.StreamingCollectionEncodingToJSON) {
		options = append(options, serializer.WithStreamingCollectionEncodingToJSON())
	}
	if enabled(features.StreamingCollectionEncodingToProtobuf) {
		options = append(options, serializer.WithStreamingCollectionEncodingToProtobuf())
	}
	return serializer.NewCodecFactory(scale.NewScaleConverter().Scheme(), options...)
}

// sameVersionConverter spares lists the conversion of what is in the right version
// already. Upstream's converters copy the whole list to be safe.
type sameVersionConverter struct{ runtime.ObjectConvertor }

// ConvertToVersion implements runtime.ObjectConvertor.
func (c sameVersionConverter) ConvertToVersion(in runtime.Object, gv runtime.GroupVersioner) (runtime.Object, error) {
	if list, ok := in.(*unstructured.UnstructuredList); ok && listIsIn(list, gv) {
		return list, nil
	}
	return c.ObjectConvertor.ConvertToVersion(in, gv)
}

func listIsIn(list *unstructured.UnstructuredList, gv runtime.GroupVersioner) bool {
	kind := list.GroupVersionKind()
	target, ok := gv.KindForGroupVersionKinds([]apischema.GroupVersionKind{kind})
	if !ok || target != kind {
		return false
	}
	apiVersion := list.GetAPIVersion()
	for i := range list.Items {
		if list.Items[i].GetAPIVersion() != apiVersion {
			return false
		}
	}
	return true
}

// coercingDecoder prunes what it decodes.
type coercingDecoder struct {
	runtime.Decoder
	schemas *structural.Schemas
	options structural.Options
}

// Decode implements runtime.Decoder.
func (d coercingDecoder) Decode(data []byte, defaults *apischema.GroupVersionKind, into runtime.Object) (runtime.Object, *apischema.GroupVersionKind, error) {
	obj, gvk, err := d.Decoder.Decode(data, defaults, into)
	var strictErrors []error
	if err != nil {
		strict, ok := runtime.AsStrictDecodingError(err)
		if !ok || obj == nil {
			return nil, gvk, err
		}
		strictErrors = strict.Errors()
	}
	if u, ok := obj.(*unstructured.Unstructured); ok {
		unknown, err := d.schemas.Coerce(u, d.options)
		if err != nil {
			return nil, gvk, err
		}
		for _, path := range unknown {
			strictErrors = append(strictErrors, fmt.Errorf("unknown field %q", path))
		}
	}
	if d.options.ReportUnknown && len(strictErrors) > 0 {
		return obj, gvk, runtime.NewStrictDecodingError(strictErrors)
	}
	return obj, gvk, nil
}

// defaulter fills in the defaults of custom resources by their schema, and those of
// all else by a scheme.
type defaulter struct {
	delegate runtime.ObjectDefaulter
	schemas  *structural.Schemas
}

// Default implements runtime.ObjectDefaulter.
func (d defaulter) Default(in runtime.Object) {
	u, ok := in.(*unstructured.Unstructured)
	if ok && u.GroupVersionKind().GroupKind() == d.schemas.GroupKind() {
		d.schemas.Default(u)
		return
	}
	d.delegate.Default(in)
}

var _ runtime.NegotiatedSerializer = negotiatedSerializer{}

// hasScale says whether a version has the scale subresource.
func hasScale(version *apiextensionsv1.CustomResourceDefinitionVersion) bool {
	return version.Subresources != nil && version.Subresources.Scale != nil
}

// hasStatus says whether a version has the status subresource.
func hasStatus(version *apiextensionsv1.CustomResourceDefinitionVersion) bool {
	return version.Subresources != nil && version.Subresources.Status != nil
}
