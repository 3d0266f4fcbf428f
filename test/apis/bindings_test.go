package apis

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/forkless/kcp/internal/apihash"
	"github.com/forkless/kcp/pkg/logicalcluster"
)

var bindingBehaviors = map[string]behavior{
	"Rules":         bindingRules,
	"Metadata":      bindingMetadata,
	"Immutable":     bindingImmutable,
	"Selectors":     bindingSelectors,
	"Finalizer":     bindingFinalizer,
	"Phase":         bindingPhase,
	"StatusForgery": bindingStatusForgery,
}

// binding is the YAML of an APIBinding with claims.
func binding(name, path, export string, claims ...string) string {
	return bindingIn("v1alpha2", name, path, export, claims...)
}

func bindingIn(version, name, path, export string, claims ...string) string {
	reference := `name: ` + export
	if path != "" {
		reference += `, path: "` + path + `"`
	}
	return fmt.Sprintf(`{apiVersion: apis.kcp.io/%s, kind: APIBinding, metadata: {name: %s}, spec: {reference: {export: {%s}}, permissionClaims: [%s]}}`,
		version, name, reference, strings.Join(claims, ", "))
}

func bindingRules(t *testing.T, s suite) {
	c := as(t, s.server, alice, s.workspace(t, aliceName).path)
	const claim = `{resource: configmaps, verbs: ["*"], state: Accepted, selector: `
	for name, tc := range map[string]struct {
		reason string
		body   string
		code   int
		words  []string
	}{
		"NoReference":       {reason: "a binding binds something", body: `{apiVersion: apis.kcp.io/v1alpha2, kind: APIBinding, metadata: {name: a}, spec: {reference: {}}}`, code: 422, words: []string{"spec.reference"}},
		"NoName":            {reason: "with a name", body: `{apiVersion: apis.kcp.io/v1alpha2, kind: APIBinding, metadata: {name: a}, spec: {reference: {export: {path: root}}}}`, code: 422, words: []string{"spec.reference.export.name"}},
		"OldNoReference":    {reason: "in both versions", body: `{apiVersion: apis.kcp.io/v1alpha1, kind: APIBinding, metadata: {name: a}, spec: {reference: {}}}`, code: 422, words: []string{"spec.reference"}},
		"PathMalformed":     {reason: "a path is a path", body: binding("a", "Root:Org", "widgets"), code: 422, words: []string{"spec.reference.export.path"}},
		"Wildcard":          {reason: "no export is everywhere", body: binding("a", "*", "widgets"), code: 422, words: []string{"spec.reference.export.path"}},
		"SelectorAndLabels": {reason: "all and some contradict each other", body: binding("a", "", "widgets", claim+`{matchAll: true, matchLabels: {a: b}}}`), code: 403, words: []string{"matchLabels cannot be used with matchAll"}},
		"SelectorAndExpr":   {reason: "all and some contradict each other", body: binding("a", "", "widgets", claim+`{matchAll: true, matchExpressions: [{key: a, operator: Exists}]}}`), code: 403, words: []string{"matchExpressions cannot be used with matchAll"}},
		"SelectorEmpty":     {reason: "nothing says nothing", body: binding("a", "", "widgets", claim+`{}}`), code: 403, words: []string{"either one of matchAll, matchLabels, or matchExpressions must be set"}},
		"SelectorMissing":   {reason: "which objects is said", body: binding("a", "", "widgets", `{resource: configmaps, verbs: ["*"], state: Accepted}`), code: 422, words: []string{"selector"}},
		"SelectorMalformed": {reason: "selectors select", body: binding("a", "", "widgets", claim+`{matchExpressions: [{key: a, operator: Similar}]}}`), code: 403, words: []string{"not a valid selector operator"}},
		"StateUnknown":      {reason: "there are two answers", body: binding("a", "", "widgets", `{resource: configmaps, verbs: ["*"], state: Perhaps, selector: {matchAll: true}}`), code: 422, words: []string{"state"}},
		"Twice":             {reason: "a claim has one answer", body: binding("a", "", "widgets", claim+`{matchAll: true}}`, claim+`{matchLabels: {a: b}}}`), code: 422, words: []string{"Duplicate value"}},
		"OldTwice":          {reason: "in both versions", body: bindingIn("v1alpha1", "a", "", "widgets", `{resource: configmaps, all: true, state: Accepted}`, `{resource: configmaps, all: true, state: Rejected}`), code: 403, words: []string{"Duplicate value"}},
		"OldAnnotation":     {reason: "annotations can be read", body: strings.Replace(bindingIn("v1alpha1", "a", "", "widgets"), "name: a}", `name: a, annotations: {apis.v1alpha2.kcp.io/acceptable-permission-claims: x}}`, 1), code: 403, words: []string{"failed to decode overhanging"}},
	} {
		t.Run(name, func(t *testing.T) {
			c := c
			c.t = t
			version := v2
			if strings.Contains(tc.body, "apis.kcp.io/v1alpha1") {
				version = v1
			}
			a := c.do("POST", version+"/apibindings", tc.body)
			if a.code != tc.code {
				t.Fatalf("%s: got %d, want %d: %s", tc.reason, a.code, tc.code, a.body)
			}
			for _, word := range tc.words {
				if !strings.Contains(a.body, word) {
					t.Errorf("%s: %q is not in %s", tc.reason, word, a.body)
				}
			}
		})
	}
}

