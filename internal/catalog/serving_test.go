package catalog_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

const (
	widgetsURL = "/clusters/one/apis/example.com/v1/namespaces/default/widgets"
	betaURL    = "/clusters/one/apis/example.com/v1beta1/namespaces/default/widgets"
)

func widget(name, spec string) string {
	return fmt.Sprintf("{apiVersion: example.com/v1, kind: Widget, metadata: {name: %s}, spec: {%s}}", name, spec)
}

func TestServing(t *testing.T) {
	s := newServer(t)
	s.define(one, "widgets")

	created := s.must(http.StatusCreated, "POST", widgetsURL, widget("a", "color: red, unknown: 1"))
	for path, want := range map[string]string{
		"spec.size":           "medium",
		"spec.unknown":        "<nil>",
		"metadata.generation": "1",
		"metadata.namespace":  "default",
	} {
		if got := created.field(strings.Split(path, ".")...); got != want {
			t.Errorf("created %s = %s, want %s", path, got, want)
		}
	}
	if got := created.object.GetAnnotations()["kcp.io/cluster"]; got != "one" {
		t.Errorf("cluster annotation = %q, want one", got)
	}

	got := s.must(http.StatusOK, "GET", widgetsURL+"/a", "")
	if got.body != created.body {
		t.Errorf("get = %s, want what create returned: %s", got.body, created.body)
	}
	list := s.must(http.StatusOK, "GET", "/clusters/one/apis/example.com/v1/widgets", "")
	if n := list.field("kind"); n != "WidgetList" || !strings.Contains(list.body, `"name":"a"`) {
		t.Errorf("list = %s", list.body)
	}

	s.must(http.StatusOK, "PATCH", widgetsURL+"/a", `{"spec":{"color":"blue"}}`, header{"Content-Type", "application/merge-patch+json"})
	patched := s.must(http.StatusOK, "PATCH", widgetsURL+"/a", `[{"op":"replace","path":"/spec/size","value":"big"}]`, header{"Content-Type", "application/json-patch+json"})
	if got := patched.field("metadata", "generation"); got != "3" {
		t.Errorf("generation after two changes = %s, want 3", got)
	}
	s.must(http.StatusUnsupportedMediaType, "PATCH", widgetsURL+"/a", `{}`, header{"Content-Type", "application/strategic-merge-patch+json"})

	s.must(http.StatusOK, "DELETE", widgetsURL+"/a", "")
	s.must(http.StatusNotFound, "GET", widgetsURL+"/a", "")
}

