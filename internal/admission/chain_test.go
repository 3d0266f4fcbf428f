package admission_test

import (
	"context"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/managedfields"
	apiadmission "k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/authorization/authorizer"

	"github.com/forkless/kcp/internal/admission"
	"github.com/forkless/kcp/internal/admission/admissiontest"
	"github.com/forkless/kcp/internal/admission/informers"
	"github.com/forkless/kcp/internal/admission/objectlimit"
	"github.com/forkless/kcp/internal/admission/policies"
	"github.com/forkless/kcp/internal/storage/cached"
	"github.com/forkless/kcp/internal/tenancy/tenancytest"
	corev1alpha1 "github.com/forkless/kcp/pkg/apis/core/v1alpha1"
	tenancyv1alpha1 "github.com/forkless/kcp/pkg/apis/tenancy/v1alpha1"
	"github.com/forkless/kcp/pkg/logicalcluster"
)

type yes struct{}

func (yes) Authorize(context.Context, authorizer.Attributes) (authorizer.Decision, string, error) {
	return authorizer.DecisionAllow, "", nil
}

func (yes) AllowedIn(context.Context, logicalcluster.Name, authorizer.Attributes) (bool, error) {
	return true, nil
}

type active struct{}

func (active) Phase(context.Context, logicalcluster.Name, string) (corev1.NamespacePhase, error) {
	return corev1.NamespaceActive, nil
}

func (active) LatestPhase(context.Context, logicalcluster.Name, string) (corev1.NamespacePhase, error) {
	return corev1.NamespaceActive, nil
}

type uncounted struct{}

func (uncounted) ObjectCount(context.Context, logicalcluster.Name) (int64, bool, error) {
	return 0, false, nil
}

type unlimited struct{}

func (unlimited) Measured(schema.GroupResource) bool { return false }

func (unlimited) Charge(context.Context, logicalcluster.Name, apiadmission.Attributes) error {
	return nil
}

type unclaimed struct{}

func (unclaimed) Labels(logicalcluster.Name, schema.GroupResource, map[string]string) map[string]string {
	return nil
}

func config(t testing.TB) admission.Config {
	t.Helper()
	tree := tenancytest.New(t)
	tree.AddCluster("root:org", "root:organization")
	return admission.Config{
		Types: tree.Types(), Clusters: tree.Clusters(), Paths: tree.Paths(), Exports: admissiontest.Exports{}, Namespaces: active{}, Authorizer: yes{},
		Conversions:  &cached.APIs{},
		ObjectLimits: objectlimit.Limits{Clusters: tree.Clusters()}, ObjectCounts: uncounted{}, Quotas: unlimited{}, Claims: unclaimed{},
		Configurations: informers.Sources{Index: admissiontest.NoConfigurations(), Namespaces: cached.NamespaceReader{}},
		Mapper:         func(logicalcluster.Name) meta.RESTMapper { return meta.NewDefaultRESTMapper(nil) },
		Objects:        policies.Registries(nil),
		ParamKind: func(logicalcluster.Name, schema.GroupVersionKind) (r schema.GroupVersionResource, namespaced, ok bool) {
			return r, false, false
		},
		Structure: func(logicalcluster.Name, schema.GroupVersionKind) managedfields.TypeConverter { return nil },
	}
}

// TestOrder holds the two orders that clients can observe: when a request breaks
// several rules, which is named.
func TestOrder(t *testing.T) {
	var mutating, validating []string
	for _, plugin := range admission.Plugins(config(t)) {
		if _, ok := plugin.Interface.(apiadmission.MutationInterface); ok {
			mutating = append(mutating, plugin.Name)
		}
		if _, ok := plugin.Interface.(apiadmission.ValidationInterface); ok {
			validating = append(validating, plugin.Name)
		}
	}
	wantMutating := []string{
		"WorkspaceNamespaceLifecycle",
		"tenancy.kcp.io/Status",
		"tenancy.kcp.io/Workspace",
		"tenancy.kcp.io/LogicalClusterDeletionFinalizer",
		"tenancy.kcp.io/WorkspaceTypeExists",
		"core.kcp.io/LogicalCluster",
		"apis.kcp.io/APIBinding",
		"apis.kcp.io/APIBindingDeletionFinalizer",
		"apis.kcp.io/MutatingWebhook",
		"KCPMutatingAdmissionPolicy",
		"apis.kcp.io/ReservedNames",
		"kcp.io/PathAnnotation",
		"kcp.io/ClusterAnnotation",
		"apis.kcp.io/PermissionClaims",
	}
	if diff := cmp.Diff(wantMutating, mutating); diff != "" {
		t.Errorf("mutating (-want +got):\n%s", diff)
	}
	wantValidating := []string{
		"CertificateApproval", "CertificateSigning", "CertificateSubjectRestriction",
		"OwnerReferencesPermissionEnforcement",
		"tenancy.kcp.io/APIResourceSchema",
		"tenancy.kcp.io/Workspace",
		"tenancy.kcp.io/LogicalClusterDeletionFinalizer",
		"tenancy.kcp.io/WorkspaceType",
		"tenancy.kcp.io/WorkspaceTypeExists",
		"core.kcp.io/LogicalCluster",
		"apis.kcp.io/APIExport",
		"apis.kcp.io/APIBinding",
		"apis.kcp.io/APIBindingDeletionFinalizer",
		"apis.kcp.io/APIExportEndpointSlice",
		"apis.kcp.io/APIConversion",
		"KCPValidatingAdmissionPolicy",
		"apis.kcp.io/ValidatingWebhook",
		"apis.kcp.io/ReservedCRDAnnotations",
		"kcp.io/ReservedCRDGroups",
		"kcp.io/PathAnnotation",
		"apis.kcp.io/PermissionClaims",
		"core.kcp.io/LogicalClusterObjectCountLimit",
		"KCPKubeResourceQuota",
	}
	if diff := cmp.Diff(wantValidating, validating); diff != "" {
		t.Errorf("validating (-want +got):\n%s", diff)
	}
}

