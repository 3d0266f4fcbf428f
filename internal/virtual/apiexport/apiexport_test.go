package apiexport

import (
	"context"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	apischema "k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/endpoints/request"

	"github.com/forkless/kcp/internal/authn/identity"
	"github.com/forkless/kcp/internal/permissionclaims"
	apisv1alpha2 "github.com/forkless/kcp/pkg/apis/apis/v1alpha2"
	"github.com/forkless/kcp/pkg/logicalcluster"
)

var home, consumer = logicalcluster.MustParseName("provider"), logicalcluster.MustParseName("consumer")

func newExport(claims ...apisv1alpha2.PermissionClaim) export {
	e := &apisv1alpha2.APIExport{ObjectMeta: metav1.ObjectMeta{Name: "wild.west"}}
	e.Spec.PermissionClaims = claims
	return export{APIExport: e, cluster: home}
}

func claim(group, resource string, verbs ...string) apisv1alpha2.PermissionClaim {
	return apisv1alpha2.PermissionClaim{GroupResource: apisv1alpha2.GroupResource{Group: group, Resource: resource}, Verbs: verbs}
}

func TestIsTo(t *testing.T) {
	for name, tc := range map[string]struct {
		reason             string
		path, export, seen string
		in                 logicalcluster.Name
		want               bool
	}{
		"Resolved":      {"what has been resolved counts", "root:any", "wild.west", "provider", consumer, true},
		"Elsewhere":     {"wherever its path seems to lead", "provider", "wild.west", "other", consumer, false},
		"OtherName":     {"another export of the same workspace is another one", "root:any", "tame.west", "provider", consumer, false},
		"Unresolved":    {"a path is not followed here", "root:provider", "wild.west", "", consumer, false},
		"ByCluster":     {"the name of the cluster needs nobody to follow it", "provider", "wild.west", "", consumer, true},
		"OwnWorkspace":  {"no path is the workspace of the binding", "", "wild.west", "", home, true},
		"OtherIfNoPath": {"and no other", "", "wild.west", "", consumer, false},
	} {
		t.Run(name, func(t *testing.T) {
			b := &apisv1alpha2.APIBinding{}
			b.Spec.Reference.Export = &apisv1alpha2.ExportBindingReference{Path: tc.path, Name: tc.export}
			b.Status.APIExportClusterName = tc.seen
			if got := isTo(b, tc.in, newExport()); got != tc.want {
				t.Errorf("%s: got %t", tc.reason, got)
			}
		})
	}
}

func TestMissing(t *testing.T) {
	configmaps := apischema.GroupResource{Resource: "configmaps"}
	cowboys := apischema.GroupResource{Group: "wildwest.dev", Resource: "cowboys"}
	asked := claim("", "configmaps", "get", "list", "*")
	for name, tc := range map[string]struct {
		reason   string
		resource *resource
		of       apischema.GroupResource
		bound    bool
		verbs    []string
		state    apisv1alpha2.AcceptablePermissionClaimState
		verb     string
		want     string
	}{
		"Unserved": {reason: "what the export has nothing to do with", of: configmaps, verb: "get", want: "apiexport wild.west neither exports nor claims configmaps"},
		"Bound":    {reason: "its own resource, with any verb", resource: &resource{name: cowboys}, of: cowboys, bound: true, verb: "delete"},
		"Unbound":  {reason: "its own resource is not there yet", resource: &resource{name: cowboys}, of: cowboys, verb: "get", want: "apibinding west has not bound cowboys.wildwest.dev"},
		"Accepted": {reason: "both name the verb", resource: &resource{name: configmaps, claim: &asked}, of: configmaps, verbs: []string{"get"}, state: apisv1alpha2.ClaimAccepted, verb: "get"},
		"Any":      {reason: "both name all", resource: &resource{name: configmaps, claim: &asked}, of: configmaps, verbs: []string{"*"}, state: apisv1alpha2.ClaimAccepted, verb: "patch"},
		"Narrowed": {
			reason: "the binding does not name it", resource: &resource{name: configmaps, claim: &asked}, of: configmaps, verbs: []string{"get"}, state: apisv1alpha2.ClaimAccepted, verb: "list",
			want: "the permission claim for configmaps that apibinding west has accepted does not include verb list",
		},
		"Unoffered": {
			reason: "the export does not name it, and the binding is not to blame", resource: &resource{name: configmaps, claim: &asked}, of: configmaps, verbs: []string{"patch"}, state: apisv1alpha2.ClaimAccepted, verb: "patch",
			want: `the permission claim for configmaps of apiexport wild.west does not include verb patch; apibinding west accepts it, but both have to name it, or both "*"`,
		},
		"Rejected": {
			reason: "it was rejected", resource: &resource{name: configmaps, claim: &asked}, of: configmaps, verbs: []string{"get"}, state: apisv1alpha2.ClaimRejected, verb: "get",
			want: "apibinding west has not accepted the permission claim for configmaps with verb get",
		},
		"Unanswered": {
			reason: "nobody has answered", resource: &resource{name: configmaps, claim: &asked}, of: configmaps, verb: "list",
			want: "apibinding west has not accepted the permission claim for configmaps with verb list",
		},
	} {
		t.Run(name, func(t *testing.T) {
			b := &apisv1alpha2.APIBinding{ObjectMeta: metav1.ObjectMeta{Name: "west"}}
			if tc.bound {
				b.Status.BoundResources = []apisv1alpha2.BoundAPIResource{{Group: tc.of.Group, Resource: tc.of.Resource}}
			}
			if tc.state != "" {
				answer := apisv1alpha2.AcceptablePermissionClaim{State: tc.state}
				answer.PermissionClaim = claim(tc.of.Group, tc.of.Resource, tc.verbs...)
				b.Spec.PermissionClaims = append(b.Spec.PermissionClaims, answer)
			}
			got := ""
			if err := missing(b, newExport(), tc.resource, tc.of, tc.verb); err != nil {
				got = err.Error()
			}
			if got != tc.want {
				t.Errorf("%s: got %q, want %q", tc.reason, got, tc.want)
			}
		})
	}
}

