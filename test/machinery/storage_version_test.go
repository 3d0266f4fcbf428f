package machinery

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/forkless/kcp/internal/servertest"
)

// TestStorageVersion: the version that is stored changes while there are objects, with and
// without a webhook, and nobody who uses the API notices.
func TestStorageVersion(t *testing.T) {
	etcd := servertest.StartEtcd(t)
	server := servertest.Start(t, "--etcd-servers="+etcd.Server)
	w, hook := newWorkspace(t, server), newConverter(t)
	w.define(widgets("v1", hook.conversion()))
	v1, v2 := widgetsURL("v1"), widgetsURL("v2")
	const definition = definitionsURL + "/widgets.example.com"
	storedVersions := func(want string) {
		t.Helper()
		if got := w.must(http.StatusOK, "GET", definition, "").field("status.storedVersions"); got != want {
			t.Fatalf("stored versions = %s, want %s", got, want)
		}
	}
	storedAs := func(name, want string) {
		t.Helper()
		if got := etcd.Value(t, "/"+w.cluster+"/default/"+name); !strings.Contains(got, `"apiVersion":"example.com/`+want+`"`) {
			t.Errorf("%s is stored as %s, want version %s", name, got, want)
		}
	}
	both := func(names string) {
		t.Helper()
		for _, query := range []string{"", "?resourceVersion=0"} {
			for url, path := range map[string]string{v1: "spec.hostPort", v2: "spec.host"} {
				list := w.must(http.StatusOK, "GET", url+query, "")
				if list.names() != names {
					t.Fatalf("%s%s lists %q, want %q", url, query, list.names(), names)
				}
				for _, item := range list.items() {
					if field(&item, path) == "<nil>" {
						t.Errorf("%s is listed as %v", item.GetName(), item.Object)
					}
				}
			}
		}
		for url, selector := range map[string]string{v1: "spec.hostPort%3Dold:1", v2: "spec.host%3Dold"} {
			if got := w.must(http.StatusOK, "GET", url+"?fieldSelector="+selector, "").names(); got != "a b" {
				t.Errorf("%s selects %q, want %q", selector, got, "a b")
			}
		}
	}
	for _, name := range []string{"a", "b"} {
		w.must(http.StatusCreated, "POST", v2, widget("v2", name, `host: old, port: "1"`))
		storedAs(name, "v1")
	}
	storedVersions("[v1]")
	both("a b")

	w.storage("v2")
	storedVersions("[v1 v2]")
	storedAs("a", "v1")
	w.must(http.StatusCreated, "POST", v1, widget("v1", "c", `hostPort: "new:1"`))
	storedAs("c", "v2")
	both("a b c")
	watched := w.watch(v1 + "?watch=true&resourceVersion=0&fieldSelector=spec.hostPort%3Dold:1")
	watched.expect("ADDED a", "ADDED b")

	// An update that changes nothing stores the object anew.
	a := w.must(http.StatusOK, "GET", v1+"/a", "")
	w.must(http.StatusOK, "PUT", v1+"/a", a.body, contentType(asJSON))
	storedAs("a", "v2")
	w.must(http.StatusOK, "PATCH", v2+"/b/status", `{"status":{"said":"moved"}}`, contentType(merge))
	storedAs("b", "v2")
	watched.expect("MODIFIED a", "MODIFIED b")
	both("a b c")
	w.must(http.StatusOK, "PATCH", v2+"/b", `{"spec":{"host":"new"}}`, contentType(merge))
	watched.expect("DELETED b")
	w.must(http.StatusOK, "PATCH", v2+"/b", `{"spec":{"host":"old"}}`, contentType(merge))
	watched.expect("ADDED b")

	// A version with objects in it cannot go; one that no object is in any more can.
	withoutV1 := `[{"op":"remove","path":"/spec/versions/0"}]`
	w.refused(http.StatusUnprocessableEntity, "Invalid", `status.storedVersions[0]: Invalid value: "v1"`, "PATCH", definition, withoutV1, contentType(jsonOps))
	w.must(http.StatusOK, "PATCH", definition+"/status", `{"status":{"storedVersions":["v2"]}}`, contentType(merge))
	storedVersions("[v2]")
	w.must(http.StatusOK, "PATCH", definition, withoutV1, contentType(jsonOps))
	servertest.Eventually(t, "v1 is gone", func() (bool, any) {
		got := w.do("GET", v1, "")
		return got.code == http.StatusNotFound, got
	})
	if got := w.must(http.StatusOK, "GET", v2, "").names(); got != "a b c" {
		t.Errorf("v2 lists %s", got)
	}
}

