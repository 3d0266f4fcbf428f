package machinery

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/forkless/kcp/internal/servertest"
)

// publishedWithin is how soon documents have to show a change of a definition. It is
// a matter of milliseconds; the bound is for machines that are busy.
const publishedWithin = 10 * time.Second

const aggregated = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"

// documents are all that say what there is.
var documents = []struct {
	name, path string
	headers    []header
}{
	{"aggregated discovery", "/apis", []header{accept(aggregated)}},
	{"discovery of the version", "/apis/example.com/v1", nil},
	{"OpenAPI v3", "/openapi/v3/apis/example.com/v1", nil},
	{"OpenAPI v2", "/openapi/v2", nil},
}

// TestPublication: documents show a definition when it is established, and its changes and
// its end within a second, in its own workspace only.
func TestPublication(t *testing.T) {
	server := servertest.Start(t)
	w, other := newWorkspace(t, server), newWorkspace(t, server)
	before := map[string]string{}
	for _, d := range documents {
		before[d.name] = other.do("GET", d.path, "", d.headers...).body
	}
	w.define(widgets("v1", "{strategy: None}"))
	// No waiting: established means published.
	for _, d := range documents {
		if got := w.must(http.StatusOK, "GET", d.path, "", d.headers...); !strings.Contains(got.body, "Widget") {
			t.Errorf("%s does not have the definition: %s", d.name, got)
		}
	}
	if got := w.must(http.StatusOK, "GET", "/openapi/v3", ""); !strings.Contains(got.body, "apis/example.com/v1") {
		t.Errorf("the index of OpenAPI v3 does not have the definition: %s", got)
	}
	w.published("a changed schema", `[{"op":"add","path":"/spec/versions/0/schema/openAPIV3Schema/properties/spec/properties/brandNew","value":{"type":"string","enum":["a","b"],"default":"a"}}]`,
		func(name, body string) bool {
			return !strings.HasPrefix(name, "OpenAPI") || strings.Contains(body, "brandNew") && strings.Contains(body, `"enum":["a","b"]`)
		})
	w.published("a new short name", `[{"op":"add","path":"/spec/names/shortNames/-","value":"short"}]`,
		func(name, body string) bool {
			return strings.HasPrefix(name, "OpenAPI") || strings.Contains(body, `"short"`)
		})
	w.published("a version that is served", `[{"op":"replace","path":"/spec/versions/2/served","value":true}]`,
		func(name, body string) bool {
			return !strings.HasPrefix(name, "aggregated") && name != "OpenAPI v2" || strings.Contains(body, "v3")
		})
	w.published("a version that is not served any more", `[{"op":"replace","path":"/spec/versions/1/served","value":false}]`,
		func(name, body string) bool {
			return name != "OpenAPI v2" || !strings.Contains(body, "com.example.v2.Widget")
		})
	w.published("a version with another name", `[{"op":"replace","path":"/spec/versions/1/name","value":"v4"},{"op":"replace","path":"/spec/versions/1/served","value":true}]`,
		func(name, body string) bool {
			return name != "OpenAPI v2" || strings.Contains(body, "com.example.v4.Widget")
		})
	w.published("an end", "", func(name, body string) bool {
		if name == "OpenAPI v2" {
			return !strings.Contains(body, "com.example.v")
		}
		return !strings.Contains(body, "Widget")
	})
	for _, d := range documents {
		if got := other.do("GET", d.path, "", d.headers...).body; got != before[d.name] {
			t.Errorf("%s of another workspace has changed", d.name)
		}
	}
}

// published changes the definition of widgets and measures when all documents are as they
// should be. Without a patch the definition is deleted.
func (w *workspace) published(what, patch string, asItShould func(name, body string) bool) {
	w.t.Helper()
	const definition = definitionsURL + "/widgets.example.com"
	if patch == "" {
		w.must(http.StatusOK, "DELETE", definition, "")
	} else {
		w.must(http.StatusOK, "PATCH", definition, patch, contentType(jsonOps))
	}
	began := time.Now()
	for _, d := range documents {
		servertest.Eventually(w.t, what+" is in "+d.name, func() (bool, any) {
			got := w.do("GET", d.path, "", d.headers...)
			return asItShould(d.name, got.body), got
		})
	}
	took := time.Since(began)
	w.t.Logf("%s is published in %s", what, took.Round(time.Millisecond))
	if took > publishedWithin && !raceDetector {
		w.t.Errorf("%s was published after %s, want %s", what, took, publishedWithin)
	}
}