func TestOwnBindingsAreReadOnly(t *testing.T) {
	r := &resource{name: bindings, claim: &apisv1alpha2.PermissionClaim{Verbs: readVerbs}, unasked: true}
	b := &apisv1alpha2.APIBinding{}
	for verb, want := range map[string]bool{"get": true, "list": true, "watch": true, "create": false, "update": false, "delete": false} {
		if got := missing(b, newExport(), r, bindings, verb) == nil; got != want {
			t.Errorf("%s: allowed %t", verb, got)
		}
	}
}

func TestSelecting(t *testing.T) {
	asked := claim("", "configmaps", "list")
	guard, err := permissionclaims.NewGuard(home, "wild.west", asked, apisv1alpha2.AcceptablePermissionClaim{})
	if err != nil {
		t.Fatal(err)
	}
	requirements, err := guard.Requirements("list")
	if err != nil {
		t.Fatal(err)
	}
	requirement := requirements[0]
	claimed := labels.Set{requirement.Key(): requirement.ValuesUnsorted()[0]}
	for name, tc := range map[string]struct {
		reason, selector string
		invalid          bool
		matches          labels.Set
		want             bool
	}{
		"None":      {reason: "what is claimed is selected", matches: claimed, want: true},
		"Unclaimed": {reason: "and nothing else", matches: labels.Set{"a": "b"}},
		"Both":      {reason: "what the client selects by counts as well", selector: "a=b", matches: labels.Merge(claimed, labels.Set{"a": "b"}), want: true},
		"OwnOnly":   {reason: "but not alone", selector: "a=b", matches: labels.Set{"a": "b"}},
		"Negated":   {reason: "nor by what it does not", selector: "!" + requirement.Key(), matches: claimed},
		"Open":      {reason: "what is not closed takes nothing in", selector: "a in (b", invalid: true},
		"OpenNotIn": {reason: "nor what excludes", selector: "a notin (", invalid: true},
		"Trailing":  {reason: "nor what goes on", selector: "a in (b),", invalid: true},
	} {
		t.Run(name, func(t *testing.T) {
			target := "/api/v1/configmaps?limit=5"
			if tc.selector != "" {
				// A second one is not what is taken.
				target += "&labelSelector=" + url.QueryEscape(tc.selector) + "&labelSelector=x"
			}
			req, err := selecting(httptest.NewRequest(http.MethodGet, target, nil), "list", guard)
			if tc.invalid {
				if err == nil {
					t.Errorf("%s: got %s", tc.reason, req.URL.RawQuery)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			query := req.URL.Query()
			selector, err := labels.Parse(query.Get(labelSelector))
			if err != nil || len(query[labelSelector]) != 1 || query.Get("limit") != "5" {
				t.Fatalf("%s: got %v, %v", tc.reason, query, err)
			}
			if got := selector.Matches(tc.matches); got != tc.want {
				t.Errorf("%s: %s selects %v: %t", tc.reason, selector, tc.matches, got)
			}
		})
	}
}

func TestWarrant(t *testing.T) {
	caller := &user.DefaultInfo{Name: "provider", Groups: []string{"team"}, Extra: map[string][]string{"a": {"b"}, identity.WarrantKey: {"{}"}}}
	req := httptest.NewRequest(http.MethodGet, "/", nil)
	req = withWarrant(req.WithContext(request.WithUser(req.Context(), caller)), consumer)
	got, _ := request.UserFrom(req.Context())
	want := `{"user":"system:serviceaccount:default:rest","groups":["system:kcp:admin"],"extra":{"authentication.kcp.io/cluster-name":["consumer"]}}`
	if diff := cmp.Diff([]string{"{}", want}, got.GetExtra()[identity.WarrantKey]); diff != "" || got.GetName() != "provider" || got.GetExtra()["a"][0] != "b" {
		t.Errorf("got %+v %s", got, diff)
	}
	if len(caller.Extra[identity.WarrantKey]) != 1 {
		t.Error("the caller was changed")
	}
	for cluster, admin := range map[logicalcluster.Name]bool{consumer: true, home: false, logicalcluster.Root: false} {
		found := false
		for _, u := range identity.Effective(got, cluster) {
			found = found || identity.InGroup(u, identity.Admin)
		}
		if found != admin {
			t.Errorf("admin in %s: %t, the warrant is for one cluster", cluster, found)
		}
	}
}

func TestNames(t *testing.T) {
	e := newExport(claim("", "events", "get"), claim("", "configmaps", "get"))
	e.Spec.Resources = []apisv1alpha2.ResourceSchema{{Name: "cowboys", Group: "wildwest.dev"}, {Name: "configmaps"}}
	var got []string
	for _, name := range names(e) {
		got = append(got, name.String())
	}
	if diff := cmp.Diff("cowboys.wildwest.dev configmaps events events.events.k8s.io apibindings.apis.kcp.io", strings.Join(got, " ")); diff != "" {
		t.Errorf("each once, events in both groups, bindings always: %s", diff)
	}
	if _, ok := claimOf(e, apischema.GroupResource{Group: "events.k8s.io", Resource: "events"}); !ok {
		t.Error("the claim for events is for both groups of them")
	}
}

func TestProviders(t *testing.T) {
	p := newProviders()
	a, b := provider{home, "a"}, provider{home, "b"}
	p.set(b, "one")
	p.set(a, "one")
	if diff := cmp.Diff([]string{"a", "b"}, namesOf(p.of("one"))); diff != "" {
		t.Errorf("sorted, whoever came first: %s", diff)
	}
	p.set(a, "two")
	p.set(b, "")
	if len(p.of("one")) != 0 || len(p.of("two")) != 1 || len(p.exports) != 1 || len(p.identities) != 1 {
		t.Errorf("left: %v, %v", p.exports, p.identities)
	}
}

func namesOf(providers []provider) []string {
	var all []string
	for _, p := range providers {
		all = append(all, p.name)
	}
	return all
}

func TestWatches(t *testing.T) {
	w := newWatches()
	begin := func(name string) (*watching, context.Context, func()) {
		watch := &watching{export: provider{home, name}, resource: &resource{}}
		ctx, end := w.begin(t.Context(), watch)
		return watch, ctx, end
	}
	first, firstCtx, endFirst := begin("a")
	_, secondCtx, endSecond := begin("b")
	if found := w.of(func(watch *watching) bool { return watch.export.name == "a" }); len(found) != 1 || found[0] != first {
		t.Errorf("found %v", found)
	}
	w.end(first)
	if firstCtx.Err() == nil || secondCtx.Err() != nil {
		t.Error("one watch is ended, and no other")
	}
	endFirst()
	endSecond()
	w.end(first)
	if len(w.running) != 0 {
		t.Errorf("%d are remembered", len(w.running))
	}
}
