package crds

import (
	"context"
	"strings"
	"testing"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	schemacel "k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
	"sigs.k8s.io/yaml"
)

func TestRules(t *testing.T) {
	cases := map[string]struct {
		reason string
		crd    string
		old    string
		object string
		want   []string // what the errors contain, one each; none: valid
	}{
		"WorkspaceMinimal": {
			reason: "spec and status have defaults",
			crd:    "workspaces.tenancy.kcp.io",
			object: `{metadata: {name: a}}`,
		},
		"WorkspaceNameUpperCase": {
			reason: "a name is a path segment",
			crd:    "workspaces.tenancy.kcp.io",
			object: `{metadata: {name: Team}}`,
			want:   []string{"metadata.name"},
		},
		"WorkspaceNameTooLong": {
			reason: "63 characters are the limit of a segment",
			crd:    "workspaces.tenancy.kcp.io",
			object: `{metadata: {name: ` + strings.Repeat("a", 64) + `}}`,
			want:   []string{"metadata.name: Too long"},
		},
		"WorkspaceNameWithColon": {
			reason: "a colon would read as two segments",
			crd:    "workspaces.tenancy.kcp.io",
			object: `{metadata: {name: "a:b"}}`,
			want:   []string{"metadata.name"},
		},
		"WorkspaceTypeSetLater": {
			reason: "admission fills the type in; the schema must let it",
			crd:    "workspaces.tenancy.kcp.io",
			old:    `{metadata: {name: a}}`,
			object: `{metadata: {name: a}, spec: {type: {name: universal, path: root}}}`,
		},
		"WorkspaceTypeNameChanged": {
			reason: "what was made cannot be made otherwise afterwards",
			crd:    "workspaces.tenancy.kcp.io",
			old:    `{metadata: {name: a}, spec: {type: {name: universal, path: root}}}`,
			object: `{metadata: {name: a}, spec: {type: {name: team, path: root}}}`,
			want:   []string{"name is immutable"},
		},
		"WorkspaceTypePathChanged": {
			reason: "the same name elsewhere is another type",
			crd:    "workspaces.tenancy.kcp.io",
			old:    `{metadata: {name: a}, spec: {type: {name: universal, path: root}}}`,
			object: `{metadata: {name: a}, spec: {type: {name: universal, path: "root:org"}}}`,
			want:   []string{"path is immutable"},
		},
		"WorkspaceTypePathUnset": {
			reason: "the path cannot be forgotten either",
			crd:    "workspaces.tenancy.kcp.io",
			old:    `{metadata: {name: a}, spec: {type: {name: universal, path: root}}}`,
			object: `{metadata: {name: a}, spec: {type: {name: universal}}}`,
			want:   []string{"path is immutable"},
		},
		"WorkspaceTypePathMalformed": {
			reason: "a path has non-empty segments",
			crd:    "workspaces.tenancy.kcp.io",
			object: `{metadata: {name: a}, spec: {type: {name: universal, path: "root::org"}}}`,
			want:   []string{"spec.type.path"},
		},
		"WorkspaceClusterSetOnce": {
			reason: "scheduling sets it",
			crd:    "workspaces.tenancy.kcp.io",
			old:    `{metadata: {name: a}}`,
			object: `{metadata: {name: a}, spec: {cluster: abc}}`,
		},
		"WorkspaceClusterChanged": {
			reason: "another cluster would be another workspace",
			crd:    "workspaces.tenancy.kcp.io",
			old:    `{metadata: {name: a}, spec: {cluster: abc}}`,
			object: `{metadata: {name: a}, spec: {cluster: abd}}`,
			want:   []string{"cluster is immutable"},
		},
		"WorkspaceClusterAndURLUnset": {
			reason: "both would orphan the logical cluster",
			crd:    "workspaces.tenancy.kcp.io",
			old:    `{metadata: {name: a}, spec: {cluster: abc, URL: "https://x"}}`,
			object: `{metadata: {name: a}, spec: {}}`,
			want:   []string{"cluster cannot be unset", "URL cannot be unset"},
		},
		"WorkspaceURLChanged": {
			reason: "a shard may get another address; admission keeps users from it",
			crd:    "workspaces.tenancy.kcp.io",
			old:    `{metadata: {name: a}, spec: {URL: "https://x"}}`,
			object: `{metadata: {name: a}, spec: {URL: "https://y"}}`,
		},
		"WorkspaceMountChanged": {
			reason: "a mount is for life",
			crd:    "workspaces.tenancy.kcp.io",
			old:    `{metadata: {name: a}, spec: {mount: {ref: {apiVersion: v1, kind: K, name: a}}}}`,
			object: `{metadata: {name: a}, spec: {mount: {ref: {apiVersion: v1, kind: K, name: b}}}}`,
			want:   []string{"mount is immutable"},
		},
		"WorkspacePhaseUnknown": {
			reason: "clients switch over the phases",
			crd:    "workspaces.tenancy.kcp.io",
			object: `{metadata: {name: a}, status: {phase: Sleeping}}`,
			want:   []string{"status.phase"},
		},
		"WorkspaceInitializers": {
			reason: "identifiers of types and of the system",
			crd:    "workspaces.tenancy.kcp.io",
			object: `{metadata: {name: a}, status: {initializers: ["root:universal", "system:apibindings"]}}`,
		},
		"WorkspaceConditionIncomplete": {
			reason: "type, status and time are needed",
			crd:    "workspaces.tenancy.kcp.io",
			object: `{metadata: {name: a}, status: {conditions: [{type: Ready}]}}`,
			want:   []string{"lastTransitionTime", "status"},
		},
		"WorkspaceTypeEmpty": {
			reason: "a type may do nothing at all",
			crd:    "workspacetypes.tenancy.kcp.io",
			object: `{metadata: {name: a}}`,
		},
		"WorkspaceTypeNamedAny": {
			reason: "reserved",
			crd:    "workspacetypes.tenancy.kcp.io",
			object: `{metadata: {name: any}}`,
			want:   []string{"metadata.name"},
		},
		"WorkspaceTypeNamedSystem": {
			reason: "reserved",
			crd:    "workspacetypes.tenancy.kcp.io",
			object: `{metadata: {name: system}}`,
			want:   []string{"metadata.name"},
		},
		"WorkspaceTypeLimitsNeither": {
			reason: "an empty selector says nothing",
			crd:    "workspacetypes.tenancy.kcp.io",
			object: `{metadata: {name: a}, spec: {limitAllowedChildren: {}}}`,
			want:   []string{"spec.limitAllowedChildren"},
		},
		"WorkspaceTypeLimitsBoth": {
			reason: "none and some contradict each other",
			crd:    "workspacetypes.tenancy.kcp.io",
			object: `{metadata: {name: a}, spec: {limitAllowedParents: {none: true, types: [{name: b, path: root}]}}}`,
			want:   []string{"spec.limitAllowedParents"},
		},
		"WorkspaceTypeLimitsNoTypes": {
			reason: "to allow none, say none",
			crd:    "workspacetypes.tenancy.kcp.io",
			object: `{metadata: {name: a}, spec: {limitAllowedParents: {types: []}}}`,
			want:   []string{"spec.limitAllowedParents.types"},
		},
		"WorkspaceTypeChanges": {
			reason: "types have no immutable fields",
			crd:    "workspacetypes.tenancy.kcp.io",
			old:    `{metadata: {name: a}, spec: {defaultChildWorkspaceType: {name: b, path: root}}}`,
			object: `{metadata: {name: a}, spec: {defaultChildWorkspaceType: {name: c}, initializer: true}}`,
		},
		"WorkspaceTypeBindingWithoutExport": {
			reason: "a binding needs something to bind",
			crd:    "workspacetypes.tenancy.kcp.io",
			object: `{metadata: {name: a}, spec: {defaultAPIBindings: [{path: root}]}}`,
			want:   []string{"spec.defaultAPIBindings[0].export"},
		},
		"WorkspaceTypeLifecycleUnknown": {
			reason: "two lifecycles",
			crd:    "workspacetypes.tenancy.kcp.io",
			object: `{metadata: {name: a}, spec: {defaultAPIBindingLifecycle: Forever}}`,
			want:   []string{"spec.defaultAPIBindingLifecycle"},
		},
		"WorkspaceTypePermissionWithoutVerbs": {
			reason: "a rule without verbs allows nothing",
			crd:    "workspacetypes.tenancy.kcp.io",
			object: `{metadata: {name: a}, spec: {initializerPermissions: [{apiGroups: [""], resources: [configmaps]}]}}`,
			want:   []string{"spec.initializerPermissions[0].verbs"},
		},
		"LogicalCluster": {
			reason: "the one name",
			crd:    "logicalclusters.core.kcp.io",
			object: `{metadata: {name: cluster}}`,
		},
		"LogicalClusterOtherName": {
			reason: "a second one in a cluster would have no meaning",
			crd:    "logicalclusters.core.kcp.io",
			object: `{metadata: {name: other}}`,
			want:   []string{"metadata.name"},
		},
		"LogicalClusterOwnerIncomplete": {
			reason: "an owner must be findable",
			crd:    "logicalclusters.core.kcp.io",
			object: `{metadata: {name: cluster}, spec: {owner: {apiVersion: tenancy.kcp.io/v1alpha1, resource: "", name: a, cluster: root}}}`,
			want:   []string{"spec.owner.resource", "spec.owner.uid"},
		},
		"LogicalClusterOwnerVersionMalformed": {
			reason: "group and version, no more",
			crd:    "logicalclusters.core.kcp.io",
			object: `{metadata: {name: cluster}, spec: {owner: {apiVersion: a/b/c, resource: r, name: a, cluster: root, uid: x}}}`,
			want:   []string{"spec.owner.apiVersion"},
		},
		"ShardWithoutURL": {
			reason: "a shard is its address",
			crd:    "shards.core.kcp.io",
			object: `{metadata: {name: a}, spec: {}}`,
			want:   []string{"spec.baseURL"},
		},
		"ShardURLMalformed": {
			reason: "addresses are URIs",
			crd:    "shards.core.kcp.io",
			object: `{metadata: {name: a}, spec: {baseURL: "https://a", externalURL: "here"}}`,
			want:   []string{"spec.externalURL"},
		},
		"PartitionWithoutSpec": {
			reason: "spec is required",
			crd:    "partitions.topology.kcp.io",
			object: `{metadata: {name: a}}`,
			want:   []string{"spec: Required"},
		},
		"PartitionSet": {
			reason: "everything right",
			crd:    "partitionsets.topology.kcp.io",
			object: `{metadata: {name: a}, spec: {dimensions: [region], shardSelector: {matchLabels: {example.dev/region: eu}, matchExpressions: [{key: a, operator: Exists}]}}}`,
		},
		"PartitionSetKeyMalformed": {
			reason: "a key of the partition would be refused later",
			crd:    "partitionsets.topology.kcp.io",
			object: `{metadata: {name: a}, spec: {shardSelector: {matchExpressions: [{key: "a b", operator: Exists}], matchLabels: {"Dev/x": eu}}}}`,
			want:   []string{"key must be a label key", "keys must be label keys"},
		},
		"PartitionSetValuesMissing": {
			reason: "In nothing never holds",
			crd:    "partitionsets.topology.kcp.io",
			object: `{metadata: {name: a}, spec: {shardSelector: {matchExpressions: [{key: a, operator: In, values: []}]}}}`,
			want:   []string{"values are needed"},
		},
		"PartitionSetValuesTooMany": {
			reason: "Exists compares nothing",
			crd:    "partitionsets.topology.kcp.io",
			object: `{metadata: {name: a}, spec: {shardSelector: {matchExpressions: [{key: a, operator: Exists, values: [b]}]}}}`,
			want:   []string{"values are needed"},
		},
		"AuthenticationWithoutIssuers": {
			reason: "the list is the point",
			crd:    "workspaceauthenticationconfigurations.tenancy.kcp.io",
			object: `{metadata: {name: a}, spec: {}}`,
			want:   []string{"spec.jwt: Required value"},
		},
		"AuthenticationClaimAndExpression": {
			reason: "a value has one source",
			crd:    "workspaceauthenticationconfigurations.tenancy.kcp.io",
			object: `{metadata: {name: a}, spec: {jwt: [{issuer: {url: "https://i"}, claimMappings: {username: {claim: sub, expression: claims.sub}}}]}}`,
			want:   []string{"claim and expression cannot both be specified"},
		},
		"AuthenticationPrefixAndExpression": {
			reason: "an expression can make its own prefix",
			crd:    "workspaceauthenticationconfigurations.tenancy.kcp.io",
			object: `{metadata: {name: a}, spec: {jwt: [{issuer: {url: "https://i"}, claimMappings: {username: {expression: claims.sub, prefix: ""}}}]}}`,
			want:   []string{"prefix can only be specified when claim is specified"},
		},
		"AuthenticationNoUsername": {
			reason: "a user has a name",
			crd:    "workspaceauthenticationconfigurations.tenancy.kcp.io",
			object: `{metadata: {name: a}, spec: {jwt: [{issuer: {url: "https://i"}, claimMappings: {username: {}}}]}}`,
			want:   []string{"either claim or expression must be specified"},
		},
		"AuthenticationValidationRule": {
			reason: "a claim needs its value",
			crd:    "workspaceauthenticationconfigurations.tenancy.kcp.io",
			object: `{metadata: {name: a}, spec: {jwt: [{issuer: {url: "https://i"}, claimMappings: {username: {claim: sub, prefix: ""}}, claimValidationRules: [{claim: hd}]}]}}`,
			want:   []string{"requiredValue must be specified with claim"},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			v := newValidator(t, tc.crd)
			errs := v.validate(v.object(t, tc.object), v.object(t, tc.old))
			if len(errs) != len(tc.want) {
				t.Fatalf("%s: want %d errors, got %v", tc.reason, len(tc.want), errs)
			}
			text := errs.ToAggregate()
			for _, want := range tc.want {
				if !strings.Contains(text.Error(), want) {
					t.Errorf("%s: %q is not in %v", tc.reason, want, text)
				}
			}
		})
	}
}

