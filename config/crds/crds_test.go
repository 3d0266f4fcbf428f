package crds

import (
	"context"
	"os"
	"path/filepath"
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
			if diff := cmp.Diff([]string{"v1alpha1"}, crd.Status.StoredVersions); diff != "" {
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
		"PartitionSet": {
			reason: "the number of partitions is its result",
			crd:    "partitionsets.topology.kcp.io",
			want:   surface{Columns: []string{"Count", "Age"}, Status: true},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			crd, err := Get(tc.crd)
			if err != nil {
				t.Fatal(err)
			}
			version := crd.Spec.Versions[0]
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

func TestGetUnknown(t *testing.T) {
	if _, err := Get("nothings.kcp.io"); err == nil {
		t.Error("a name that no definition has must be an error")
	}
}

func internal(t *testing.T, crd *apiextensionsv1.CustomResourceDefinition) *apiextensions.CustomResourceDefinition {
	t.Helper()
	out := &apiextensions.CustomResourceDefinition{}
	if err := apiextensionsv1.Convert_v1_CustomResourceDefinition_To_apiextensions_CustomResourceDefinition(crd, out, nil); err != nil {
		t.Fatal(err)
	}
	return out
}
