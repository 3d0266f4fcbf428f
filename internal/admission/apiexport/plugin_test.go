package apiexport_test

import (
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apiserver/pkg/admission"
	"sigs.k8s.io/yaml"

	"github.com/forkless/kcp/internal/admission/admissiontest"
	"github.com/forkless/kcp/internal/admission/apiexport"
	"github.com/forkless/kcp/internal/permissionclaims"
	apisv1alpha2 "github.com/forkless/kcp/pkg/apis/apis/v1alpha2"
	"github.com/forkless/kcp/pkg/logicalcluster"
)

func TestPlugin(t *testing.T) {
	const crd = `storage: {crd: {}}`
	for name, tc := range map[string]struct {
		reason, version, annotations, spec, denied string
	}{
		"Good":           {reason: "as it should be", spec: `{resources: [{name: widgets, group: example.com, schema: v1.widgets.example.com, ` + crd + `}, {name: pods, group: "", schema: v1.pods.core, ` + crd + `}], permissionClaims: [{resource: secrets, verbs: [get]}]}`},
		"Suffix":         {reason: "a schema is for a resource", spec: `{resources: [{name: widgets, group: example.com, schema: v1.gadgets.example.com, ` + crd + `}]}`, denied: "spec.resources[0].schema: Invalid value: \"v1.gadgets.example.com\": must end in .widgets.example.com"},
		"Twice":          {reason: "a resource has one schema", spec: `{resources: [{name: a1, group: b.c, schema: x.a1.b.c, ` + crd + `}, {name: a1, group: b.c, schema: y.a1.b.c, ` + crd + `}]}`, denied: "duplicate resource schema"},
		"Storage":        {reason: "objects are somewhere", spec: `{resources: [{name: a1, group: b.c, schema: x.a1.b.c}]}`, denied: "exactly one of crd or virtual must be set"},
		"Identity":       {reason: "it is said whose resources are wanted", spec: `{permissionClaims: [{group: example.com, resource: widgets, verbs: [get]}]}`, denied: "spec.permissionClaims[0].identityHash: Required value: identityHash is required for API types that are not built-in"},
		"Sharing":        {reason: "those of sharing are in every workspace", spec: `{permissionClaims: [{group: apis.kcp.io, resource: apibindings, verbs: [get]}]}`},
		"Verbs":          {reason: "a claim is for something", spec: `{permissionClaims: [{resource: secrets}]}`, denied: "spec.permissionClaims[0].verbs: Required"},
		"VerbsTwice":     {reason: "said once", spec: `{permissionClaims: [{resource: secrets, verbs: [get, get]}]}`, denied: "spec.permissionClaims[0].verbs[1]: Duplicate"},
		"ClaimsTwice":    {reason: "a resource is claimed once", spec: `{permissionClaims: [{resource: secrets, verbs: [get]}, {resource: secrets, verbs: [list]}]}`, denied: "spec.permissionClaims[1]: Duplicate"},
		"Selector":       {reason: "a selector selects", spec: `{permissionClaims: [{resource: secrets, verbs: [get], defaultSelector: {}}]}`, denied: "either one of matchAll, matchLabels, or matchExpressions must be set"},
		"SelectorLabels": {reason: "what labels can be", spec: `{permissionClaims: [{resource: secrets, verbs: [get], defaultSelector: {matchLabels: {"a b": c}}}]}`, denied: "defaultSelector.matchLabels"},
		"Old":            {reason: "in both versions", version: "v1alpha1", spec: `{latestResourceSchemas: [v1.widgets.example.com], permissionClaims: [{resource: secrets, all: true}]}`},
		"OldName":        {reason: "names have three parts", version: "v1alpha1", spec: `{latestResourceSchemas: [widgets]}`, denied: `invalid schema name "widgets"`},
		"OldTwice":       {reason: "a resource has one schema", version: "v1alpha1", spec: `{latestResourceSchemas: [a.widgets.example.com, b.widgets.example.com]}`, denied: "duplicate resource schema"},
		"OldMismatch":    {reason: "annotations say what the spec says", version: "v1alpha1", annotations: `{apis.v1alpha2.kcp.io/permission-claims: '[{"resource":"secrets","verbs":["get"]}]'}`, spec: `{}`, denied: "do not match"},
		"OldBroken":      {reason: "in a way that can be read", version: "v1alpha1", annotations: `{apis.v1alpha2.kcp.io/resource-schemas: x}`, spec: `{}`, denied: "failed to decode overhanging"},
		"Annotated":      {reason: "in v1alpha2 they mean nothing", annotations: `{apis.v1alpha2.kcp.io/resource-schemas: x}`, spec: `{}`},
	} {
		t.Run(name, func(t *testing.T) {
			u := &unstructured.Unstructured{}
			version, annotations := tc.version, tc.annotations
			if version == "" {
				version = "v1alpha2"
			}
			if annotations == "" {
				annotations = "{}"
			}
			if err := yaml.Unmarshal([]byte(`{apiVersion: apis.kcp.io/`+version+`, kind: APIExport, metadata: {name: a, annotations: `+annotations+`}, spec: `+tc.spec+`}`), &u.Object); err != nil {
				t.Fatal(err)
			}
			r := admissiontest.Request{
				Resource: apisv1alpha2.GroupVersion.WithResource("apiexports"), Kind: "APIExport", Operation: admission.Create, Object: u,
			}
			plugin := apiexport.New(permissionclaims.NeedsIdentity)
			admissiontest.Check(t, tc.reason, plugin.Validate(admissiontest.In(t, logicalcluster.Root), r.Attributes(), nil), tc.denied)
			r.Subresource = "status"
			admissiontest.Check(t, "the status is not looked at", plugin.Validate(admissiontest.In(t, logicalcluster.Root), r.Attributes(), nil), "")
		})
	}
}