// TestCreate takes a workspace through all plugins, as a request does.
func TestCreate(t *testing.T) {
	chain, err := admission.New(config(t))
	if err != nil {
		t.Fatal(err)
	}
	object := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "tenancy.kcp.io/v1alpha1", "kind": "Workspace",
		"metadata": map[string]any{"name": "app", "annotations": map[string]any{"kcp.io/path": "root"}},
		"spec":     map[string]any{},
	}}
	attributes := admissiontest.Request{
		Resource: tenancyv1alpha1.GroupVersion.WithResource("workspaces"), Kind: "Workspace",
		Operation: apiadmission.Create, Object: object,
	}.Attributes()
	ctx := admissiontest.In(t, tenancytest.ClusterAt("root:org"))
	if err := chain.(apiadmission.MutationInterface).Admit(ctx, attributes, nil); err != nil {
		t.Fatal(err)
	}
	if err := chain.(apiadmission.ValidationInterface).Validate(ctx, attributes, nil); err != nil {
		t.Fatal(err)
	}
	want := map[string]any{
		"apiVersion": "tenancy.kcp.io/v1alpha1", "kind": "Workspace",
		"metadata": map[string]any{"name": "app", "finalizers": []any{corev1alpha1.LogicalClusterFinalizer}, "annotations": map[string]any{
			"kcp.io/cluster":                    tenancytest.ClusterAt("root:org").String(),
			"kcp.io/path":                       "root:org",
			"experimental.tenancy.kcp.io/owner": `{"username":"alice","uid":"1","groups":["system:authenticated"]}`,
		}},
		"spec": map[string]any{"type": map[string]any{"name": "universal", "path": "root"}},
	}
	if diff := cmp.Diff(want, object.Object); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestConfigIsChecked(t *testing.T) {
	for name, drop := range map[string]func(*admission.Config){
		"Types":          func(c *admission.Config) { c.Types = nil },
		"Clusters":       func(c *admission.Config) { c.Clusters = nil },
		"Paths":          func(c *admission.Config) { c.Paths = nil },
		"Exports":        func(c *admission.Config) { c.Exports = nil },
		"Namespaces":     func(c *admission.Config) { c.Namespaces = nil },
		"Limits":         func(c *admission.Config) { c.ObjectLimits.Clusters = nil },
		"Counts":         func(c *admission.Config) { c.ObjectCounts = nil },
		"Quotas":         func(c *admission.Config) { c.Quotas = nil },
		"Authorizer":     func(c *admission.Config) { c.Authorizer = nil },
		"Configurations": func(c *admission.Config) { c.Configurations = informers.Sources{} },
		"Claims":         func(c *admission.Config) { c.Claims = nil },
		"Mapper":         func(c *admission.Config) { c.Mapper = nil },
	} {
		t.Run(name, func(t *testing.T) {
			config := config(t)
			drop(&config)
			if _, err := admission.New(config); err == nil {
				t.Error("what is missing would be a panic in the middle of a request")
			}
		})
	}
}

func TestNamesAreUnique(t *testing.T) {
	var names []string
	for _, plugin := range admission.Plugins(config(t)) {
		if slices.Contains(names, plugin.Name) {
			t.Errorf("%s is there twice", plugin.Name)
		}
		names = append(names, plugin.Name)
	}
}

// BenchmarkConfigMap is what every write of an ordinary object pays.
func BenchmarkConfigMap(b *testing.B) {
	chain, err := admission.New(config(b))
	if err != nil {
		b.Fatal(err)
	}
	attributes := admissiontest.Request{
		Resource: corev1.SchemeGroupVersion.WithResource("configmaps"), Kind: "ConfigMap",
		Operation: apiadmission.Create, Namespace: "default", Object: &corev1.ConfigMap{},
	}.Attributes()
	ctx := admissiontest.In(b, logicalcluster.Root)
	b.ReportAllocs()
	for b.Loop() {
		if err := chain.(apiadmission.MutationInterface).Admit(ctx, attributes, nil); err != nil {
			b.Fatal(err)
		}
		if err := chain.(apiadmission.ValidationInterface).Validate(ctx, attributes, nil); err != nil {
			b.Fatal(err)
		}
	}
}
