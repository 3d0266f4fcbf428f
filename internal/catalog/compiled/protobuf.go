package compiled

import (
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	apischema "k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer/protobuf"
	kubernetes "k8s.io/client-go/kubernetes/scheme"
)

// kubernetesDecoder decodes protobuf of types that are custom resources here and have a
// Go type in Kubernetes: clients of those, such as Deployments, send protobuf without
// asking. Types that Kubernetes does not have cannot be sent as such.
type kubernetesDecoder struct {
	// Serializer does all the rest.
	runtime.Serializer
	kubernetes runtime.Decoder
}

func newKubernetesDecoder(serializer runtime.Serializer) kubernetesDecoder {
	return kubernetesDecoder{
		Serializer: serializer,
		kubernetes: protobuf.NewSerializer(kubernetes.Scheme, kubernetes.Scheme),
	}
}

// Decode implements runtime.Decoder.
func (d kubernetesDecoder) Decode(data []byte, defaults *apischema.GroupVersionKind, into runtime.Object) (runtime.Object, *apischema.GroupVersionKind, error) {
	custom, ok := into.(*unstructured.Unstructured)
	if !ok {
		return d.Serializer.Decode(data, defaults, into)
	}
	typed, kind, err := d.kubernetes.Decode(data, defaults, nil)
	if err != nil {
		return d.Serializer.Decode(data, defaults, into)
	}
	if custom.Object, err = runtime.DefaultUnstructuredConverter.ToUnstructured(typed); err != nil {
		return nil, kind, err
	}
	custom.SetGroupVersionKind(*kind)
	return custom, kind, nil
}