func TestDefaults(t *testing.T) {
	cases := map[string]struct {
		reason string
		crd    string
		object string
		want   string
	}{
		"Workspace": {
			reason: "a new workspace is to be scheduled",
			crd:    "workspaces.tenancy.kcp.io",
			object: `{metadata: {name: a}}`,
			want:   `{metadata: {name: a}, spec: {}, status: {phase: Scheduling}}`,
		},
		"LogicalCluster": {
			reason: "it is deleted through its owner",
			crd:    "logicalclusters.core.kcp.io",
			object: `{metadata: {name: cluster}}`,
			want:   `{metadata: {name: cluster}, spec: {directlyDeletable: false}, status: {phase: Scheduling}}`,
		},
		"WorkspaceTypeWithoutSpec": {
			reason: "spec has no default",
			crd:    "workspacetypes.tenancy.kcp.io",
			object: `{metadata: {name: a}}`,
			want:   `{metadata: {name: a}}`,
		},
		"WorkspaceTypeWithSpec": {
			reason: "children are universal unless somebody says otherwise",
			crd:    "workspacetypes.tenancy.kcp.io",
			object: `{metadata: {name: a}, spec: {}}`,
			want:   `{metadata: {name: a}, spec: {defaultChildWorkspaceType: {name: universal, path: root}}}`,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			v := newValidator(t, tc.crd)
			got, err := yaml.Marshal(v.object(t, tc.object))
			if err != nil {
				t.Fatal(err)
			}
			if want := reformat(t, tc.want); string(got) != want {
				t.Errorf("%s: want\n%s\ngot\n%s", tc.reason, want, got)
			}
		})
	}
}