func TestRefusals(t *testing.T) {
	s := newServer(t)
	s.define(one, "widgets")
	s.define(one, "gadgets")
	s.must(http.StatusCreated, "POST", widgetsURL, widget("there", "color: red"))

	cases := map[string]struct {
		reason             string
		method, path, body string
		header             header
		code               int
		says               string
	}{
		"InvalidSchema":      {"types are validated", "POST", widgetsURL, widget("x", "color: 1"), header{}, 422, "must be of type string"},
		"Required":           {"required fields are validated", "POST", widgetsURL, widget("x", ""), header{}, 422, "spec.color"},
		"CEL":                {"rules are evaluated", "POST", widgetsURL, widget("x", "color: forbidden"), header{}, 422, "that color is forbidden"},
		"ListTypeSet":        {"sets have no duplicates", "POST", widgetsURL, widget("x", "color: red, tags: [a, a]"), header{}, 422, "Duplicate value"},
		"ListTypeMap":        {"maps have no duplicate keys", "POST", widgetsURL, widget("x", "color: red, parts: [{name: a}, {name: a}]"), header{}, 422, "Duplicate value"},
		"StrictField":        {"strict field validation reports unknown fields", "POST", widgetsURL + "?fieldValidation=Strict", widget("x", "color: red, oops: 1"), header{}, 400, `unknown field \"spec.oops\"`},
		"Exists":             {"a name can be taken once", "POST", widgetsURL, widget("there", "color: red"), header{}, 409, "already exists"},
		"UnservedVersion":    {"versions that are not served are not there", "GET", strings.Replace(widgetsURL, "v1", "v1alpha1", 1), "", header{}, 404, "builtin"},
		"UnknownVersion":     {"unknown versions are not there", "GET", strings.Replace(widgetsURL, "v1", "v7", 1), "", header{}, 404, "builtin"},
		"UnknownResource":    {"what is not defined is somebody else's to answer", "GET", strings.Replace(widgetsURL, "widgets", "wodgets", 1), "", header{}, 404, "builtin"},
		"OtherCluster":       {"a definition is there in its own cluster only", "GET", strings.Replace(widgetsURL, "one", "two", 1), "", header{}, 404, "builtin"},
		"ScopeMismatch":      {"a cluster-scoped resource is not in a namespace", "GET", "/clusters/one/apis/example.com/v1/namespaces/default/gadgets", "", header{}, 404, "builtin"},
		"MissingNamespace":   {"a namespaced object cannot be reached without its namespace", "GET", "/clusters/one/apis/example.com/v1/widgets/there", "", header{}, 404, "builtin"},
		"NoSubresource":      {"only declared subresources exist", "GET", "/clusters/one/apis/example.com/v1/gadgets/g/status", "", header{}, 404, ""},
		"NoVerb":             {"a status cannot be deleted", "DELETE", widgetsURL + "/there/status", "", header{}, 405, ""},
		"BrokenBody":         {"broken YAML is a bad request", "POST", widgetsURL, "{{", header{}, 400, ""},
		"WrongKind":          {"the kind has to be the resource's", "POST", widgetsURL, "{apiVersion: example.com/v1, kind: Gadget, metadata: {name: x}}", header{}, 422, "must be Widget"},
		"UnknownFieldLabel":  {"only declared fields can be selected by", "GET", widgetsURL + "?fieldSelector=spec.size%3Dbig", "", header{}, 400, "field label not supported"},
		"TokenGarbage":       {"a broken continue token is a bad request", "GET", widgetsURL + "?limit=1&continue=garbage", "", header{}, 400, ""},
		"WrongContentType":   {"protobuf bodies are not supported for custom resources", "POST", widgetsURL, "x", header{"Content-Type", "text/plain"}, 415, ""},
		"NotAcceptable":      {"unknown media types cannot be had", "GET", widgetsURL, "", header{"Accept", "text/csv"}, 406, ""},
		"OptimisticConflict": {"a stale resource version loses", "PUT", widgetsURL + "/there", "{apiVersion: example.com/v1, kind: Widget, metadata: {name: there, resourceVersion: '1'}, spec: {color: x}}", header{}, 409, "the object has been modified"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			var headers []header
			if tc.header.key != "" {
				headers = append(headers, tc.header)
			}
			got := s.do(tc.method, tc.path, tc.body, headers...)
			if got.code != tc.code || !strings.Contains(got.body, tc.says) {
				t.Errorf("%s: got %s, want %d with %q", tc.reason, got, tc.code, tc.says)
			}
		})
	}
}

func TestServerSideApply(t *testing.T) {
	s := newServer(t)
	s.define(one, "widgets")
	apply := func(code int, manager, spec string) response {
		t.Helper()
		return s.must(code, "PATCH", widgetsURL+"/a?fieldManager="+manager, widget("a", spec), header{"Content-Type", "application/apply-patch+yaml"})
	}
	apply(http.StatusCreated, "alice", "color: red, parts: [{name: m, count: 1}]")
	merged := apply(http.StatusOK, "bob", "parts: [{name: p, count: 2}]")
	if got := merged.field("spec", "parts"); got != "[map[count:1 name:m] map[count:2 name:p]]" {
		t.Errorf("lists of type map are merged by key, got %s", got)
	}
	conflict := apply(http.StatusConflict, "bob", "color: blue")
	if !strings.Contains(conflict.body, `conflict with \"alice\"`) {
		t.Errorf("conflict = %s", conflict.body)
	}
	dropped := apply(http.StatusOK, "alice", "color: red")
	if got := dropped.field("spec", "parts"); got != "[map[count:2 name:p]]" {
		t.Errorf("what an applier leaves out goes, what others own stays; got %s", got)
	}
	if strings.Contains(dropped.field("metadata", "managedFields"), "kcp.io/cluster") {
		t.Error("nobody owns the cluster annotation")
	}
	// Labels come from the metadata schema, which all definitions have in common.
	labelled := s.must(http.StatusOK, "PATCH", widgetsURL+"/a?fieldManager=carol",
		"{apiVersion: example.com/v1, kind: Widget, metadata: {name: a, labels: {l: m}}}", header{"Content-Type", "application/apply-patch+yaml"})
	if got := labelled.field("metadata", "labels"); got != "map[l:m]" {
		t.Errorf("labels = %s", got)
	}
	if got := labelled.field("spec", "color"); got != "red" {
		t.Errorf("color = %s, want red", got)
	}
}

