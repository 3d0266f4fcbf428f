package v1alpha1

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime"
)

// TestWireNames guards the names that clients in other languages use.
func TestWireNames(t *testing.T) {
	cases := map[string]struct {
		reason string
		object any
		want   string
	}{
		"WorkspaceURL": {
			reason: "URL is in capitals in spec",
			object: WorkspaceSpec{URL: "https://x", Cluster: "c"},
			want:   `{"cluster":"c","URL":"https://x"}`,
		},
		"MountReference": {
			reason: "the reference is called ref",
			object: Mount{Reference: ObjectReference{APIVersion: "v1", Kind: "K", Name: "n"}},
			want:   `{"ref":{"apiVersion":"v1","kind":"K","name":"n"}}`,
		},
		"VirtualWorkspace": {
			reason: "and url is in small letters in the status of a type",
			object: VirtualWorkspace{URL: "https://x", Type: VirtualWorkspaceInitializing},
			want:   `{"url":"https://x","type":"initializing"}`,
		},
		"EmptyTypeSpec": {
			reason: "a spec that is not there is not defaulted, so it must not appear on the way",
			object: struct {
				Spec WorkspaceTypeSpec `json:"spec,omitzero"`
			}{},
			want: `{}`,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got, err := json.Marshal(tc.object)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, string(got)); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

func TestAddToScheme(t *testing.T) {
	scheme := runtime.NewScheme()
	if err := AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	for _, kind := range []string{"Workspace", "WorkspaceType", "WorkspaceAuthenticationConfiguration"} {
		for _, suffix := range []string{"", "List"} {
			if gvk := GroupVersion.WithKind(kind + suffix); !scheme.Recognizes(gvk) {
				t.Errorf("the scheme does not know %s", gvk)
			}
		}
	}
}
