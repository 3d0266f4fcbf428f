package apibinding_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/authentication/user"
	"sigs.k8s.io/yaml"

	"github.com/forkless/kcp/internal/admission/admissiontest"
	"github.com/forkless/kcp/internal/admission/apibinding"
	"github.com/forkless/kcp/internal/admission/bind"
	"github.com/forkless/kcp/internal/apihash"
	"github.com/forkless/kcp/internal/exportref"
	"github.com/forkless/kcp/internal/tenancy/tenancytest"
	apisv1alpha2 "github.com/forkless/kcp/pkg/apis/apis/v1alpha2"
	"github.com/forkless/kcp/pkg/logicalcluster"
)

const (
	exportLabel = "internal.apis.kcp.io/export"
	claimPrefix = "claimed.internal.apis.kcp.io/"
	statusKey   = "apis.v1alpha2.kcp.io/status-applied-permission-claims"
)

var (
	consumer = tenancytest.ClusterAt("root:consumer")
	provider = tenancytest.ClusterAt("root:provider")
)

func plugin(t *testing.T) *apibinding.Plugin {
	t.Helper()
	tree := tenancytest.New(t)
	tree.AddCluster("root:consumer", "root:universal")
	tree.AddCluster("root:provider", "root:universal")
	return apibinding.New(bind.Access{
		Exports: exportref.NewResolver(tree.Paths(), admissiontest.Exports{provider.String() + "/widgets", provider.String() + "/secret"}),
		Authorizer: admissiontest.Grants{
			provider.String() + " bind apiexports/widgets", provider.String() + " bind apiexports/gone",
			consumer.String() + " bind apiexports/own", "root bind apiexports/tenancy.kcp.io",
		},
	})
}

// parse returns a binding in v1alpha2 unless text says otherwise.
func parse(t *testing.T, text string) *unstructured.Unstructured {
	t.Helper()
	u := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "apis.kcp.io/v1alpha2", "kind": "APIBinding"}}
	var content map[string]any
	if err := yaml.Unmarshal([]byte(text), &content); err != nil {
		t.Fatal(err)
	}
	for key, value := range content {
		u.Object[key] = value
	}
	return u
}

func labels(cluster logicalcluster.Name, export string, more ...string) map[string]string {
	result := map[string]string{exportLabel: apihash.Export(cluster, export), apihash.ClaimLabelKey(cluster, export): apihash.Reflexive}
	for i := 0; i < len(more); i += 2 {
		result[more[i]] = more[i+1]
	}
	return result
}