func TestSubresources(t *testing.T) {
	s := newServer(t)
	s.define(one, "widgets")
	s.must(http.StatusCreated, "POST", widgetsURL, "{apiVersion: example.com/v1, kind: Widget, metadata: {name: a}, spec: {color: red, replicas: 2}, status: {phase: Lies}}")
	merge := header{"Content-Type", "application/merge-patch+json"}

	got := s.must(http.StatusOK, "GET", widgetsURL+"/a", "")
	if got.field("status", "phase") != "<nil>" {
		t.Error("create cannot set the status")
	}
	got = s.must(http.StatusOK, "PATCH", widgetsURL+"/a/status", `{"spec":{"color":"blue"},"status":{"phase":"Ready","replicas":1}}`, merge)
	if got.field("spec", "color") != "red" || got.field("status", "phase") != "Ready" || got.field("metadata", "generation") != "1" {
		t.Errorf("status patch changes the status alone, got %s", got.body)
	}
	if entries := got.field("metadata", "managedFields"); !strings.Contains(entries, "subresource:status") || strings.Contains(entries, "blue") {
		t.Errorf("managed fields = %s", entries)
	}
	scale := s.must(http.StatusOK, "GET", widgetsURL+"/a/scale", "")
	if scale.field("kind") != "Scale" || scale.field("spec", "replicas") != "2" || scale.field("status", "replicas") != "1" {
		t.Errorf("scale = %s", scale.body)
	}
	s.must(http.StatusOK, "PATCH", widgetsURL+"/a/scale", `{"spec":{"replicas":5}}`, merge)
	if got := s.must(http.StatusOK, "GET", widgetsURL+"/a", "").field("spec", "replicas"); got != "5" {
		t.Errorf("replicas = %s, want 5", got)
	}
}

func TestVersions(t *testing.T) {
	s := newServer(t)
	s.define(one, "widgets")
	beta := "{apiVersion: example.com/v1beta1, kind: Widget, metadata: {name: b}, spec: {color: red, size: pruned}}"
	created := s.must(http.StatusCreated, "POST", betaURL, beta)
	if created.field("apiVersion") != "example.com/v1beta1" || created.field("spec", "size") != "<nil>" {
		t.Errorf("created = %s", created.body)
	}
	if len(created.warnings) != 2 || !strings.Contains(created.warnings[0], "example.com/v1beta1 Widget is deprecated; use example.com/v1 Widget") ||
		!strings.Contains(created.warnings[1], "unknown field") {
		t.Errorf("warnings = %v", created.warnings)
	}
	stable := s.must(http.StatusOK, "GET", widgetsURL+"/b", "")
	if stable.field("apiVersion") != "example.com/v1" || stable.field("spec", "color") != "red" {
		t.Errorf("read in the other version: %s", stable.body)
	}
	if got := stable.field("spec", "size"); got != "medium" {
		t.Errorf("size = %s, want the default of the storage version, which is filled in on reading", got)
	}
	s.must(http.StatusOK, "PATCH", widgetsURL+"/b", `{"spec":{"size":"big"}}`, header{"Content-Type", "application/merge-patch+json"})
	for _, rv := range []string{"", "?resourceVersion=0"} {
		list := s.must(http.StatusOK, "GET", betaURL+rv, "")
		if !strings.Contains(list.body, `"apiVersion":"example.com/v1beta1","kind":"Widget"`) || strings.Contains(list.body, `"size"`) {
			t.Errorf("list%s in a version that lacks the field: %s", rv, list.body)
		}
	}
	if got := s.must(http.StatusOK, "GET", widgetsURL+"/b?resourceVersion=0", "").field("spec", "size"); got != "big" {
		t.Errorf("size = %s, want big: reading in another version does not change what is cached", got)
	}
	if next := s.next(s.watch(betaURL + "?watch=true&resourceVersion=0")); next != "ADDED b" {
		t.Errorf("event = %s", next)
	}
}

