package create

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/pflag"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	tenancyv1alpha1 "github.com/forkless/kcp/pkg/apis/tenancy/v1alpha1"
	"github.com/forkless/kcp/pkg/cli/confirm"
	"github.com/forkless/kcp/pkg/cli/run"
	"github.com/forkless/kcp/pkg/cli/ws/target"
	"github.com/forkless/kcp/pkg/logicalcluster"
	"github.com/forkless/kcp/pkg/tenancy"
)

// parsed returns the options that flags come to, or the error.
func parsed(t *testing.T, args []string) (*Options, error) {
	t.Helper()
	o := NewOptions(target.New(run.Streams{}))
	flags := pflag.NewFlagSet("", pflag.ContinueOnError)
	o.AddFlags(flags)
	if err := flags.Parse(args); err != nil {
		t.Fatal(err)
	}
	if err := o.Complete(); err != nil {
		return nil, err
	}
	return o, o.Validate()
}

func TestOptions(t *testing.T) {
	team := &tenancyv1alpha1.WorkspaceTypeReference{Path: "root:acme", Name: "team"}
	named := func(shard string) *tenancyv1alpha1.WorkspaceLocation {
		return &tenancyv1alpha1.WorkspaceLocation{Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"name": shard}, MatchExpressions: []metav1.LabelSelectorRequirement{}}}
	}
	type workspace = tenancyv1alpha1.Workspace
	spec := func(ref *tenancyv1alpha1.WorkspaceTypeReference, location *tenancyv1alpha1.WorkspaceLocation) workspace {
		return workspace{Spec: tenancyv1alpha1.WorkspaceSpec{Type: ref, Location: location}}
	}
	cases := map[string]struct {
		reason, args string
		want         workspace
		fails        string
	}{
		"Nothing":       {reason: "everything is left to the server"},
		"Type":          {reason: "the last colon splits, and names are in lower case", args: "--type root:acme:Team", want: spec(team, nil)},
		"Colon":         {reason: "an absolute path may be written as kubectl ws has it", args: "--type :root:acme:team", want: spec(team, nil)},
		"NearestType":   {reason: "a name alone is looked for by the server", args: "--type team", want: spec(&tenancyv1alpha1.WorkspaceTypeReference{Name: "team"}, nil)},
		"NoName":        {reason: "a path is no type", args: "--type root:", fails: "--type:"},
		"Shard":         {reason: "a shard is a selector", args: "--shard eu", want: spec(nil, named("eu"))},
		"Selector":      {reason: "and is written as one as well", args: "--location-selector name=eu", want: spec(nil, named("eu"))},
		"BadSelector":   {reason: "what is none is not sent", args: "--location-selector =", fails: "--location-selector"},
		"Both":          {reason: "they could contradict each other", args: "--shard eu --location-selector a=b", fails: "one of them is enough"},
		"Labels":        {reason: "pairs", args: "--label a=b --label c= --annotation d=e=f", want: workspace{ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"a": "b", "c": ""}, Annotations: map[string]string{"d": "e=f"}}}},
		"NoPair":        {reason: "a key alone is no label", args: "--label a", fails: `--label "a" is not KEY=VALUE`},
		"NoKey":         {reason: "nor is a value", args: "--annotation =a", fails: "is not KEY=VALUE"},
		"Said":          {reason: "what is said about it stands in annotations", args: "--description payments --protect money", want: workspace{ObjectMeta: metav1.ObjectMeta{Annotations: map[string]string{descriptionAnnotation: "payments", confirm.ProtectedAnnotation: "money"}}}},
		"DryRun":        {reason: "one of three", args: "--dry-run maybe", fails: "none of none, client, server"},
		"EnterUnready":  {reason: "nobody enters what is not ready", args: "--wait=false --enter", fails: "do not go with --wait=false"},
		"ContextAtOnce": {reason: "nor gets a context for it", args: "--wait=false --create-context x", fails: "do not go with --wait=false"},
		"NoTime":        {reason: "that is what --wait=false is for", args: "--timeout 0s", fails: "leaves no time"},
		"Relative":      {reason: "which type a name means is not known before", args: "--ignore-existing --type team", fails: "needs an absolute --type"},
		"Absolute":      {reason: "a path says it", args: "--ignore-existing --type root:acme:team", want: spec(team, nil)},
		"Output":        {reason: "an unknown format", args: "-o xml", fails: "xml"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			o, err := parsed(t, strings.Fields(tc.args))
			switch {
			case tc.fails != "":
				if err == nil || !strings.Contains(err.Error(), tc.fails) {
					t.Errorf("%s: error %v, want something about %q", tc.reason, err, tc.fails)
				}
			case err != nil:
				t.Errorf("%s: %v", tc.reason, err)
			default:
				if diff := cmp.Diff(tc.want, o.object); diff != "" {
					t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
				}
			}
		})
	}
}