// bindingMetadata: a binding has the labels, the annotation and the finalizer by which the
// system knows it, whatever a client writes, in both versions.
func bindingMetadata(t *testing.T, s suite) {
	provider, consumer := s.workspace(t, bobName), s.workspace(t, aliceName)
	as(t, s.server, bob, provider.path).must(http.StatusCreated, "POST", v2+"/apiexports", export("widgets", `{}`))
	s.mayBind(t, provider, aliceName, "widgets")
	c := as(t, s.server, alice, consumer.path)
	cluster := logicalcluster.MustParseName(provider.cluster)
	want := map[string]string{
		"internal.apis.kcp.io/export":             apihash.Export(cluster, "widgets"),
		apihash.ClaimLabelKey(cluster, "widgets"): "LstvmbbzVDDOn90ZbhzSQO5U3DMCf88h1pZ",
		"mine": "kept",
	}
	for version, url := range map[string]string{"v1alpha1": v1, "v1alpha2": v2} {
		name := "by-" + version
		forged := strings.Replace(bindingIn(version, name, provider.path, "widgets"), "{name: "+name+"}",
			`{name: `+name+`, labels: {mine: kept, internal.apis.kcp.io/export: forged, claimed.internal.apis.kcp.io/forged: LstvmbbzVDDOn90ZbhzSQO5U3DMCf88h1pZ},
			annotations: {kcp.io/path: forged}, finalizers: [example.com/mine]}`, 1)
		c.eventually(http.StatusCreated, "POST", url+"/apibindings", forged)
		check := func(what string, a answer) {
			t.Helper()
			labels, _ := json.Marshal(want)
			equal(t, version+", "+what+": labels name the export", string(labels), a, "metadata", "labels")
			equal(t, version+", "+what+": the path is that of the workspace", consumer.path, a, "metadata", "annotations", "kcp.io/path")
			if finalizers := a.field("metadata", "finalizers"); !strings.Contains(finalizers, `"apis.kcp.io/apibinding-finalizer"`) {
				t.Errorf("%s, %s: finalizers %s", version, what, finalizers)
			}
		}
		path := url + "/apibindings/" + name
		check("created", c.must(http.StatusOK, "GET", path, ""))
		check("updated", c.update(http.StatusOK, path, func(u *unstructured.Unstructured) {
			u.SetLabels(map[string]string{"mine": "kept", "internal.apis.kcp.io/export": "other"})
			u.SetAnnotations(map[string]string{"kcp.io/path": "other"})
			u.SetFinalizers(nil)
		}))
	}
}

// bindingImmutable: what is bound stays the same, in both versions.
func bindingImmutable(t *testing.T, s suite) {
	c := as(t, s.server, alice, s.workspace(t, aliceName).path)
	c.must(http.StatusCreated, "POST", v2+"/apibindings", binding("a", "", "widgets"))
	for _, version := range []string{v1, v2} {
		path := version + "/apibindings/a"
		for _, patch := range []string{`{spec: {reference: {export: {name: gadgets}}}}`, `{spec: {reference: {export: {path: root}}}}`} {
			c.must(http.StatusUnprocessableEntity, "PATCH", path, patch, "APIExport reference must not be changed")
		}
		c.must(http.StatusUnprocessableEntity, "APPLY", path+"?fieldManager=me&force=true",
			bindingIn(strings.TrimPrefix(version, "/apis/apis.kcp.io/"), "a", "", "gadgets"), "APIExport reference must not be changed")
	}
}

