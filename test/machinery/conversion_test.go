package machinery

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/forkless/kcp/internal/servertest"
)

// TestConversion: everything that can be done with a custom resource can be done in a
// version it is not stored in.
func TestConversion(t *testing.T) {
	server := servertest.Start(t)
	for _, reviewVersion := range []string{"v1", "v1beta1"} {
		t.Run(reviewVersion, func(t *testing.T) {
			w, hook := newWorkspace(t, server), newConverter(t)
			w.define(widgets("v1", hook.conversion(reviewVersion)))
			everyVerb(t, w)
			if len(hook.versions) != 1 || hook.versions["apiextensions.k8s.io/"+reviewVersion] == 0 {
				t.Errorf("reviews of versions %v, want the one the definition lists first", hook.versions)
			}
			if len(hook.seen) != 1 || !hook.seen[w.cluster] {
				t.Errorf("the webhook was sent objects of the clusters %v, want %s alone", hook.seen, w.cluster)
			}
		})
	}
}

func everyVerb(t *testing.T, w *workspace) {
	t.Helper()
	v1, v2 := widgetsURL("v1"), widgetsURL("v2")
	events1, events2 := w.watch(v1+"?watch=true"), w.watch(v2+"?watch=true")
	created := w.must(http.StatusCreated, "POST", v2, widget("v2", "a", `host: h, port: "1"`))
	if created.field("apiVersion") != "example.com/v2" || created.field("spec.host") != "h" {
		t.Errorf("created %s, want the version it was created in", created)
	}
	if got := w.must(http.StatusOK, "GET", v1+"/a", "").field("spec"); got != "map[hostPort:h:1]" {
		t.Errorf("spec in v1 = %s", got)
	}
	if got := w.must(http.StatusOK, "GET", v2+"/a", ""); got.body != created.body {
		t.Errorf("read %s, want what create returned: %s", got, created)
	}
	for _, query := range []string{"", "?resourceVersion=0", "?limit=1", "?fieldSelector=spec.host%3Dh", "?labelSelector=!x"} {
		if items := w.must(http.StatusOK, "GET", v2+query, "").items(); len(items) != 1 || field(&items[0], "spec.port") != "1" || items[0].GetAPIVersion() != "example.com/v2" {
			t.Errorf("%s lists %v", query, items)
		}
	}
	if got := w.must(http.StatusOK, "GET", v2+"?fieldSelector=spec.host%3Dother", "").names(); got != "" {
		t.Errorf("selected %s by a host that nothing has", got)
	}
	w.must(http.StatusBadRequest, "GET", v1+"?fieldSelector=spec.host%3Dh", "")
	updated := w.must(http.StatusOK, "PUT", v2+"/a", fmt.Sprintf(
		`{apiVersion: example.com/v2, kind: Widget, metadata: {name: a, resourceVersion: "%s"}, spec: {host: i, port: "2"}}`, created.object.GetResourceVersion()))
	if got := updated.field("metadata.generation"); got != "2" {
		t.Errorf("generation = %s, want 2", got)
	}
	w.must(http.StatusOK, "PATCH", v2+"/a", `{"spec":{"port":"3"}}`, contentType(merge))
	w.must(http.StatusOK, "PATCH", v1+"/a", `{"spec":{"hostPort":"j:3"}}`, contentType(merge))
	w.must(http.StatusOK, "PATCH", v2+"/a", `[{"op":"test","path":"/spec/host","value":"j"},{"op":"replace","path":"/spec/host","value":"k"}]`, contentType(jsonOps))
	w.must(http.StatusOK, "PATCH", v2+"/a/status", `{"status":{"said":"yes","replicas":1}}`, contentType(merge))
	w.must(http.StatusOK, "PATCH", v2+"/a/scale", `{"spec":{"replicas":4}}`, contentType(merge))
	if scale := w.must(http.StatusOK, "GET", v2+"/a/scale", ""); scale.field("spec.replicas") != "4" || scale.field("status.replicas") != "1" {
		t.Errorf("scale = %s", scale)
	}
	if got := w.must(http.StatusOK, "GET", v1+"/a", ""); got.field("spec.hostPort") != "k:3" || got.field("status.said") != "yes" || got.field("spec.replicas") != "4" {
		t.Errorf("after the changes in v2, v1 is %s", got)
	}
	events1.expect("ADDED a", "MODIFIED a", "MODIFIED a", "MODIFIED a", "MODIFIED a", "MODIFIED a", "MODIFIED a")
	events2.expect("ADDED a")
	if e := events2.next(); e.Object.GetAPIVersion() != "example.com/v2" || field(&e.Object, "spec.host") != "i" {
		t.Errorf("event = %v", e.Object.Object)
	}
	events2.expect("MODIFIED a", "MODIFIED a", "MODIFIED a", "MODIFIED a", "MODIFIED a")

	applied(t, w)
	table := w.must(http.StatusOK, "GET", v2, "", accept("application/json;as=Table;v=v1;g=meta.k8s.io"))
	if !strings.Contains(table.body, `"cells":["a","k"]`) {
		t.Errorf("table = %s", table)
	}
	w.must(http.StatusOK, "DELETE", v2+"/a", "")
	w.must(http.StatusOK, "DELETE", v2, "")
	if got := w.must(http.StatusOK, "GET", v1, "").names(); got != "" {
		t.Errorf("%s are left", got)
	}
}