func TestIsolation(t *testing.T) {
	s := newServer(t)
	s.define(one, "widgets")
	s.define(two, "widgets", func(crd *apiextensionsv1.CustomResourceDefinition) {
		crd.Spec.Versions[0].Schema.OpenAPIV3Schema.Properties["spec"] = apiextensionsv1.JSONSchemaProps{
			Type:       "object",
			Properties: map[string]apiextensionsv1.JSONSchemaProps{"weight": {Type: "integer"}},
		}
	})
	twoURL := strings.Replace(widgetsURL, "one", "two", 1)
	s.must(http.StatusCreated, "POST", widgetsURL, widget("a", "color: red"))
	created := s.must(http.StatusCreated, "POST", twoURL, widget("b", "weight: 3, color: red"))
	if created.field("spec") != "map[weight:3]" {
		t.Errorf("spec = %s, want what the cluster's own schema knows", created.field("spec"))
	}
	for url, name := range map[string]string{widgetsURL: "a", twoURL: "b"} {
		for _, query := range []string{"", "?resourceVersion=0"} {
			list := s.must(http.StatusOK, "GET", url+query, "")
			if items := list.field("items"); strings.Count(items, "uid") != 1 || !strings.Contains(items, "name:"+name) {
				t.Errorf("%s%s lists %s, want %s alone", url, query, items, name)
			}
		}
	}
	s.must(http.StatusNotFound, "GET", twoURL+"/a", "")
	s.must(http.StatusNotFound, "DELETE", twoURL+"/a", "")
	s.must(http.StatusOK, "DELETE", twoURL, "")
	s.must(http.StatusOK, "GET", widgetsURL+"/a", "")
}

func TestTablesAndMetadata(t *testing.T) {
	s := newServer(t)
	s.define(one, "widgets")
	s.must(http.StatusCreated, "POST", widgetsURL, widget("a", "color: red"))
	table := s.must(http.StatusOK, "GET", widgetsURL, "", header{"Accept", "application/json;as=Table;v=v1;g=meta.k8s.io"})
	if table.field("kind") != "Table" || !strings.Contains(table.body, `"cells":["a","red"]`) || !strings.Contains(table.body, `"name":"Color"`) {
		t.Errorf("table = %s", table.body)
	}
	metadata := s.must(http.StatusOK, "GET", widgetsURL+"/a", "", header{"Accept", "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io"})
	if metadata.field("kind") != "PartialObjectMetadata" || metadata.field("spec") != "<nil>" {
		t.Errorf("metadata = %s", metadata.body)
	}
}

func TestDryRun(t *testing.T) {
	s := newServer(t)
	s.define(one, "widgets")
	created := s.must(http.StatusCreated, "POST", widgetsURL+"?dryRun=All", widget("a", "color: red"))
	if created.field("spec", "size") != "medium" {
		t.Errorf("dry run = %s", created.body)
	}
	s.must(http.StatusNotFound, "GET", widgetsURL+"/a", "")
}

func TestValidationRatchets(t *testing.T) {
	s := newServer(t)
	s.define(one, "widgets")
	s.must(http.StatusCreated, "POST", widgetsURL, widget("a", "color: reddish"))
	s.define(one, "widgets", func(crd *apiextensionsv1.CustomResourceDefinition) {
		spec := crd.Spec.Versions[0].Schema.OpenAPIV3Schema.Properties["spec"]
		color := spec.Properties["color"]
		color.MaxLength = new(int64)
		*color.MaxLength = 3
		spec.Properties["color"] = color
	})
	merge := header{"Content-Type", "application/merge-patch+json"}
	s.must(http.StatusOK, "PATCH", widgetsURL+"/a", `{"spec":{"size":"big"}}`, merge)
	s.must(http.StatusUnprocessableEntity, "PATCH", widgetsURL+"/a", `{"spec":{"color":"longer"}}`, merge)
}
