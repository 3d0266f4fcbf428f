package crds

import (
	"strings"
	"testing"
)

// TestSharingRules: what the schemas of apis.kcp.io say beside what admission does.
func TestSharingRules(t *testing.T) {
	const (
		slices      = "apiexportendpointslices.apis.kcp.io"
		conversions = "apiconversions.apis.kcp.io"
		schemas     = "apiresourceschemas.apis.kcp.io"
	)
	cases := map[string]struct {
		reason string
		crds   []string
		old    string
		object string
		want   []string // what the errors contain, one each; none: valid
	}{
		"ReferenceChanged": {
			reason: "what is bound stays the same in both versions",
			crds:   []string{"apibindings.apis.kcp.io/v1alpha1", "apibindings.apis.kcp.io/v1alpha2"},
			old:    `{spec: {reference: {export: {name: a}}}}`,
			object: `{spec: {reference: {export: {name: b}}}}`,
			want:   []string{"APIExport reference must not be changed"},
		},
		"ReferencePath": {
			reason: "a path is a path",
			crds:   []string{"apibindings.apis.kcp.io/v1alpha1", "apibindings.apis.kcp.io/v1alpha2"},
			object: `{spec: {reference: {export: {name: a, path: "root:"}}}}`,
			want:   []string{"spec.reference.export.path"},
		},
		"ReferenceToASystemCluster": {
			reason: "clusters of the system are named like paths",
			crds:   []string{"apibindings.apis.kcp.io/v1alpha1", "apibindings.apis.kcp.io/v1alpha2"},
			object: `{spec: {reference: {export: {name: a, path: "system:admin"}}}}`,
		},
		"SelectorChanged": {
			reason: "whether it may is decided by admission, which knows the claim",
			crds:   []string{"apibindings.apis.kcp.io/v1alpha2"},
			old:    `{spec: {reference: {export: {name: a}}, permissionClaims: [{resource: configmaps, verbs: [get], state: Accepted, selector: {matchAll: true}}]}}`,
			object: `{spec: {reference: {export: {name: a}}, permissionClaims: [{resource: configmaps, verbs: [get], state: Accepted, selector: {matchLabels: {a: b}}}]}}`,
		},
		"BoundResource": {
			reason: "a bound resource says of which schema it is",
			crds:   []string{"apibindings.apis.kcp.io/v1alpha1", "apibindings.apis.kcp.io/v1alpha2"},
			object: `{spec: {reference: {export: {name: a}}}, status: {boundResources: [{group: b, resource: c, schema: {name: x, UID: "", identityHash: z}}]}}`,
			want:   []string{"status.boundResources[0].schema.UID"},
		},
		"Phase": {
			reason: "there are three",
			crds:   []string{"apibindings.apis.kcp.io/v1alpha1", "apibindings.apis.kcp.io/v1alpha2"},
			object: `{spec: {reference: {export: {name: a}}}, status: {phase: Ready}}`,
			want:   []string{"status.phase"},
		},
		"SliceReferenceChanged": {
			reason: "a slice is for one export",
			crds:   []string{slices},
			old:    `{spec: {export: {name: a}}}`,
			object: `{spec: {export: {name: b}}}`,
			want:   []string{"APIExport reference must not be changed"},
		},
		"SliceShards": {
			reason: "all and some contradict each other",
			crds:   []string{slices},
			object: `{spec: {export: {name: a}}, status: {endpoints: [{url: "https://a", shards: {matchAll: true, selector: {}}}]}}`,
			want:   []string{"mutually exclusive"},
		},
		"SliceURL": {
			reason: "an address is not empty",
			crds:   []string{slices},
			object: `{spec: {export: {name: a}}, status: {endpoints: [{url: ""}]}}`,
			want:   []string{"status.endpoints[0].url"},
		},
		"Conversion": {
			reason: "everything right",
			crds:   []string{conversions},
			object: `{metadata: {}, spec: {conversions: [{from: v1, to: v2beta1, rules: [{field: .spec.a, destination: .spec.b, transformation: self}], preserve: [.spec.c]}]}}`,
		},
		"ConversionVersions": {
			reason: "versions are called as versions are",
			crds:   []string{conversions},
			object: `{metadata: {}, spec: {conversions: [{from: one, to: v0}]}}`,
			want:   []string{"spec.conversions[0].from", "spec.conversions[0].to"},
		},
		"ConversionFields": {
			reason: "a rule is about fields",
			crds:   []string{conversions},
			object: `{metadata: {}, spec: {conversions: [{from: v1, to: v2, rules: [{field: "", destination: ""}]}]}}`,
			want:   []string{"rules[0].field", "rules[0].destination"},
		},
		"ConversionNothing": {
			reason: "it is about something",
			crds:   []string{conversions},
			object: `{metadata: {}, spec: {}}`,
			want:   []string{"spec.conversions"},
		},
		"SchemaNoVersions": {
			reason: "a resource has a version",
			crds:   []string{schemas},
			object: `{spec: {group: a.b, scope: Cluster, names: {plural: a, kind: A}, versions: []}}`,
			// One is that of the rule about conversions.
			want: []string{"spec.versions", "Conversion must be specified"},
		},
	}
	for name, tc := range cases {
		for _, crd := range tc.crds {
			t.Run(name+"/"+crd, func(t *testing.T) {
				v := newValidator(t, crd)
				errs := v.validate(v.object(t, tc.object), v.object(t, tc.old))
				if len(errs) != len(tc.want) {
					t.Fatalf("%s: want %d errors, got %v", tc.reason, len(tc.want), errs)
				}
				for _, want := range tc.want {
					if text := errs.ToAggregate(); !strings.Contains(text.Error(), want) {
						t.Errorf("%s: %q is not in %v", tc.reason, want, text)
					}
				}
			})
		}
	}
}