// validator does what an API server does with a custom resource on its way in.
type validator struct {
	structural *schema.Structural
	schema     validation.SchemaValidator
	rules      *schemacel.Validator
}

func newValidator(t *testing.T, name string) *validator {
	t.Helper()
	_, version := versionOf(t, name)
	props := &apiextensions.JSONSchemaProps{}
	if err := apiextensionsv1.Convert_v1_JSONSchemaProps_To_apiextensions_JSONSchemaProps(version.Schema.OpenAPIV3Schema, props, nil); err != nil {
		t.Fatal(err)
	}
	structural, err := schema.NewStructural(props)
	if err != nil {
		t.Fatal(err)
	}
	schemaValidator, _, err := validation.NewSchemaValidator(props)
	if err != nil {
		t.Fatal(err)
	}
	return &validator{
		structural: structural,
		schema:     schemaValidator,
		rules:      schemacel.NewValidator(structural, true, celconfig.PerCallLimit),
	}
}

// object returns the defaulted object that text is the YAML of, nil for no text.
func (v *validator) object(t *testing.T, text string) map[string]any {
	t.Helper()
	if text == "" {
		return nil
	}
	var object map[string]any
	if err := yaml.Unmarshal([]byte(text), &object); err != nil {
		t.Fatal(err)
	}
	defaulting.Default(object, v.structural)
	return object
}

func (v *validator) validate(object, old map[string]any) field.ErrorList {
	errs := validation.ValidateCustomResource(nil, object, v.schema)
	if v.rules == nil {
		return errs
	}
	// A nil map in an interface is not a nil interface, and that is what says "create".
	var previous any
	if old != nil {
		previous = old
	}
	more, _ := v.rules.Validate(context.Background(), nil, v.structural, object, previous, celconfig.RuntimeCELCostBudget)
	return append(errs, more...)
}

func reformat(t *testing.T, text string) string {
	t.Helper()
	var value any
	if err := yaml.Unmarshal([]byte(text), &value); err != nil {
		t.Fatal(err)
	}
	out, err := yaml.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}
