package compiled

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	apischema "k8s.io/apimachinery/pkg/runtime/schema"
)

func TestWarnings(t *testing.T) {
	own := "use gadgets"
	version := func(name string, served, deprecated bool) apiextensionsv1.CustomResourceDefinitionVersion {
		return apiextensionsv1.CustomResourceDefinitionVersion{Name: name, Served: served, Deprecated: deprecated}
	}
	cases := map[string]struct {
		reason   string
		versions []apiextensionsv1.CustomResourceDefinitionVersion
		warning  *string
		want     []string
	}{
		"Current": {
			reason:   "a version that is not deprecated needs no warning",
			versions: []apiextensionsv1.CustomResourceDefinitionVersion{version("v1beta1", true, false)},
		},
		"NoSuccessor": {
			reason:   "what is below or not served is no successor",
			versions: []apiextensionsv1.CustomResourceDefinitionVersion{version("v1beta1", true, true), version("v1alpha1", true, false), version("v1", false, false)},
			want:     []string{"example.com/v1beta1 Widget is deprecated"},
		},
		"Successor": {
			reason:   "the highest successor is named",
			versions: []apiextensionsv1.CustomResourceDefinitionVersion{version("v1beta1", true, true), version("v2", true, false), version("v1", true, false), version("v3", true, true)},
			want:     []string{"example.com/v1beta1 Widget is deprecated; use example.com/v2 Widget"},
		},
		"OwnWords": {
			reason:   "the definition may say it in its own words",
			versions: []apiextensionsv1.CustomResourceDefinitionVersion{version("v1beta1", true, true)},
			warning:  &own,
			want:     []string{own},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			tc.versions[0].DeprecationWarning = tc.warning
			spec := &apiextensionsv1.CustomResourceDefinitionSpec{
				Group: "example.com", Versions: tc.versions,
				Names: apiextensionsv1.CustomResourceDefinitionNames{Kind: "Widget"},
			}
			if diff := cmp.Diff(tc.want, warnings(spec, &spec.Versions[0])); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

// refusing is a converter that must not be asked.
type refusing struct{ runtime.ObjectConvertor }

func (refusing) ConvertToVersion(runtime.Object, runtime.GroupVersioner) (runtime.Object, error) {
	return nil, errConverted
}

var errConverted = runtime.NewMissingKindErr("converted")

func TestListsAreConvertedOnlyIfNecessary(t *testing.T) {
	v1 := apischema.GroupVersion{Group: "example.com", Version: "v1"}
	list := func(version string, items ...string) *unstructured.UnstructuredList {
		list := &unstructured.UnstructuredList{}
		list.SetGroupVersionKind(apischema.GroupVersionKind{Group: "example.com", Version: version, Kind: "WidgetList"})
		for _, item := range items {
			u := unstructured.Unstructured{Object: map[string]any{}}
			u.SetGroupVersionKind(apischema.GroupVersionKind{Group: "example.com", Version: item, Kind: "Widget"})
			list.Items = append(list.Items, u)
		}
		return list
	}
	cases := map[string]struct {
		reason    string
		in        *unstructured.UnstructuredList
		converted bool
	}{
		"Same":      {"what is in the right version is not copied", list("v1", "v1", "v1"), false},
		"Empty":     {"nothing is in the right version", list("v1"), false},
		"OtherList": {"the list itself is in another version", list("v2", "v1"), true},
		"OtherItem": {"one item is in another version", list("v1", "v1", "v2"), true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			_, err := sameVersionConverter{refusing{}}.ConvertToVersion(tc.in, v1)
			if converted := err != nil; converted != tc.converted {
				t.Errorf("%s: converted = %t, want %t", tc.reason, converted, tc.converted)
			}
		})
	}
}

func TestScaleColumns(t *testing.T) {
	var names []string
	for _, column := range scaleColumns(&apiextensionsv1.CustomResourceSubresourceScale{SpecReplicasPath: ".spec.n", StatusReplicasPath: ".status.n"}) {
		names = append(names, column.Name+" "+column.JSONPath)
	}
	want := []string{"Desired .spec.replicas", "Available .status.replicas", "Age .metadata.creationTimestamp"}
	if diff := cmp.Diff(want, names); diff != "" {
		t.Errorf("columns are those of a Scale (-want +got):\n%s", diff)
	}
}
