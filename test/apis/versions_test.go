package apis

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

var versionBehaviors = map[string]behavior{
	"SchemasNamed":    versionSchemas,
	"VerbsKept":       versionVerbs,
	"ObjectsNamed":    versionObjects,
	"SelectorsKept":   versionSelectors,
	"NothingChanges":  versionNothingChanges,
	"WatchAndList":    versionWatch,
	"Apply":           versionApply,
	"Preferred":       versionPreferred,
	"BrokenCannotBar": versionBroken,
}

// versionSchemas: what v1alpha1 names is in v1alpha2 what the name says.
func versionSchemas(t *testing.T, s suite) {
	c := as(t, s.server, alice, s.workspace(t, aliceName).path)
	c.must(http.StatusCreated, "POST", v1+"/apiexports", oldExport("a", `{latestResourceSchemas: [today.widgets.example.com, today.pods.core]}`))
	a := c.must(http.StatusOK, "GET", v2+"/apiexports/a", "")
	equal(t, "a name has it all", `[{name: widgets, group: example.com, schema: today.widgets.example.com, storage: {crd: {}}},
		{name: pods, group: "", schema: today.pods.core, storage: {crd: {}}}]`, a, "spec", "resources")
	equal(t, "and back", `[today.widgets.example.com, today.pods.core]`, c.must(http.StatusOK, "GET", v1+"/apiexports/a", ""), "spec", "latestResourceSchemas")
}

// versionVerbs: what only v1alpha2 can say is not lost when v1alpha1 writes.
func versionVerbs(t *testing.T, s suite) {
	c := as(t, s.server, alice, s.workspace(t, aliceName).path)
	c.must(http.StatusCreated, "POST", v2+"/apiexports", export("a", `{
		resources: [{name: a1, group: b.c, schema: x.a1.b.c, storage: {virtual: {identityHash: x, reference: {kind: K, name: a}}}}, {name: a2, group: b.c, schema: x.a2.b.c}],
		permissionClaims: [{resource: secrets, verbs: [get, list]}, {resource: configmaps, verbs: ["*"], defaultSelector: {matchLabels: {a: b}}}]}`))
	old := c.must(http.StatusOK, "GET", v1+"/apiexports/a", "")
	equal(t, "claims are all there", `[{group: "", resource: secrets, all: true}, {group: "", resource: configmaps, all: true}]`, old, "spec", "permissionClaims")
	equal(t, "only those have names", `[x.a2.b.c]`, old, "spec", "latestResourceSchemas")

	c.update(http.StatusOK, v1+"/apiexports/a", func(u *unstructured.Unstructured) {
		u.SetLabels(map[string]string{"written": "by-v1alpha1"})
		schemas, _, _ := unstructured.NestedStringSlice(u.Object, "spec", "latestResourceSchemas")
		_ = unstructured.SetNestedStringSlice(u.Object, append(schemas, "x.a3.b.c"), "spec", "latestResourceSchemas")
		claims, _, _ := unstructured.NestedSlice(u.Object, "spec", "permissionClaims")
		_ = unstructured.SetNestedSlice(u.Object, append(claims, map[string]any{"resource": "leases", "group": "coordination.k8s.io", "all": true}), "spec", "permissionClaims")
	})
	a := c.must(http.StatusOK, "GET", v2+"/apiexports/a", "")
	equal(t, "verbs and selectors are kept, what is new is for all", `[
		{group: "", identityHash: "", resource: secrets, verbs: [get, list]},
		{group: "", identityHash: "", resource: configmaps, verbs: ["*"], defaultSelector: {matchLabels: {a: b}}},
		{group: coordination.k8s.io, identityHash: "", resource: leases, verbs: ["*"]}]`, a, "spec", "permissionClaims")
	equal(t, "resources are kept", `[
		{name: a2, group: b.c, schema: x.a2.b.c, storage: {crd: {}}}, {name: a3, group: b.c, schema: x.a3.b.c, storage: {crd: {}}},
		{name: a1, group: b.c, schema: x.a1.b.c, storage: {virtual: {identityHash: x, reference: {kind: K, name: a, apiGroup: null}}}}]`,
		withNullGroup(a), "spec", "resources")
	for key := range a.object.GetAnnotations() {
		if strings.Contains(key, "v1alpha2") {
			t.Errorf("v1alpha2 needs no annotation to say what it says: %s", key)
		}
	}
}

// withNullGroup shows the group of a reference that has none as null, whether or not it is
// written down.
func withNullGroup(a answer) answer {
	resources, _, _ := unstructured.NestedSlice(a.object.Object, "spec", "resources")
	for _, resource := range resources {
		if reference, ok, _ := unstructured.NestedMap(resource.(map[string]any), "storage", "virtual", "reference"); ok {
			reference["apiGroup"] = nil
			_ = unstructured.SetNestedMap(resource.(map[string]any), reference, "storage", "virtual", "reference")
		}
	}
	_ = unstructured.SetNestedSlice(a.object.Object, resources, "spec", "resources")
	return a
}

