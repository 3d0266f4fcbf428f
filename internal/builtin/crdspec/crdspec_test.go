package crdspec

import (
	"runtime"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/install"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	apiruntime "k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
)

type fixture struct {
	codecs   serializer.CodecFactory
	upstream apiruntime.Decoder
	ours     apiruntime.Decoder
	specs    *table
}

func newFixture() fixture {
	scheme := apiruntime.NewScheme()
	install.Install(scheme)
	codecs := serializer.NewCodecFactory(scheme)
	internal := schema.GroupVersion{Group: apiextensions.GroupName, Version: apiruntime.APIVersionInternal}
	storage, _ := Storage(codecs).(storageSerializer)
	return fixture{
		codecs:   codecs,
		upstream: codecs.DecoderToVersion(codecs.UniversalDeserializer(), internal),
		ours:     storage.DecoderToVersion(codecs.UniversalDeserializer(), internal),
		specs:    storage.specs,
	}
}

func (f fixture) stored(t *testing.T, mediaType string, crd *apiextensionsv1.CustomResourceDefinition) []byte {
	t.Helper()
	info, ok := apiruntime.SerializerInfoForMediaType(f.codecs.SupportedMediaTypes(), mediaType)
	if !ok {
		t.Fatalf("no %s", mediaType)
	}
	data, err := apiruntime.Encode(f.codecs.EncoderForVersion(info.Serializer, apiextensionsv1.SchemeGroupVersion), crd)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func decode(t *testing.T, d apiruntime.Decoder, data []byte) *apiextensions.CustomResourceDefinition {
	t.Helper()
	obj, _, err := d.Decode(data, nil, &apiextensions.CustomResourceDefinition{})
	if err != nil {
		t.Fatal(err)
	}
	crd, ok := obj.(*apiextensions.CustomResourceDefinition)
	if !ok {
		t.Fatalf("decoded a %T", obj)
	}
	return crd
}

func version(name string, properties ...string) apiextensionsv1.CustomResourceDefinitionVersion {
	root := &apiextensionsv1.JSONSchemaProps{Type: "object", Properties: map[string]apiextensionsv1.JSONSchemaProps{}}
	for _, property := range properties {
		root.Properties[property] = apiextensionsv1.JSONSchemaProps{Type: "string", Default: &apiextensionsv1.JSON{Raw: []byte(`"x"`)}}
	}
	return apiextensionsv1.CustomResourceDefinitionVersion{
		Name: name, Served: true, Storage: name == "v1",
		Schema: &apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: root},
	}
}

func definition(cluster string, versions ...apiextensionsv1.CustomResourceDefinitionVersion) *apiextensionsv1.CustomResourceDefinition {
	return &apiextensionsv1.CustomResourceDefinition{
		ObjectMeta: metav1.ObjectMeta{Name: "widgets.example.com", Annotations: map[string]string{"kcp.io/cluster": cluster}},
		Spec: apiextensionsv1.CustomResourceDefinitionSpec{
			Group: "example.com", Scope: apiextensionsv1.NamespaceScoped,
			Names:    apiextensionsv1.CustomResourceDefinitionNames{Plural: "widgets", Kind: "Widget"},
			Versions: versions,
		},
		Status: apiextensionsv1.CustomResourceDefinitionStatus{
			StoredVersions: []string{"v1"},
			Conditions:     []apiextensionsv1.CustomResourceDefinitionCondition{{Type: apiextensionsv1.Established, Message: cluster}},
		},
	}
}

func TestDecode(t *testing.T) {
	noStored := definition("two", version("v1", "a"))
	noStored.Status = apiextensionsv1.CustomResourceDefinitionStatus{}
	noSchema := definition("two", version("v1"))
	noSchema.Spec.Versions[0].Schema = nil
	cases := map[string]struct {
		reason    string
		mediaType string
		crd       *apiextensionsv1.CustomResourceDefinition
		shared    bool
	}{
		"Same":        {"the same spec with other metadata and status", apiruntime.ContentTypeProtobuf, definition("two", version("v1", "a")), true},
		"Other":       {"another spec of the same name is another", apiruntime.ContentTypeProtobuf, definition("two", version("v1", "b")), false},
		"TwoVersions": {"schemas of versions that differ stay with their versions", apiruntime.ContentTypeProtobuf, definition("two", version("v1", "a"), version("v2", "b")), false},
		"NoStatus":    {"stored versions that are missing come from the spec", apiruntime.ContentTypeProtobuf, noStored, true},
		"NoSchema":    {"a spec without a schema is not shared", apiruntime.ContentTypeProtobuf, noSchema, false},
		"JSON":        {"what is stored as JSON is left to upstream", apiruntime.ContentTypeJSON, definition("two", version("v1", "a")), false},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			f := newFixture()
			first := decode(t, f.ours, f.stored(t, apiruntime.ContentTypeProtobuf, definition("one", version("v1", "a"))))
			data := f.stored(t, tc.mediaType, tc.crd)
			want, got := decode(t, f.upstream, data), decode(t, f.ours, data)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
			if shared := got.Spec.Validation != nil && got.Spec.Validation == first.Spec.Validation; shared != tc.shared {
				t.Errorf("%s: shared %t, want %t", tc.reason, shared, tc.shared)
			}
			again := decode(t, f.ours, data)
			if diff := cmp.Diff(want, again); diff != "" {
				t.Errorf("%s: the second time (-want +got):\n%s", tc.reason, diff)
			}
			runtime.KeepAlive(first)
		})
	}
}

// TestSpecsGo: what nobody uses any more is neither kept nor remembered.
func TestSpecsGo(t *testing.T) {
	for name, versions := range map[string][]apiextensionsv1.CustomResourceDefinitionVersion{
		"OneSchema":      {version("v1", "a")},
		"SeveralSchemas": {version("v1", "a"), version("v2", "b")},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture()
			data := f.stored(t, apiruntime.ContentTypeProtobuf, definition("one", versions...))
			crd := decode(t, f.ours, data)
			versionsOnly := crd.Spec.Versions
			runtime.GC()
			if parts, _ := split(data); !f.specs.knows(parts) {
				t.Error("a spec that is in use has been forgotten")
			}
			runtime.KeepAlive(crd)
			runtime.KeepAlive(versionsOnly)
			deadline := time.Now().Add(time.Minute)
			for tick := time.NewTicker(time.Millisecond); f.specs.size() > 0; <-tick.C {
				if time.Now().After(deadline) {
					t.Fatalf("%d specs are still known, though nobody uses one", f.specs.size())
				}
				runtime.GC()
			}
		})
	}
}

func (t *table) size() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return len(t.specs)
}

func (t *table) knows(p parts) bool {
	_, ok := t.get(sum(p))
	return ok
}

func FuzzSplit(f *testing.F) {
	f.Add([]byte("k8s\x00"))
	f.Add([]byte("k8s\x00\x0a\x02ab\x12\x04\x12\x02cd"))
	f.Add([]byte("{}"))
	f.Fuzz(func(t *testing.T, data []byte) {
		p, ok := split(data)
		if !ok {
			return
		}
		if again, ok := split(p.rest); ok {
			t.Errorf("what is left of %q has a spec: %q", data, again.spec)
		}
	})
}