func TestPlugin(t *testing.T) {
	const bound = `{metadata: {name: a, labels: {internal.apis.kcp.io/export: HASH, claimed.internal.apis.kcp.io/HASH: REFLEXIVE}}, spec: {reference: {export: {path: "root:provider", name: NAME}}}}`
	known := strings.NewReplacer("HASH", apihash.Export(provider, "widgets"), "REFLEXIVE", apihash.Reflexive, "NAME", "widgets").Replace(bound)
	gone := strings.NewReplacer("HASH", apihash.Export(provider, "gone"), "REFLEXIVE", apihash.Reflexive, "NAME", "gone").Replace(bound)
	moved := strings.NewReplacer("HASH", "elsewhere", "REFLEXIVE", apihash.Reflexive, "NAME", "secret").Replace(bound)
	for name, tc := range map[string]struct {
		reason  string
		old, in string
		user    user.Info
		labels  map[string]string
		denied  string
		code    int
	}{
		"Path":         {reason: "who may bind may", in: `{metadata: {name: a}, spec: {reference: {export: {path: "root:provider", name: widgets}}}}`, labels: labels(provider, "widgets")},
		"Cluster":      {reason: "by cluster too", in: `{metadata: {name: a}, spec: {reference: {export: {path: ` + provider.String() + `, name: widgets}}}}`, labels: labels(provider, "widgets")},
		"Old":          {reason: "in both versions", in: `{apiVersion: apis.kcp.io/v1alpha1, metadata: {name: a}, spec: {reference: {export: {path: "root:provider", name: widgets}}}}`, labels: labels(provider, "widgets")},
		"Forged":       {reason: "labels are what they have to be", in: `{metadata: {name: a, labels: {x: "y", internal.apis.kcp.io/export: z, claimed.internal.apis.kcp.io/z: ` + apihash.Reflexive + `, claimed.internal.apis.kcp.io/q: other}}, spec: {reference: {export: {path: "root:provider", name: widgets}}}}`, labels: labels(provider, "widgets", "x", "y", claimPrefix+"q", "other")},
		"Denied":       {reason: "who may not bind may not", in: `{metadata: {name: a}, spec: {reference: {export: {path: "root:provider", name: secret}}}}`, denied: "unable to create APIBinding: no permission to bind to export root:provider:secret"},
		"NoExport":     {reason: "what is not there is as forbidden", in: `{metadata: {name: a}, spec: {reference: {export: {path: "root:provider", name: gone}}}}`, denied: "unable to create APIBinding: no permission to bind to export root:provider:gone"},
		"NoWorkspace":  {reason: "and so is what is nowhere", in: `{metadata: {name: a}, spec: {reference: {export: {path: "root:nowhere", name: widgets}}}}`, denied: "unable to create APIBinding: no permission to bind to export root:nowhere:widgets"},
		"Own":          {reason: "in the own workspace the export may come later", in: `{metadata: {name: a}, spec: {reference: {export: {name: own}}}}`, labels: labels(consumer, "own")},
		"OwnDenied":    {reason: "for those who may bind it", in: `{metadata: {name: a}, spec: {reference: {export: {name: other}}}}`, denied: "unable to create APIBinding: no permission to bind to export other"},
		"Root":         {reason: "in root too", in: `{metadata: {name: a}, spec: {reference: {export: {path: root, name: tenancy.kcp.io}}}}`, labels: labels(logicalcluster.Root, "tenancy.kcp.io")},
		"NoReference":  {reason: "something is bound", in: `{metadata: {name: a}, spec: {reference: {}}}`, denied: "spec.reference.export: Required"},
		"NoName":       {reason: "with a name", in: `{metadata: {name: a}, spec: {reference: {export: {path: root}}}}`, denied: "spec.reference.export.name: Required"},
		"Moved":        {reason: "a reference that leads elsewhere is another one", old: moved, in: moved, user: admissiontest.User("x"), denied: "unable to update APIBinding: no permission to bind to export root:provider:secret"},
		"Updated":      {reason: "nobody is asked again", old: known, in: known, labels: labels(provider, "widgets")},
		"ExportGone":   {reason: "what was bound stays bound", old: gone, in: gone, labels: labels(provider, "gone")},
		"GoneForged":   {reason: "and is what it was", old: gone, in: strings.ReplaceAll(gone, apihash.Export(provider, "gone"), "forged"), labels: labels(provider, "gone")},
		"PhaseBack":    {reason: "somebody has looked at it", old: strings.Replace(known, "spec:", "status: {phase: Bound}, spec:", 1), in: known, user: admissiontest.Masters(), denied: `cannot transition from "Bound" to ""`},
		"SelectorSame": {reason: "answers may change", old: claims("abc", "matchAll: true", "Accepted"), in: claims("abc", "matchAll: true", "Rejected"), labels: labels(provider, "widgets")},
		"Selector":     {reason: "not in their selectors", old: claims("abc", "matchAll: true", "Accepted"), in: claims("abc", "matchLabels: {a: b}", "Accepted"), denied: "Permission claim selector is immutable", code: http.StatusUnprocessableEntity},
		"SelectorOK":   {reason: "but where the claim has no identity", old: claims("", "matchAll: true", "Accepted"), in: claims("", "matchLabels: {a: b}", "Accepted"), labels: labels(provider, "widgets")},
		"Selectors":    {reason: "a selector selects", in: claims("", "matchAll: true, matchLabels: {a: b}", "Accepted"), denied: "matchLabels cannot be used with matchAll"},
	} {
		t.Run(name, func(t *testing.T) {
			r := admissiontest.Request{
				Resource: apisv1alpha2.GroupVersion.WithResource("apibindings"), Kind: "APIBinding",
				Operation: admission.Create, Object: parse(t, tc.in), User: tc.user,
			}
			if tc.old != "" {
				r.Operation, r.Old = admission.Update, parse(t, tc.old)
			}
			ctx, p := admissiontest.In(t, consumer), plugin(t)
			if err := p.Admit(ctx, r.Attributes(), nil); err != nil {
				t.Fatal(err)
			}
			err := p.Validate(ctx, r.Attributes(), nil)
			if tc.code == http.StatusUnprocessableEntity {
				if !apierrors.IsInvalid(err) || !strings.Contains(err.Error(), tc.denied) {
					t.Errorf("%s: got %v", tc.reason, err)
				}
				return
			}
			admissiontest.Check(t, tc.reason, err, tc.denied)
			if tc.denied == "" {
				if diff := cmp.Diff(tc.labels, r.Object.(*unstructured.Unstructured).GetLabels()); diff != "" {
					t.Errorf("%s: labels (-want +got):\n%s", tc.reason, diff)
				}
			}
		})
	}
}