// applied: two appliers, each in a version of his own, own what they set.
func applied(t *testing.T, w *workspace) {
	t.Helper()
	url := func(version, manager string) string {
		return widgetsURL(version) + "/applied?fieldManager=" + manager
	}
	w.must(http.StatusCreated, "PATCH", url("v2", "alice"), widget("v2", "applied", `host: h, port: "1", tags: [a]`), contentType(apply))
	got := w.must(http.StatusOK, "PATCH", url("v1", "bob"), widget("v1", "applied", `tags: [b]`), contentType(apply))
	if got.field("spec.tags") != "[a b]" {
		t.Errorf("tags = %s, want those of both", got.field("spec.tags"))
	}
	w.refused(http.StatusConflict, "Conflict", `conflict with "alice"`, "PATCH", url("v1", "bob"), widget("v1", "applied", `hostPort: "i:1", tags: [b]`), contentType(apply))
	w.must(http.StatusOK, "PATCH", url("v1", "bob")+"&force=true", widget("v1", "applied", `hostPort: "i:1", tags: [b]`), contentType(apply))
	if got := w.must(http.StatusOK, "GET", widgetsURL("v2")+"/applied", ""); got.field("spec.host") != "i" {
		t.Errorf("spec = %s", got.field("spec"))
	}
}

// TestOneRequestForAList: a list takes one request to the webhook with those objects that
// need it; what is in the right version takes none.
func TestOneRequestForAList(t *testing.T) {
	const count = 40
	server := servertest.Start(t)
	w, hook := newWorkspace(t, server), newConverter(t)
	w.define(widgets("v1", hook.conversion()))
	for i := range count {
		w.must(http.StatusCreated, "POST", widgetsURL("v1"), widget("v1", fmt.Sprintf("a%02d", i), `hostPort: "h:1"`))
	}
	if got := hook.counted(); len(got) != 0 {
		t.Errorf("%v objects were converted without need", got)
	}
	for _, query := range []string{"", "?resourceVersion=0", "?fieldSelector=spec.host%3Dh"} {
		if got := len(w.must(http.StatusOK, "GET", widgetsURL("v2")+query, "").items()); got != count {
			t.Errorf("%q lists %d objects", query, got)
		}
		if got := hook.counted(); !slices.Equal(got, []int{count}) {
			t.Errorf("%q: requests with %v objects, want one with %d", query, got, count)
		}
	}
	w.must(http.StatusOK, "GET", widgetsURL("v2")+"?limit=10", "")
	if got := hook.counted(); !slices.Equal(got, []int{10}) {
		t.Errorf("a page: requests with %v objects, want one with 10", got)
	}

	// From now on v2 is stored.
	w.storage("v2")
	for i := range count / 2 {
		w.must(http.StatusCreated, "POST", widgetsURL("v2"), widget("v2", fmt.Sprintf("b%02d", i), `host: h, port: "1"`))
	}
	hook.counted()
	for version, converted := range map[string]int{"v1": count / 2, "v2": count} {
		list := w.must(http.StatusOK, "GET", widgetsURL(version), "")
		if got := hook.counted(); !slices.Equal(got, []int{converted}) || len(list.items()) != count*3/2 {
			t.Errorf("%s: %d objects in requests with %v of them, want one with %d", version, len(list.items()), got, converted)
		}
	}

	// The initial events of a watch come in batches, too.
	hook.counted()
	events := w.watch(widgetsURL("v2") + "?watch=true&resourceVersion=0")
	for range count * 3 / 2 {
		if e := events.next(); e.Type != "ADDED" || e.Object.GetAPIVersion() != "example.com/v2" || field(&e.Object, "spec.host") != "h" {
			t.Fatalf("event = %v", e)
		}
	}
	if got := hook.counted(); len(got) > count/4 {
		t.Errorf("%d requests for %d events", len(got), count)
	}
}

// storage makes a version the one that is stored.
func (w *workspace) storage(version string) {
	w.t.Helper()
	definition := w.must(http.StatusOK, "GET", definitionsURL+"/widgets.example.com", "")
	var ops []string
	for i, name := range []string{"v1", "v2", "v3"} {
		ops = append(ops, fmt.Sprintf(`{"op":"replace","path":"/spec/versions/%d/storage","value":%t}`, i, name == version))
	}
	w.must(http.StatusOK, "PATCH", definitionsURL+"/"+definition.object.GetName(), "["+strings.Join(ops, ",")+"]", contentType(jsonOps))
	w.settle()
}

// settle waits until the server serves by the present state of the definition of widgets:
// a description is the sign.
func (w *workspace) settle() {
	w.t.Helper()
	generation := w.must(http.StatusOK, "GET", definitionsURL+"/widgets.example.com", "").field("metadata.generation")
	mark := "settled at " + generation
	w.must(http.StatusOK, "PATCH", definitionsURL+"/widgets.example.com",
		fmt.Sprintf(`[{"op":"add","path":"/spec/versions/0/schema/openAPIV3Schema/description","value":%q}]`, mark), contentType(jsonOps))
	servertest.Eventually(w.t, "the change is served", func() (bool, any) {
		document := w.must(http.StatusOK, "GET", "/openapi/v3/apis/example.com/v1", "")
		return strings.Contains(document.body, mark), document
	})
}
