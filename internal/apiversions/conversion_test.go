package apiversions_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/forkless/kcp/internal/apiversions"
	"github.com/forkless/kcp/pkg/apis/apis/v1alpha1"
	"github.com/forkless/kcp/pkg/apis/apis/v1alpha2"
)

func parse(t *testing.T, kind, version, text string) *unstructured.Unstructured {
	t.Helper()
	u := &unstructured.Unstructured{}
	if err := yaml.Unmarshal([]byte(text), &u.Object); err != nil {
		t.Fatal(err)
	}
	u.SetAPIVersion("apis.kcp.io/" + version)
	u.SetKind(kind)
	return u
}

func TestConvert(t *testing.T) {
	const (
		export  = "APIExport"
		binding = "APIBinding"
	)
	for name, tc := range map[string]struct {
		reason   string
		kind, to string
		in, want string
		err      string
	}{
		"SchemasNamed": {
			reason: "a schema's name has its resource and group", kind: export, to: "v1alpha2",
			in: `{metadata: {name: a}, spec: {latestResourceSchemas: [today.widgets.example.com, today.pods.core]}}`,
			want: `{metadata: {name: a}, spec: {resources: [
				{name: widgets, group: example.com, schema: today.widgets.example.com, storage: {crd: {}}},
				{name: pods, group: "", schema: today.pods.core, storage: {crd: {}}}]}}`,
		},
		"SchemaMalformed": {
			reason: "no resource can be made of it", kind: export, to: "v1alpha2",
			in: `{metadata: {name: a}, spec: {latestResourceSchemas: [widgets.today]}}`, err: `invalid schema name "widgets.today"`,
		},
		"VirtualStorage": {
			reason: "what v1alpha1 has no word for is in an annotation", kind: export, to: "v1alpha1",
			in: `{metadata: {name: a}, spec: {resources: [
				{name: widgets, group: example.com, schema: today.widgets.example.com, storage: {virtual: {identityHash: x, reference: {kind: K, name: ref}}}},
				{name: gadgets, group: example.com, schema: today.gadgets.example.com, storage: {crd: {}}}]}}`,
			want: `{metadata: {name: a, annotations: {apis.v1alpha2.kcp.io/resource-schemas:
				'[{"name":"widgets","group":"example.com","schema":"today.widgets.example.com","storage":{"virtual":{"reference":{"apiGroup":null,"kind":"K","name":"ref"},"identityHash":"x"}}}]'}},
				spec: {latestResourceSchemas: [today.gadgets.example.com]}}`,
		},
		"VerbsHidden": {
			reason: "v1alpha1 shows every claim, and keeps the verbs", kind: export, to: "v1alpha1",
			in: `{metadata: {name: a}, spec: {permissionClaims: [{resource: secrets, verbs: [get]}, {resource: configmaps, verbs: ["*"]}]}}`,
			want: `{metadata: {name: a, annotations: {apis.v1alpha2.kcp.io/permission-claims: '[{"resource":"secrets","verbs":["get"]}]'}},
				spec: {permissionClaims: [{resource: secrets, all: true}, {resource: configmaps, all: true}]}}`,
		},
		"VerbsRestored": {
			reason: "a client that keeps the annotation keeps the verbs; a claim that is gone is gone", kind: export, to: "v1alpha2",
			in: `{metadata: {name: a, annotations: {note: kept, apis.v1alpha2.kcp.io/permission-claims: '[{"resource":"secrets","verbs":["get"]},{"resource":"leases","verbs":["get"]}]'}},
				spec: {permissionClaims: [{resource: secrets, all: true}, {resource: configmaps, all: true}]}}`,
			want: `{metadata: {name: a, annotations: {note: kept}}, spec: {permissionClaims: [{resource: secrets, verbs: [get]}, {resource: configmaps, verbs: ["*"]}]}}`,
		},
		"OtherIdentity": {
			reason: "a claim with another identity is another claim", kind: export, to: "v1alpha2",
			in: `{metadata: {name: a, annotations: {apis.v1alpha2.kcp.io/permission-claims: '[{"resource":"widgets","identityHash":"x","verbs":["get"]}]'}},
				spec: {permissionClaims: [{resource: widgets, identityHash: "y", all: true}]}}`,
			want: `{metadata: {name: a}, spec: {permissionClaims: [{resource: widgets, identityHash: "y", verbs: ["*"]}]}}`,
		},
		"AnnotationWrittenBroken": {
			reason: "who writes it is told", kind: export, to: "v1alpha2",
			in:  `{metadata: {name: a, annotations: {apis.v1alpha2.kcp.io/permission-claims: "no"}}}`,
			err: "failed to decode overhanging apis.v1alpha2.kcp.io/permission-claims from annotation",
		},
		"AnnotationStoredBroken": {
			reason: "who reads it cannot help it", kind: export, to: "v1alpha1",
			in:   `{metadata: {name: a, annotations: {apis.v1alpha2.kcp.io/v1alpha1-permission-claims: "no"}}}`,
			want: `{metadata: {name: a}}`,
		},
		"AnnotationForged": {
			reason: "annotations of the other version say nothing", kind: export, to: "v1alpha1",
			in:   `{metadata: {name: a, annotations: {apis.v1alpha2.kcp.io/permission-claims: '[{"resource":"secrets","verbs":["get"]}]'}}}`,
			want: `{metadata: {name: a}}`,
		},
		"Selectors": {
			reason: "only matchAll is all", kind: binding, to: "v1alpha1",
			in: `{metadata: {name: a}, spec: {reference: {export: {name: e}}, permissionClaims: [
				{resource: secrets, verbs: ["*"], selector: {matchLabels: {a: b}}, state: Accepted},
				{resource: configmaps, verbs: ["*"], selector: {matchAll: true}, state: Rejected}]}}`,
			want: `{metadata: {name: a, annotations: {apis.v1alpha2.kcp.io/acceptable-permission-claims:
				'[{"resource":"secrets","verbs":["*"],"selector":{"matchLabels":{"a":"b"}},"state":"Accepted"}]'}},
				spec: {reference: {export: {name: e}}, permissionClaims: [{resource: secrets, state: Accepted}, {resource: configmaps, all: true, state: Rejected}]}}`,
		},
		"SelectorRestored": {
			reason: "the answer is that of v1alpha1, the rest is kept", kind: binding, to: "v1alpha2",
			in: `{metadata: {name: a, annotations: {apis.v1alpha2.kcp.io/acceptable-permission-claims:
				'[{"resource":"secrets","verbs":["get"],"selector":{"matchLabels":{"a":"b"}},"state":"Accepted"}]'}},
				spec: {reference: {export: {name: e}}, permissionClaims: [{resource: secrets, state: Rejected}]}}`,
			want: `{metadata: {name: a}, spec: {reference: {export: {name: e}}, permissionClaims: [
				{resource: secrets, verbs: [get], selector: {matchLabels: {a: b}}, state: Rejected}]}}`,
		},
		"AllMeant": {
			reason: "who says all in v1alpha1 means it", kind: binding, to: "v1alpha2",
			in: `{metadata: {name: a, annotations: {apis.v1alpha2.kcp.io/acceptable-permission-claims:
				'[{"resource":"secrets","verbs":["get"],"selector":{"matchLabels":{"a":"b"}},"state":"Accepted"}]'}},
				spec: {reference: {export: {name: e}}, permissionClaims: [{resource: secrets, all: true, state: Accepted}]}}`,
			want: `{metadata: {name: a}, spec: {reference: {export: {name: e}}, permissionClaims: [
				{resource: secrets, verbs: [get], selector: {matchAll: true}, state: Accepted}]}}`,
		},
		"ObjectsNamed": {
			reason: "naming objects has never restricted anything", kind: binding, to: "v1alpha2",
			in: `{metadata: {name: a}, spec: {reference: {export: {name: e}}, permissionClaims: [{resource: secrets, resourceSelector: [{name: s}], state: Accepted}]}}`,
			want: `{metadata: {name: a, annotations: {apis.v1alpha2.kcp.io/v1alpha1-permission-claims: '[{"resource":"secrets","resourceSelector":[{"name":"s"}]}]'}},
				spec: {reference: {export: {name: e}}, permissionClaims: [{resource: secrets, verbs: ["*"], selector: {matchAll: true}, state: Accepted}]}}`,
		},
		"NothingLeft": {
			reason: "field management converts what has no spec", kind: binding, to: "v1alpha1",
			in: `{metadata: {name: a}}`, want: `{metadata: {name: a}}`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			gv, from := v1alpha1.GroupVersion, "v1alpha2"
			if tc.to == "v1alpha2" {
				gv, from = v1alpha2.GroupVersion, "v1alpha1"
			}
			resource := v1alpha2.Resource(strings.ToLower(tc.kind) + "s")
			converter, ok := apiversions.For(resource)
			if !ok {
				t.Fatalf("%s have two versions", resource)
			}
			got, err := converter.Convert([]*unstructured.Unstructured{parse(t, tc.kind, from, tc.in)}, gv)
			if tc.err != "" {
				if !apierrors.IsBadRequest(err) || !strings.Contains(err.Error(), tc.err) {
					t.Fatalf("%s: got %v, want %q", tc.reason, err, tc.err)
				}
				return
			}
			if err != nil {
				t.Fatalf("%s: %v", tc.reason, err)
			}
			if diff := cmp.Diff(parse(t, tc.kind, tc.to, tc.want).Object, got[0].Object); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

func TestOtherKindsAreNotConverted(t *testing.T) {
	if _, ok := apiversions.For(v1alpha1.Resource("apiresourceschemas")); ok {
		t.Error("schemas have one version")
	}
}

func TestSchemaNames(t *testing.T) {
	for name, tc := range map[string]struct{ resource, group string }{
		"v1.widgets.example.com":      {"widgets", "example.com"},
		"v1.widgets.apps":             {"widgets", "apps"},
		"v1.widgets.core":             {"widgets", ""},
		"v1.widgets.sub.example.com":  {"widgets", "sub.example.com"},
		"prefix-2.widgets.core.thing": {"widgets", "core.thing"},
	} {
		resource, group, err := apiversions.SplitSchemaName(name)
		if err != nil || resource != tc.resource || group != tc.group {
			t.Errorf("%s: got %q, %q, %v", name, resource, group, err)
		}
		if !strings.HasSuffix(name, apiversions.SchemaSuffix(tc.resource, tc.group)) {
			t.Errorf("%s does not end in %s", name, apiversions.SchemaSuffix(tc.resource, tc.group))
		}
	}
}