// versionObjects: what only v1alpha1 can say is kept too.
func versionObjects(t *testing.T, s suite) {
	c := as(t, s.server, alice, s.workspace(t, aliceName).path)
	const claim = `{group: "", resource: configmaps, resourceSelector: [{name: a, namespace: b}], state: Accepted}`
	c.must(http.StatusCreated, "POST", v1+"/apibindings", bindingIn("v1alpha1", "a", "", "widgets", claim))
	a := c.must(http.StatusOK, "GET", v2+"/apibindings/a", "")
	equal(t, "naming objects counts as all", `[{group: "", identityHash: "", resource: configmaps, verbs: ["*"], selector: {matchAll: true}, state: Accepted}]`, a, "spec", "permissionClaims")
	c.must(http.StatusOK, "PATCH", v2+"/apibindings/a", `{metadata: {labels: {written: by-v1alpha2}}}`)
	equal(t, "and comes back", `[`+claim+`]`, c.must(http.StatusOK, "GET", v1+"/apibindings/a", ""), "spec", "permissionClaims")
}

// versionSelectors: a client of v1alpha1 answers a claim, and the selector stays.
func versionSelectors(t *testing.T, s suite) {
	c := as(t, s.server, alice, s.workspace(t, aliceName).path)
	c.must(http.StatusCreated, "POST", v2+"/apibindings", binding("a", "", "widgets",
		`{resource: secrets, verbs: [get], selector: {matchLabels: {a: b}}, state: Accepted}`, `{resource: configmaps, verbs: ["*"], selector: {matchAll: true}, state: Rejected}`))
	old := c.must(http.StatusOK, "GET", v1+"/apibindings/a", "")
	equal(t, "only matchAll is all", `[{group: "", resource: secrets, state: Accepted}, {group: "", resource: configmaps, all: true, state: Rejected}]`, old, "spec", "permissionClaims")
	c.update(http.StatusOK, v1+"/apibindings/a", func(u *unstructured.Unstructured) { u.SetLabels(map[string]string{"a": "b"}) })
	a := c.must(http.StatusOK, "GET", v2+"/apibindings/a", "")
	equal(t, "they stay", `[{group: "", identityHash: "", resource: secrets, verbs: [get], selector: {matchLabels: {a: b}}, state: Accepted},
		{group: "", identityHash: "", resource: configmaps, verbs: ["*"], selector: {matchAll: true}, state: Rejected}]`, a, "spec", "permissionClaims")
}

// versionNothingChanges: to read and write back in either version is to do nothing.
func versionNothingChanges(t *testing.T, s suite) {
	c := as(t, s.server, alice, s.workspace(t, aliceName).path)
	c.must(http.StatusCreated, "POST", v2+"/apiexports", export("a", `{
		resources: [{name: a2, group: b.c, schema: x.a2.b.c}, {name: a1, group: b.c, schema: x.a1.b.c, storage: {virtual: {identityHash: x, reference: {kind: K, name: a}}}}],
		permissionClaims: [{resource: secrets, verbs: [get, list]}, {resource: configmaps, verbs: ["*"]}]}`))
	c.must(http.StatusCreated, "POST", v1+"/apibindings", bindingIn("v1alpha1", "a", "", "widgets", `{resource: configmaps, resourceSelector: [{name: a}], state: Accepted}`, `{resource: secrets, all: true, state: Accepted}`))
	// Until controllers have done what they do with new objects.
	c.eventually(http.StatusOK, "GET", v1+"/apiexportendpointslices/a", "")
	for _, path := range []string{"/apiexports/a", "/apibindings/a"} {
		for _, version := range []string{v1, v2} {
			c.update(http.StatusOK, version+path, func(*unstructured.Unstructured) {})
			before := c.must(http.StatusOK, "GET", version+path, "")
			data, err := json.Marshal(before.object.Object)
			if err != nil {
				t.Fatal(err)
			}
			after := c.do("PUT", version+path, string(data))
			if after.code == http.StatusConflict {
				continue // somebody has changed it in between
			}
			if b, a := before.object.GetGeneration(), after.object.GetGeneration(); a != b {
				t.Errorf("%s%s: generation %d became %d", version, path, b, a)
			}
		}
	}
}