// bindingSelectors: answers change in all they say, but for the selectors of those to
// claims with both a group and an identity.
func bindingSelectors(t *testing.T, s suite) {
	c := as(t, s.server, alice, s.workspace(t, aliceName).path)
	claim := func(key, selector string) string {
		return `{` + key + `, verbs: ["*"], state: Accepted, selector: ` + selector + `}`
	}
	const core, builtIn, bound = `resource: configmaps`, `group: rbac.authorization.k8s.io, resource: roles`, `group: example.com, resource: widgets, identityHash: abc`
	const all, some = `{matchAll: true}`, `{matchLabels: {a: b}}`
	c.must(http.StatusCreated, "POST", v2+"/apibindings", binding("a", "", "widgets", claim(core, all), claim(builtIn, all), claim(bound, all)))
	change := func(claims ...string) string {
		return `{spec: {permissionClaims: [` + strings.Join(claims, ", ") + `]}}`
	}
	path := v2 + "/apibindings/a"
	c.must(http.StatusOK, "PATCH", path, change(claim(core, some), claim(builtIn, some), claim(bound, all)))
	c.must(http.StatusUnprocessableEntity, "PATCH", path, change(claim(core, some), claim(builtIn, some), claim(bound, some)), "Permission claim selector is immutable", "spec.permissionClaims[2].selector")
	c.must(http.StatusOK, "PATCH", path, change(strings.Replace(claim(bound, all), "Accepted", "Rejected", 1)))
	c.must(http.StatusOK, "PATCH", path, change())
	c.must(http.StatusOK, "PATCH", path, change(claim(bound, some)))
}

// bindingFinalizer: only the system takes it off.
func bindingFinalizer(t *testing.T, s suite) {
	p := s.workspace(t, aliceName)
	c := as(t, s.server, alice, p.path)
	c.must(http.StatusCreated, "POST", v2+"/apibindings", strings.Replace(binding("a", "", "widgets"), "{name: a}", "{name: a, finalizers: [example.com/mine]}", 1))
	path := v2 + "/apibindings/a"
	c.must(http.StatusOK, "DELETE", path, "")
	a := c.do("PATCH", path, `{metadata: {finalizers: [example.com/mine]}}`)
	// Unless it has done so already: nothing is bound.
	if a.code != http.StatusOK && (a.code != http.StatusForbidden || !strings.Contains(a.body, "removing the finalizer apis.kcp.io/apibinding-finalizer is forbidden")) {
		t.Errorf("got %d %s", a.code, a.body)
	}
}

// bindingPhase: it is never as if nobody had looked at a binding yet.
func bindingPhase(t *testing.T, s suite) {
	p := s.workspace(t, aliceName)
	c := as(t, s.server, alice, p.path)
	c.must(http.StatusCreated, "POST", v2+"/apibindings", binding("a", "", "widgets"))
	m := as(t, s.server, master, p.path)
	path := v2 + "/apibindings/a"
	set := func(phase string) func(u *unstructured.Unstructured) {
		return func(u *unstructured.Unstructured) {
			_ = unstructured.SetNestedField(u.Object, phase, "status", "phase")
		}
	}
	m.update(http.StatusOK, path+"/status", set("Binding"))
	m.update(http.StatusForbidden, path+"/status", set(""), "cannot transition from \"Binding\"")
	m.update(http.StatusForbidden, strings.Replace(path, v2, v1, 1)+"/status", set(""), "cannot transition from")
	c.update(http.StatusForbidden, path+"/status", set("Bound"))
}

// bindingStatusForgery: v1alpha1 has a part of the status in annotations, which nobody may
// write either.
func bindingStatusForgery(t *testing.T, s suite) {
	p := s.workspace(t, aliceName)
	c, m := as(t, s.server, alice, p.path), as(t, s.server, master, p.path)
	c.must(http.StatusCreated, "POST", v2+"/apibindings", binding("a", "", "widgets"))
	m.update(http.StatusOK, v2+"/apibindings/a/status", func(u *unstructured.Unstructured) {
		_ = unstructured.SetNestedField(u.Object, []any{map[string]any{
			"group": "", "resource": "secrets", "identityHash": "", "verbs": []any{"get"}, "selector": map[string]any{"matchLabels": map[string]any{"a": "b"}},
		}}, "status", "appliedPermissionClaims")
	})
	const key = "apis.v1alpha2.kcp.io/status-applied-permission-claims"
	for _, value := range []string{`'[{"resource":"secrets","verbs":["*"],"selector":{"matchAll":true}}]'`, `nonsense`, `null`} {
		c.must(http.StatusOK, "PATCH", v1+"/apibindings/a", `{metadata: {annotations: {`+key+`: `+value+`}}}`)
		got := c.must(http.StatusOK, "GET", v2+"/apibindings/a", "").field("status", "appliedPermissionClaims")
		if strings.Contains(got, "matchAll") || strings.Contains(got, "*") {
			t.Errorf("%s has changed the status to %s", value, got)
		}
	}
	for i := range 2 {
		forged := strings.Replace(bindingIn([]string{"v1alpha1", "v1alpha2"}[i], fmt.Sprint("b", i), "", "widgets"), "metadata: {", `metadata: {annotations: {`+key+`: x}, `, 1)
		created := c.must(http.StatusCreated, "POST", []string{v1, v2}[i]+"/apibindings", forged)
		if got := created.object.GetAnnotations()[key]; got != "" {
			t.Errorf("a new binding has a status: %s", got)
		}
	}
}