// TestVersionsWithoutWebhook: with the strategy None versions differ in their name and in
// what their schemas prune.
func TestVersionsWithoutWebhook(t *testing.T) {
	server := servertest.Start(t)
	w := newWorkspace(t, server)
	w.define(widgets("v1", "{strategy: None}"))
	w.must(http.StatusCreated, "POST", widgetsURL("v1"), widget("v1", "a", `hostPort: "h:1", replicas: 2`))
	got := w.must(http.StatusOK, "GET", widgetsURL("v2")+"/a", "")
	if got.field("spec") != "map[replicas:2]" || got.field("apiVersion") != "example.com/v2" {
		t.Errorf("v2 = %s", got)
	}
	w.storage("v2")
	w.must(http.StatusCreated, "POST", widgetsURL("v2"), widget("v2", "b", `host: h`))
	for version, want := range map[string]string{"v1": "a:map[hostPort:h:1 replicas:2] b:map[]", "v2": "a:map[replicas:2] b:map[host:h]"} {
		var specs []string
		for _, item := range w.must(http.StatusOK, "GET", widgetsURL(version), "").items() {
			specs = append(specs, item.GetName()+":"+field(&item, "spec"))
		}
		if got := strings.Join(specs, " "); got != want {
			t.Errorf("%s lists %s, want %s", version, got, want)
		}
	}
}

// TestServedVersions: a version that is not served is not there, in no document, and comes
// and goes while there are objects; a deprecated one warns.
func TestServedVersions(t *testing.T) {
	server := servertest.Start(t)
	w, hook := newWorkspace(t, server), newConverter(t)
	w.define(widgets("v1", hook.conversion()))
	w.must(http.StatusCreated, "POST", widgetsURL("v1"), widget("v1", "a", `hostPort: "h:1"`))
	w.must(http.StatusNotFound, "GET", widgetsURL("v3")+"/a", "")
	serve := func(index int, served bool) {
		t.Helper()
		w.must(http.StatusOK, "PATCH", definitionsURL+"/widgets.example.com",
			fmt.Sprintf(`[{"op":"replace","path":"/spec/versions/%d/served","value":%t}]`, index, served), contentType(jsonOps))
	}
	listed := func(want string) {
		t.Helper()
		servertest.Eventually(t, "the versions are "+want, func() (bool, any) {
			group := w.must(http.StatusOK, "GET", "/apis/example.com", "")
			var names []string
			for _, version := range maps(group, "versions") {
				names = append(names, fmt.Sprint(version["version"]))
			}
			return strings.Join(names, " ") == want, group
		})
	}
	listed("v2 v1")
	serve(2, true)
	listed("v3 v2 v1")
	if got := w.must(http.StatusOK, "GET", widgetsURL("v3")+"/a", "").field("spec.host"); got != "h" {
		t.Errorf("host in v3 = %s", got)
	}
	// The stored version need not be served.
	serve(0, false)
	listed("v3 v2")
	w.must(http.StatusNotFound, "GET", widgetsURL("v1")+"/a", "")
	if got := w.must(http.StatusOK, "GET", widgetsURL("v2")+"/a", "").field("spec.host"); got != "h" {
		t.Errorf("host in v2 = %s", got)
	}
	w.must(http.StatusCreated, "POST", widgetsURL("v3"), widget("v3", "b", `host: h, port: "1"`))

	w.must(http.StatusOK, "PATCH", definitionsURL+"/widgets.example.com", `[
		{"op":"add","path":"/spec/versions/1/deprecated","value":true},
		{"op":"add","path":"/spec/versions/2/deprecated","value":true},
		{"op":"add","path":"/spec/versions/2/deprecationWarning","value":"use something else"}]`, contentType(jsonOps))
	for version, want := range map[string]string{"v2": `299 - "example.com/v2 Widget is deprecated"`, "v3": `299 - "use something else"`} {
		servertest.Eventually(t, version+" warns", func() (bool, any) {
			got := w.must(http.StatusOK, "GET", widgetsURL(version), "")
			return got.header.Get("Warning") == want, got.header
		})
	}
}

// maps returns the objects in a list.
func maps(of answer, name string) []map[string]any {
	values, _ := of.object.Object[name].([]any)
	var result []map[string]any
	for _, value := range values {
		if m, ok := value.(map[string]any); ok {
			result = append(result, m)
		}
	}
	return result
}