func versionWatch(t *testing.T, s suite) {
	c := as(t, s.server, alice, s.workspace(t, aliceName).path)
	next := c.watch(v1 + "/apiexports")
	c.must(http.StatusCreated, "POST", v2+"/apiexports", export("a", `{resources: [{name: a2, group: b.c, schema: x.a2.b.c}]}`))
	event, object := next()
	schemas, _, _ := unstructured.NestedStringSlice(object.Object, "spec", "latestResourceSchemas")
	if event != "ADDED" || object.GetAPIVersion() != "apis.kcp.io/v1alpha1" || len(schemas) != 1 {
		t.Errorf("got %s %v", event, object.Object)
	}
	list := c.must(http.StatusOK, "GET", v1+"/apiexports", "")
	items, err := list.object.ToList()
	if err != nil || len(items.Items) != 1 || items.Items[0].GetAPIVersion() != "apis.kcp.io/v1alpha1" {
		t.Errorf("got %v %s", err, list.body)
	}
	c.must(http.StatusOK, "DELETE", v1+"/apiexports/a", "")
	c.eventually(http.StatusNotFound, "GET", v2+"/apiexports/a", "")
}

// versionApply: fields belong to who has applied them in either version, and conflicts are
// found across versions.
func versionApply(t *testing.T, s suite) {
	c := as(t, s.server, alice, s.workspace(t, aliceName).path)
	path1, path2 := v1+"/apiexports/a?fieldManager=", v2+"/apiexports/a?fieldManager="
	c.must(http.StatusCreated, "APPLY", path1+"old", oldExport("a", `{latestResourceSchemas: [x.a2.b.c], identity: {secretRef: {name: one, namespace: default}}, permissionClaims: [{resource: configmaps, all: true}]}`))
	// The same in the other version is no conflict, another secret is one.
	c.must(http.StatusOK, "APPLY", path2+"new", export("a", `{resources: [{name: a2, group: b.c, schema: x.a2.b.c}], identity: {secretRef: {name: one, namespace: default}}}`))
	c.must(http.StatusConflict, "APPLY", path2+"new", export("a", `{resources: [{name: a2, group: b.c, schema: x.a2.b.c}], identity: {secretRef: {name: two, namespace: default}}}`), "conflict with")
	c.must(http.StatusOK, "APPLY", path2+"third", export("a", `{permissionClaims: [{resource: secrets, verbs: [get]}]}`))
	// Who applies less gives up what nobody else has.
	c.must(http.StatusOK, "APPLY", path1+"old", oldExport("a", `{latestResourceSchemas: [x.a2.b.c], identity: {secretRef: {name: one, namespace: default}}}`))
	a := c.must(http.StatusOK, "GET", v2+"/apiexports/a", "")
	equal(t, "claims are who has applied them", `[{group: "", identityHash: "", resource: secrets, verbs: [get]}]`, a, "spec", "permissionClaims")
	c.must(http.StatusOK, "PATCH", v1+"/apiexports/a", `{spec: {latestResourceSchemas: [x.a2.b.c, x.a4.b.c]}}`)
	equal(t, "patches are in the version they are sent to", `[{name: a2, group: b.c, schema: x.a2.b.c, storage: {crd: {}}}, {name: a4, group: b.c, schema: x.a4.b.c, storage: {crd: {}}}]`,
		c.must(http.StatusOK, "GET", v2+"/apiexports/a", ""), "spec", "resources")
	c.must(http.StatusCreated, "APPLY", v1+"/apibindings/b?fieldManager=old&dryRun=All", bindingIn("v1alpha1", "b", "", "widgets"))
}

func versionPreferred(t *testing.T, s suite) {
	c := as(t, s.server, alice, s.workspace(t).path)
	c = as(t, s.server, master, s.pathOf(c))
	a := c.must(http.StatusOK, "GET", "/apis/apis.kcp.io", "")
	equal(t, "clients that take the preferred version get all there is", `{groupVersion: apis.kcp.io/v1alpha2, version: v1alpha2}`, a, "preferredVersion")
}

// versionBroken: what somebody has written into annotations of stored objects does not keep
// others from reading.
func versionBroken(t *testing.T, s suite) {
	c := as(t, s.server, alice, s.workspace(t, aliceName).path)
	for key, resource := range map[string]string{
		"apis.v1alpha2.kcp.io/v1alpha1-permission-claims": "apiexports",
		"apis.v1alpha2.kcp.io/permission-claims":          "apiexports",
		"apis.v1alpha2.kcp.io/resource-schemas":           "apiexports",
	} {
		name := strings.TrimPrefix(key, "apis.v1alpha2.kcp.io/")
		c.must(http.StatusCreated, "POST", v2+"/"+resource, strings.Replace(export(name, `{}`), "metadata: {", "metadata: {annotations: {"+key+": nonsense}, ", 1))
	}
	c.must(http.StatusOK, "GET", v1+"/apiexports", "")
	c.must(http.StatusOK, "PATCH", v1+"/apiexports/permission-claims", `{metadata: {labels: {a: b}}}`)
}