// claims returns a binding that answers a claim.
func claims(identity, selector, state string) string {
	return `{metadata: {name: a, labels: {internal.apis.kcp.io/export: ` + apihash.Export(provider, "widgets") + `}},
		spec: {reference: {export: {path: "root:provider", name: widgets}}, permissionClaims: [
		{group: example.com, resource: gadgets, identityHash: "` + identity + `", verbs: ["*"], selector: {` + selector + `}, state: ` + state + `}]}}`
}

func TestLabelsChangedInBetween(t *testing.T) {
	r := admissiontest.Request{
		Resource: apisv1alpha2.GroupVersion.WithResource("apibindings"), Kind: "APIBinding", Operation: admission.Create,
		Object: parse(t, `{metadata: {name: a, labels: {internal.apis.kcp.io/export: forged}}, spec: {reference: {export: {name: own}}}}`),
	}
	admissiontest.Check(t, "a webhook cannot make a binding somebody else's", plugin(t).Validate(admissiontest.In(t, consumer), r.Attributes(), nil), "must be set to")
}

func TestStatusAnnotations(t *testing.T) {
	with := func(value string) *unstructured.Unstructured {
		annotations := ""
		if value != "" {
			annotations = `, annotations: {` + statusKey + `: '` + value + `'}`
		}
		return parse(t, `{apiVersion: apis.kcp.io/v1alpha1, metadata: {name: a`+annotations+`}, spec: {reference: {export: {name: own}}}}`)
	}
	for name, tc := range map[string]struct {
		reason   string
		old      *unstructured.Unstructured
		in, want string
	}{
		"New":     {reason: "a new binding has no status", in: "[]", want: ""},
		"Changed": {reason: "it stays what it is", old: with("[]"), in: `[{"resource":"secrets"}]`, want: "[]"},
		"Dropped": {reason: "it stays", old: with("[]"), in: "", want: "[]"},
		"Broken":  {reason: "and whatever else is written", old: with(""), in: "nonsense", want: ""},
	} {
		t.Run(name, func(t *testing.T) {
			r := admissiontest.Request{
				Resource: apisv1alpha2.GroupVersion.WithResource("apibindings"), Kind: "APIBinding", Operation: admission.Create, Object: with(tc.in),
			}
			if tc.old != nil {
				r.Operation, r.Old = admission.Update, tc.old
			}
			ctx, p := admissiontest.In(t, consumer), plugin(t)
			if err := p.Admit(ctx, r.Attributes(), nil); err != nil {
				t.Fatal(err)
			}
			if got := r.Object.(*unstructured.Unstructured).GetAnnotations()[statusKey]; got != tc.want {
				t.Errorf("%s: got %q, want %q", tc.reason, got, tc.want)
			}
			if err := p.Validate(ctx, r.Attributes(), nil); err != nil {
				t.Errorf("%s: %v", tc.reason, err)
			}
			if tc.in == tc.want {
				return
			}
			r.Object = with(`[{"resource":"configmaps"}]`)
			r.Object.(*unstructured.Unstructured).SetLabels(labels(consumer, "own"))
			admissiontest.Check(t, "nor can a webhook", p.Validate(ctx, r.Attributes(), nil), "part of the status")
		})
	}
}
