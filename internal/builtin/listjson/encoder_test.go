package listjson

import (
	"bytes"
	"errors"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/types"
)

func newCodecs(t *testing.T) runtime.NegotiatedSerializer {
	t.Helper()
	scheme := runtime.NewScheme()
	if err := corev1.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	return serializer.NewCodecFactory(scheme, serializer.WithStreamingCollectionEncodingToJSON())
}

func encode(t *testing.T, codecs runtime.NegotiatedSerializer, obj runtime.Object) string {
	t.Helper()
	info, ok := runtime.SerializerInfoForMediaType(codecs.SupportedMediaTypes(), runtime.ContentTypeJSON)
	if !ok {
		t.Fatal("no JSON")
	}
	var buffer bytes.Buffer
	if err := codecs.EncoderForVersion(info.Serializer, corev1.SchemeGroupVersion).Encode(obj, &buffer); err != nil {
		t.Fatal(err)
	}
	return buffer.String()
}

func configMaps(n int, change func(i int, c *corev1.ConfigMap)) *corev1.ConfigMapList {
	list := &corev1.ConfigMapList{ListMeta: metav1.ListMeta{ResourceVersion: "77", Continue: `"items":[]}`}}
	for i := range n {
		item := corev1.ConfigMap{
			ObjectMeta: metav1.ObjectMeta{
				Name: fmt.Sprintf("c-%d", i), UID: types.UID(fmt.Sprintf("uid-%d", i)), ResourceVersion: fmt.Sprint(i + 1),
				ManagedFields: []metav1.ManagedFieldsEntry{{Manager: "m", FieldsV1: &metav1.FieldsV1{Raw: []byte(`{"f:data":{}}`)}}},
			},
			Data: map[string]string{"text": "<&>\u2028", "n": fmt.Sprint(i)},
		}
		if change != nil {
			change(i, &item)
		}
		list.Items = append(list.Items, item)
	}
	return list
}

func TestEncode(t *testing.T) {
	cases := map[string]struct {
		reason string
		// before is encoded first and may be remembered.
		before, obj runtime.Object
	}{
		"Unknown":  {"the first time all is encoded", nil, configMaps(longList, nil)},
		"Known":    {"what is remembered is what upstream writes", configMaps(longList, nil), configMaps(longList, nil)},
		"Short":    {"short lists are left to upstream", nil, configMaps(longList-1, nil)},
		"Empty":    {"so are empty ones", nil, configMaps(0, nil)},
		"NoList":   {"and what is no list", nil, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "one"}}},
		"Longer":   {"some items may be remembered and others not", configMaps(longList, nil), configMaps(longList+10, nil)},
		"NoItemID": {"items that cannot be told apart are not remembered", configMaps(longList, withoutUID("a")), configMaps(longList, withoutUID("b"))},
		"Changed": {
			"a change has a resource version of its own",
			configMaps(longList, nil),
			configMaps(longList, func(i int, c *corev1.ConfigMap) {
				if i%2 == 0 {
					c.ResourceVersion, c.Data = fmt.Sprint(i+1000), map[string]string{"changed": "yes"}
				}
			}),
		},
		"OtherKind": {
			"the same UID and version in another type is another thing",
			configMaps(longList, nil),
			secrets(longList),
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			upstream := newCodecs(t)
			ours := Codecs(upstream, NewCache(1<<20))
			if tc.before != nil {
				encode(t, ours, tc.before)
			}
			for _, time := range []string{"first", "second"} {
				if diff := cmp.Diff(encode(t, upstream, tc.obj), encode(t, ours, tc.obj)); diff != "" {
					t.Errorf("%s: the %s time (-want +got):\n%s", tc.reason, time, diff)
				}
			}
		})
	}
}

func withoutUID(value string) func(int, *corev1.ConfigMap) {
	return func(_ int, c *corev1.ConfigMap) {
		c.UID, c.Data = "", map[string]string{"value": value}
	}
}

func secrets(n int) *corev1.SecretList {
	list := &corev1.SecretList{}
	for _, c := range configMaps(n, nil).Items {
		list.Items = append(list.Items, corev1.Secret{ObjectMeta: c.ObjectMeta, Data: map[string][]byte{"a": []byte("b")}})
	}
	return list
}

// TestCacheIsBounded: however much is listed, what is remembered stays within the limit,
// and what was used last is what is left.
func TestCacheIsBounded(t *testing.T) {
	const limit = 64 << 10
	cache := NewCache(limit)
	codecs := Codecs(newCodecs(t), cache)
	for round := range 50 {
		encode(t, codecs, configMaps(longList, func(i int, c *corev1.ConfigMap) { c.UID = types.UID(fmt.Sprintf("%d-%d", round, i)) }))
		size := 0
		for _, generation := range []map[key][]byte{cache.young, cache.old} {
			for _, data := range generation {
				size += len(data) + entryOverhead
			}
		}
		if size > limit {
			t.Fatalf("after %d lists the cache holds %d bytes, more than %d", round+1, size, limit)
		}
	}
	last := keyOf(&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{UID: types.UID(fmt.Sprintf("49-%d", longList-1)), ResourceVersion: fmt.Sprint(longList)}})
	found := make([][]byte, 1)
	if cache.get([]key{last}, found); found[0] == nil {
		t.Error("the last item of the last list has been forgotten already")
	}
}

type brokenWriter struct{}

var errBroken = errors.New("broken")

func (brokenWriter) Write([]byte) (int, error) { return 0, errBroken }

// TestWriteError: a client that has gone ends the encoding with its error.
func TestWriteError(t *testing.T) {
	codecs := Codecs(newCodecs(t), NewCache(1<<20))
	info, _ := runtime.SerializerInfoForMediaType(codecs.SupportedMediaTypes(), runtime.ContentTypeJSON)
	if err := info.Serializer.Encode(configMaps(longList, nil), brokenWriter{}); !errors.Is(err, errBroken) {
		t.Errorf("got error %v, want %v", err, errBroken)
	}
}

// TestBuffered: the same bytes, in few writes.
func TestBuffered(t *testing.T) {
	info, _ := runtime.SerializerInfoForMediaType(newCodecs(t).SupportedMediaTypes(), runtime.ContentTypeJSON)
	for name, obj := range map[string]runtime.Object{"List": configMaps(longList, nil), "NoList": &configMaps(1, nil).Items[0]} {
		t.Run(name, func(t *testing.T) {
			var want bytes.Buffer
			var got countingWriter
			if err := info.Serializer.Encode(obj, &want); err != nil {
				t.Fatal(err)
			}
			if err := Buffered(info.Serializer).Encode(obj, &got); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want.String(), got.String()); diff != "" {
				t.Errorf("encoded differently (-want +got):\n%s", diff)
			}
			if most := 1 + want.Len()/bufferSize; got.writes > most {
				t.Errorf("%d bytes in %d writes, want at most %d", want.Len(), got.writes, most)
			}
		})
	}
	if err := Buffered(info.Serializer).Encode(configMaps(longList, nil), brokenWriter{}); !errors.Is(err, errBroken) {
		t.Errorf("got error %v, want %v", err, errBroken)
	}
}

type countingWriter struct {
	bytes.Buffer
	writes int
}

func (w *countingWriter) Write(p []byte) (int, error) {
	w.writes++
	return w.Buffer.Write(p)
}