// TestDiscoveryValidators: who has the latest document is told so.
func TestDiscoveryValidators(t *testing.T) {
	w := newWorkspace(t, servertest.Start(t))
	for path, suffix := range map[string]string{"/api": "one", "/apis": "two"} {
		got := w.must(http.StatusOK, "GET", path, "", accept(aggregated))
		if !strings.Contains(got.header.Get("Content-Type"), "v=v2") || got.field("kind") != "APIGroupDiscoveryList" {
			t.Errorf("%s: %v %s", path, got.header, got)
		}
		known := header{"If-None-Match", got.header.Get("ETag")}
		w.must(http.StatusNotModified, "GET", path, "", accept(aggregated), known)
		w.define(strings.ReplaceAll(gadgets("{type: object}"), "adget", "adget"+suffix))
		want := http.StatusOK
		if path == "/api" {
			want = http.StatusNotModified
		}
		w.must(want, "GET", path, "", accept(aggregated), known)
		// Kubernetes 1.36 has no beta of it any more; who asks for that gets the plain form.
		beta := strings.Replace(aggregated, "v=v2", "v=v2beta1", 1)
		w.must(http.StatusNotAcceptable, "GET", path, "", accept(beta))
		if got := w.must(http.StatusOK, "GET", path, "", accept(beta+",application/json")); got.field("kind") == "APIGroupDiscoveryList" {
			t.Errorf("%s: %s", path, got)
		}
	}
	groups := w.must(http.StatusOK, "GET", "/apis", "")
	for _, group := range maps(groups, "groups") {
		preferred, _ := group["preferredVersion"].(map[string]any)
		w.must(http.StatusOK, "GET", fmt.Sprintf("/apis/%v", group["name"]), "")
		resources := maps(w.must(http.StatusOK, "GET", fmt.Sprintf("/apis/%v", preferred["groupVersion"]), ""), "resources")
		if len(resources) == 0 {
			t.Errorf("%v has no resources in %v", group["name"], preferred)
		}
		for _, resource := range resources {
			name := fmt.Sprint(resource["name"])
			if hash := resource["storageVersionHash"]; group["name"] == "example.com" && (hash == nil) != strings.Contains(name, "/") {
				t.Errorf("%s has the storage version hash %v", name, hash)
			}
		}
	}
	if got := w.must(http.StatusOK, "GET", "/version", ""); got.field("major") != "1" || got.field("gitVersion") == "<nil>" {
		t.Errorf("version = %s", got)
	}
}

// TestOpenAPIOfDefinitions: what upstream's own suite wants to see of definitions of all sorts.
func TestOpenAPIOfDefinitions(t *testing.T) {
	w := newWorkspace(t, servertest.Start(t))
	define := func(plural, group, kind, schema string) {
		t.Helper()
		w.define(fmt.Sprintf(`{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: %s.%s},
			spec: {group: %s, scope: Namespaced, names: {plural: %s, kind: %s},
			versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: %s}}]}}`, plural, group, group, plural, kind, schema))
	}
	define("strict", "example.com", "Strict", `{type: object, description: A strict one, properties: {spec: {type: object, description: What is wanted, required: [size], properties: {
		size: {type: integer, minimum: 1, description: How large}, feature: {type: string, enum: [Dry, Wet]}, any: {x-kubernetes-int-or-string: true}}}}}`)
	define("opens", "example.com", "Open", `{type: object, x-kubernetes-preserve-unknown-fields: true}`)
	define("embeds", "example.com", "Embed", `{type: object, properties: {spec: {type: object, x-kubernetes-preserve-unknown-fields: true}, template: {type: object, x-kubernetes-embedded-resource: true, x-kubernetes-preserve-unknown-fields: true}}}`)
	define("stricts", "other.example.com", "Strict", `{type: object, description: Another one}`)
	swagger := w.must(http.StatusOK, "GET", "/openapi/v2", "")
	definitions, _ := swagger.object.Object["definitions"].(map[string]any)
	for name, want := range map[string]string{
		"com.example.v1.Strict":       "A strict one",
		"com.example.v1.StrictList":   "StrictList is a list of Strict",
		"com.example.v1.Open":         "",
		"com.example.v1.Embed":        "",
		"com.example.other.v1.Strict": "Another one",
	} {
		schema, ok := definitions[name].(map[string]any)
		if !ok || want != "" && schema["description"] != want {
			t.Errorf("%s = %v, want the description %q", name, schema, want)
		}
		if gvks, _ := schema["x-kubernetes-group-version-kind"].([]any); len(gvks) != 1 {
			t.Errorf("%s is of the kinds %v", name, gvks)
		}
	}
	for path, wants := range map[string][]string{
		"/openapi/v3/apis/example.com/v1":       {`"enum":["Dry","Wet"]`, `"minimum":1`, `"required":["size"]`, `"x-kubernetes-preserve-unknown-fields":true`, `"x-kubernetes-int-or-string":true`, "/apis/example.com/v1/namespaces/{namespace}/strict/{name}", "dryRun", "fieldValidation"},
		"/openapi/v3/apis/other.example.com/v1": {"Another one"},
	} {
		got := w.must(http.StatusOK, "GET", path, "")
		for _, want := range wants {
			if !strings.Contains(got.body, want) {
				t.Errorf("%s lacks %s", path, want)
			}
		}
	}
}
