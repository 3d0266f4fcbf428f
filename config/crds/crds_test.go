package crds

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/validation"
	"sigs.k8s.io/yaml"
)

func TestAllAreValid(t *testing.T) {
	all, err := All()
	if err != nil {
		t.Fatal(err)
	}
	for _, crd := range all {
		t.Run(crd.Name, func(t *testing.T) {
			if errs := validation.ValidateCustomResourceDefinition(context.Background(), internal(t, crd)); len(errs) > 0 {
				t.Errorf("an API server would refuse it: %v", errs.ToAggregate())
			}
			stored := "v1alpha1"
			if slices.Contains([]string{"apiexports", "apibindings"}, crd.Spec.Names.Plural) {
				stored = "v1alpha2"
			}
			if diff := cmp.Diff([]string{stored}, crd.Status.StoredVersions); diff != "" {
				t.Errorf("stored versions (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff([]string{"kcp"}, crd.Status.AcceptedNames.Categories); diff != "" {
				t.Errorf("`kubectl get kcp` must show all of our kinds (-want +got):\n%s", diff)
			}
		})
	}
}

func TestFilesAreWhatIsEmbedded(t *testing.T) {
	files, err := filepath.Glob("*.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var want []*apiextensionsv1.CustomResourceDefinition
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		crd := &apiextensionsv1.CustomResourceDefinition{}
		// Strict, because a misspelled field would silently lose a rule.
		if err := yaml.UnmarshalStrict(data, crd); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		apiextensionsv1.SetDefaults_CustomResourceDefinition(crd)
		crd.Status.AcceptedNames = crd.Spec.Names
		want = append(want, crd)
	}
	got, err := All()
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("people read other definitions than the server (-files +embedded):\n%s", diff)
	}
}

func TestPrinterColumnsAndSubresources(t *testing.T) {
	type surface struct {
		Columns    []string
		ShortNames []string
		Status     bool
	}
	cases := map[string]struct {
		reason string
		crd    string
		want   surface
	}{
		"Workspace": {
			reason: "scripts read these columns, and `kubectl get ws` must work",
			crd:    "workspaces.tenancy.kcp.io",
			want:   surface{Columns: []string{"Type", "Region", "Phase", "URL", "Age"}, ShortNames: []string{"ws"}, Status: true},
		},
		"WorkspaceType": {
			reason: "only the default columns",
			crd:    "workspacetypes.tenancy.kcp.io",
			want:   surface{Status: true},
		},
		"WorkspaceAuthenticationConfiguration": {
			reason: "it has no status",
			crd:    "workspaceauthenticationconfigurations.tenancy.kcp.io",
		},
		"LogicalCluster": {
			reason: "the name is always the same, so phase and URL matter",
			crd:    "logicalclusters.core.kcp.io",
			want:   surface{Columns: []string{"Phase", "URL", "Age"}, Status: true},
		},
		"Shard": {
			reason: "the operator's view",
			crd:    "shards.core.kcp.io",
			want:   surface{Columns: []string{"Region", "URL", "External URL", "Age"}, Status: true},
		},
		"Partition": {
			reason: "it has no status",
			crd:    "partitions.topology.kcp.io",
			want:   surface{Columns: []string{"Owner", "Age"}},
		},
		"APIResourceSchema": {
			reason: "it has no status",
			crd:    "apiresourceschemas.apis.kcp.io",
			want:   surface{Columns: []string{"Age"}},
		},
		"APIExport": {
			reason: "addresses are in endpoint slices",
			crd:    "apiexports.apis.kcp.io/v1alpha2",
			want:   surface{Columns: []string{"Age"}, Status: true},
		},
		"APIExportOld": {
			reason: "addresses were in the status",
			crd:    "apiexports.apis.kcp.io/v1alpha1",
			want:   surface{Columns: []string{"Age", "Ready"}, Status: true},
		},
		"APIBinding": {
			reason: "a binding is ready or says why not",
			crd:    "apibindings.apis.kcp.io/v1alpha2",
			want:   surface{Columns: []string{"Age", "Ready"}, Status: true},
		},
		"APIBindingOld": {
			reason: "in both versions",
			crd:    "apibindings.apis.kcp.io/v1alpha1",
			want:   surface{Columns: []string{"Age", "Ready"}, Status: true},
		},
		"APIExportEndpointSlice": {
			reason: "whose addresses, and on which shards",
			crd:    "apiexportendpointslices.apis.kcp.io",
			want:   surface{Columns: []string{"Export", "Partition", "Age"}, Status: true},
		},
		"APIConversion": {
			reason: "it has no status",
			crd:    "apiconversions.apis.kcp.io",
			want:   surface{Columns: []string{"Age"}},
		},
		"PartitionSet": {
			reason: "the number of partitions is its result",
			crd:    "partitionsets.topology.kcp.io",
			want:   surface{Columns: []string{"Count", "Age"}, Status: true},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			crd, version := versionOf(t, tc.crd)
			got := surface{
				ShortNames: crd.Spec.Names.ShortNames,
				Status:     version.Subresources != nil && version.Subresources.Status != nil,
			}
			for _, column := range version.AdditionalPrinterColumns {
				got.Columns = append(got.Columns, column.Name)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

// versionOf returns a definition and one of its versions, named as
// "<definition>[/<version>]". Without a version there is only one.
func versionOf(t *testing.T, name string) (*apiextensionsv1.CustomResourceDefinition, *apiextensionsv1.CustomResourceDefinitionVersion) {
	t.Helper()
	name, version, named := strings.Cut(name, "/")
	all, err := All()
	if err != nil {
		t.Fatal(err)
	}
	at := slices.IndexFunc(all, func(crd *apiextensionsv1.CustomResourceDefinition) bool { return crd.Name == name })
	if at < 0 {
		t.Fatalf("no definition is called %q", name)
	}
	crd := all[at]
	for i := range crd.Spec.Versions {
		if crd.Spec.Versions[i].Name == version || !named && len(crd.Spec.Versions) == 1 {
			return crd, &crd.Spec.Versions[i]
		}
	}
	t.Fatalf("%s has no version %q", name, version)
	return nil, nil
}

func internal(t *testing.T, crd *apiextensionsv1.CustomResourceDefinition) *apiextensions.CustomResourceDefinition {
	t.Helper()
	out := &apiextensions.CustomResourceDefinition{}
	if err := apiextensionsv1.Convert_v1_CustomResourceDefinition_To_apiextensions_CustomResourceDefinition(crd, out, nil); err != nil {
		t.Fatal(err)
	}
	return out
}