func TestDefaults(t *testing.T) {
	o, err := parsed(t, nil)
	if err != nil {
		t.Fatal(err)
	}
	if !o.Wait || o.Timeout != time.Minute || o.parentType.Name != "universal" {
		t.Errorf("it waits: %v, for %s; parents are %v", o.Wait, o.Timeout, o.parentType)
	}
}

func TestPathOf(t *testing.T) {
	at := func(p string) tenancyv1alpha1.WorkspaceSpec {
		return tenancyv1alpha1.WorkspaceSpec{URL: "https://elsewhere/clusters/" + p}
	}
	mounted := at("root:other")
	mounted.Mount = &tenancyv1alpha1.Mount{}
	cases := map[string]struct {
		reason, parent, home string
		spec                 tenancyv1alpha1.WorkspaceSpec
		want                 string
	}{
		"Usual":     {reason: "the URL says where it is", parent: "root:acme", spec: at("root:acme:new"), want: "root:acme:new"},
		"ByName":    {reason: "also if the parent was called otherwise", parent: "2kb1y3r0q9x8", spec: at("root:acme:new"), want: "root:acme:new"},
		"Mount":     {reason: "what is mounted is reached through the workspace", parent: "root:acme", spec: mounted, want: "root:acme:new"},
		"Home":      {reason: "what is at home is known as such by one name", parent: "3aymvjlwa46sq", home: "3aymvjlwa46sq", spec: at("user:me:new"), want: "3aymvjlwa46sq:new"},
		"BelowHome": {reason: "however deep it is", parent: "3aymvjlwa46sq:a", home: "3aymvjlwa46sq", spec: at("user:me:a:new"), want: "3aymvjlwa46sq:a:new"},
		"NotHome":   {reason: "a name may begin like home", parent: "3aymvjlwa46sqx", home: "3aymvjlwa46sq", spec: at("root:b:new"), want: "root:b:new"},
		"NoURL":     {reason: "a workspace without a place cannot be gone to", parent: "root:acme", spec: tenancyv1alpha1.WorkspaceSpec{}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			ws := &tenancyv1alpha1.Workspace{ObjectMeta: metav1.ObjectMeta{Name: "new"}, Spec: tc.spec}
			var home logicalcluster.Path
			if tc.home != "" {
				home = logicalcluster.MustParsePath(tc.home)
			}
			got, err := pathOf(logicalcluster.MustParsePath(tc.parent), ws, home)
			if (err != nil) != (tc.want == "") || got.String() != tc.want {
				t.Errorf("%s: got %q, %v, want %q", tc.reason, got, err, tc.want)
			}
		})
	}
}

func TestAllowedHere(t *testing.T) {
	var types []tenancy.Type
	for _, name := range []string{"a", "b", "c", "d", "e", "f", "g"} {
		types = append(types, tenancy.Type{
			Place:  tenancy.Place{Path: logicalcluster.Root.Path()},
			Object: &tenancyv1alpha1.WorkspaceType{ObjectMeta: metav1.ObjectMeta{Name: name}},
		})
	}
	for count, want := range map[int]string{
		0: "no type that you can see is allowed here",
		2: "allowed here: root:a, root:b",
		5: "allowed here: root:a, root:b, root:c, root:d, root:e",
		7: "allowed here: root:a, root:b, root:c, root:d, root:e and 2 more",
	} {
		if got := allowedHere(types[:count]); got != want {
			t.Errorf("%d: got %q, want %q", count, got, want)
		}
	}
}
