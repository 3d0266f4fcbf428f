package create

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/pflag"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/yaml"

	"github.com/forkless/kcp/pkg/cli/run"
	"github.com/forkless/kcp/pkg/cli/ws/target"
)

func TestParseRules(t *testing.T) {
	cases := map[string]struct {
		reason string
		args   []string
		want   []rbacv1.PolicyRule
		fails  string
	}{
		"None": {reason: "without rules there are none"},
		"Core": {
			reason: "a resource without a group is of the core group", args: []string{"get,list configmaps,secrets"},
			want: []rbacv1.PolicyRule{{Verbs: []string{"get", "list"}, APIGroups: []string{""}, Resources: []string{"configmaps", "secrets"}}},
		},
		"Group": {
			reason: "behind the dot is the group", args: []string{"* widgets.acme.io"},
			want: []rbacv1.PolicyRule{{Verbs: []string{"*"}, APIGroups: []string{"acme.io"}, Resources: []string{"widgets"}}},
		},
		"Groups": {
			reason: "groups do not mix: each resource is allowed in its own", args: []string{"get secrets,widgets.acme.io,configmaps.core"},
			want: []rbacv1.PolicyRule{
				{Verbs: []string{"get"}, APIGroups: []string{""}, Resources: []string{"secrets", "configmaps"}},
				{Verbs: []string{"get"}, APIGroups: []string{"acme.io"}, Resources: []string{"widgets"}},
			},
		},
		"Subresource": {
			reason: "a subresource follows the group", args: []string{"update widgets.acme.io/status"},
			want: []rbacv1.PolicyRule{{Verbs: []string{"update"}, APIGroups: []string{"acme.io"}, Resources: []string{"widgets/status"}}},
		},
		"Everything": {
			reason: "all resources are those of all groups", args: []string{"* *"},
			want: []rbacv1.PolicyRule{{Verbs: []string{"*"}, APIGroups: []string{"*"}, Resources: []string{"*"}}},
		},
		"GroupWhole": {
			reason: "or of one", args: []string{"get *.acme.io"},
			want: []rbacv1.PolicyRule{{Verbs: []string{"get"}, APIGroups: []string{"acme.io"}, Resources: []string{"*"}}},
		},
		"OneWord":    {reason: "verbs without resources allow nothing", args: []string{"get"}, fails: "is no rule"},
		"ThreeWords": {reason: "a space for a comma is a slip", args: []string{"get list pods"}, fails: "is no rule"},
		"Verb":       {reason: "verbs are words", args: []string{"GET pods"}, fails: `"GET" is no verb`},
		"Resource":   {reason: "resources are in lower case", args: []string{"get Pods"}, fails: `"Pods" is no resource`},
		"Empty":      {reason: "two commas have nothing between them", args: []string{"get pods,,secrets"}, fails: `"" is no resource`},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got, err := parseRules(tc.args)
			if (err != nil) != (tc.fails != "") || err != nil && !strings.Contains(err.Error(), tc.fails) {
				t.Fatalf("%s: error %v", tc.reason, err)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s: (-want +got)\n%s", tc.reason, diff)
			}
		})
	}
}

// TestFlags parses arguments as the command does and looks at the spec that comes of them.
func TestFlags(t *testing.T) {
	cases := map[string]struct {
		reason, args string
		want         string
		fails        string
	}{
		"Plain": {reason: "a name is enough", args: "team", want: "{}"},
		"All": {
			reason: "every flag is a field",
			args: "team --extend root:universal --extend base --terminator --default-child :root:acme:app --allow-child a,root:b --allow-parent c " +
				"--bind root:platform:certs --bind own --bind-lifecycle Maintain --label a=b --auth-config corp",
			want: `
additionalWorkspaceLabels: {a: b}
authenticationConfigurations: [{name: corp}]
defaultAPIBindings: [{path: "root:platform", export: certs}, {export: own}]
defaultAPIBindingLifecycle: Maintain
defaultChildWorkspaceType: {path: "root:acme", name: app}
extend: {with: [{path: root, name: universal}, {name: base}]}
limitAllowedChildren: {types: [{name: a}, {path: root, name: b}]}
limitAllowedParents: {types: [{name: c}]}
terminator: true`,
		},
		"NoChildren": {reason: "none is a choice of its own", args: "team --no-children", want: "limitAllowedChildren: {none: true}"},
		"Any":        {reason: "any is no type", args: "any", fails: `"any" cannot be the name of a workspace type`},
		"System":     {reason: "nor is system", args: "system", fails: `"system" cannot be the name of a workspace type`},
		"Name":       {reason: "a name is a label", args: "a.b", fails: `"a.b" cannot be the name of a workspace type`},
		"Children":   {reason: "none and some exclude each other", args: "team --no-children --allow-child a", fails: "exclude each other"},
		"Lifecycle":  {reason: "there are two", args: "team --bind-lifecycle maintain", fails: "InitializeOnly or Maintain"},
		"DryRun":     {reason: "there are three", args: "team --dry-run=yes", fails: "none, client or server"},
		"Bind":       {reason: "an export has a name", args: "team --bind root:", fails: "has to look like"},
		"BindPath":   {reason: "and a path that can be one", args: "team --bind A_B:certs", fails: "--bind"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			o := NewOptions(target.New(run.Streams{}))
			flags := pflag.NewFlagSet("create", pflag.ContinueOnError)
			o.AddFlags(flags)
			err := flags.Parse(strings.Fields(tc.args))
			if err == nil {
				o.Name = flags.Arg(0)
				err = o.Complete()
			}
			if err == nil {
				err = o.Validate()
			}
			if (err != nil) != (tc.fails != "") || err != nil && !strings.Contains(err.Error(), tc.fails) {
				t.Fatalf("%s: error %v", tc.reason, err)
			}
			if err != nil {
				return
			}
			got, err := yaml.Marshal(o.spec)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(decode(t, tc.want), decode(t, string(got))); diff != "" {
				t.Errorf("%s: (-want +got)\n%s", tc.reason, diff)
			}
		})
	}
}

func TestUnknownFields(t *testing.T) {
	strict := apierrors.NewBadRequest(`WorkspaceType in version "v1alpha1" cannot be handled as a WorkspaceType: strict decoding error: unknown field "spec.terminator", unknown field "spec.terminatorPermissions"`)
	if got, want := unknownFields(strict).Error(), "this server does not know terminator, terminatorPermissions of workspace types"; got != want {
		t.Errorf("an old server is said to be one: got %q, want %q", got, want)
	}
	other := apierrors.NewBadRequest("something else")
	if got := unknownFields(other); !errors.Is(got, other) {
		t.Errorf("what else a server has to say stays as it is: got %v", got)
	}
}

func decode(t *testing.T, content string) any {
	t.Helper()
	var value any
	if err := yaml.Unmarshal([]byte(content), &value); err != nil {
		t.Fatal(err)
	}
	return value
}
