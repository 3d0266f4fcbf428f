package machinery

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/forkless/kcp/internal/servertest"
)

// answered is an answer that is made of what the webhook was asked.
func answered(change func(in, out *review)) http.HandlerFunc {
	return func(w http.ResponseWriter, req *http.Request) {
		in, err := readReview(req)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		out := answerTo(in)
		for _, object := range in.Request.Objects {
			convertWidget(object, in.Request.DesiredAPIVersion)
			out.Response.ConvertedObjects = append(out.Response.ConvertedObjects, object)
		}
		change(in, out)
		writeReview(w, out)
	}
}

func TestInvalidConversions(t *testing.T) {
	plain := func(code int, body string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) { http.Error(w, body, code) }
	}
	metadata := func(object map[string]any) map[string]any { return object["metadata"].(map[string]any) }
	changed := func(change func(object map[string]any)) http.HandlerFunc {
		return answered(func(_, out *review) { change(out.Response.ConvertedObjects[0].(map[string]any)) })
	}
	cases := map[string]struct {
		reason string
		answer http.HandlerFunc
		says   string
		// lenient says that reviews of v1beta1 were never held to it.
		lenient bool
	}{
		"NoObjects": {"an object for each", answered(func(_, out *review) { out.Response.ConvertedObjects = nil }), "returned 0 objects, expected 1", false},
		"TooMany": {"an object for each", answered(func(_, out *review) {
			out.Response.ConvertedObjects = append(out.Response.ConvertedObjects, map[string]any{})
		}), "returned 2 objects, expected 1", false},
		"OtherVersion":   {"in the version that was wanted", changed(func(o map[string]any) { o["apiVersion"] = "example.com/v3" }), "invalid groupVersion", false},
		"OtherKind":      {"of the same kind", changed(func(o map[string]any) { o["kind"] = "Gadget" }), "invalid kind (expected Widget, received Gadget)", false},
		"OtherName":      {"the same object", changed(func(o map[string]any) { metadata(o)["name"] = "other" }), "must have the same name", false},
		"OtherNamespace": {"the same object", changed(func(o map[string]any) { metadata(o)["namespace"] = "other" }), "must have the same namespace", false},
		"OtherUID":       {"the same object", changed(func(o map[string]any) { metadata(o)["uid"] = "other" }), "must have the same UID", false},
		"NoMetadata":     {"with metadata", changed(func(o map[string]any) { delete(o, "metadata") }), "must have the same name", false},
		"LabelNotString": {"labels are strings", changed(func(o map[string]any) { metadata(o)["labels"] = map[string]any{"a": 1} }), "must be a string", false},
		"InvalidLabel":   {"labels are valid", changed(func(o map[string]any) { metadata(o)["labels"] = map[string]any{"a": "-"} }), "metadata.labels", false},
		"NotAnObject":    {"objects", answered(func(_, out *review) { out.Response.ConvertedObjects = []any{"text"} }), "cannot unmarshal string", false},
		"WrongReview":    {"an answer to this review", answered(func(_, out *review) { out.Response.UID = "other" }), "expected response.uid=", true},
		"NoResponse":     {"an answer", answered(func(_, out *review) { out.Response = nil }), "", false},
		"Failure": {"the webhook's words reach the client", answered(func(_, out *review) {
			out.Response.Result = map[string]any{"status": "Failure", "message": "not today"}
		}), "not today", false},
		"FailureUnsaid":    {"success has to be said", answered(func(_, out *review) { out.Response.Result = map[string]any{} }), "response.result.status was '', not 'Success'", false},
		"NotJSON":          {"JSON", plain(http.StatusOK, "hello"), "conversion webhook for example.com/v1, Kind=Widget failed", false},
		"Empty":            {"an answer", plain(http.StatusOK, ""), "conversion webhook for example.com/v1, Kind=Widget failed", false},
		"ServerError":      {"an error", plain(http.StatusInternalServerError, "oops"), "conversion webhook for example.com/v1, Kind=Widget failed", false},
		"NotFound":         {"an error", plain(http.StatusNotFound, "oops"), "conversion webhook for example.com/v1, Kind=Widget failed", false},
		"Endless":          {"an answer that ends", endless, "the webhook answers with more than", false},
		"Panic":            {"a connection that is not cut", func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, "conversion webhook for example.com/v1, Kind=Widget failed", false},
		"AnotherKindOfAPI": {"a review", plain(http.StatusOK, `{"apiVersion":"v1","kind":"Pod"}`), "conversion webhook for example.com/v1, Kind=Widget failed", false},
	}
	server := servertest.Start(t)
	for _, reviewVersion := range []string{"v1", "v1beta1"} {
		w, hook := newWorkspace(t, server), newConverter(t)
		w.define(widgets("v1", hook.conversion(reviewVersion)))
		w.must(http.StatusCreated, "POST", widgetsURL("v1"), widget("v1", "a", `hostPort: "h:1"`))
		events := w.watch(widgetsURL("v1") + "?watch=true")
		events.expect("ADDED a")
		for name, tc := range cases {
			t.Run(reviewVersion+"/"+name, func(t *testing.T) {
				if tc.lenient && reviewVersion == "v1beta1" {
					t.Skip("upstream does not look at it for the sake of old webhooks")
				}
				w := w.in(t)
				hook.set(tc.answer, nil)
				says := tc.says
				refuse := func(method, path, body string, headers ...header) {
					t.Helper()
					w.refused(http.StatusInternalServerError, "", says, method, path, body, headers...)
				}
				refuse("GET", widgetsURL("v2")+"/a", "")
				refuse("GET", widgetsURL("v2"), "")
				refuse("GET", widgetsURL("v2")+"?resourceVersion=0", "")
				refuse("GET", widgetsURL("v2")+"?fieldSelector=spec.host%3Dh", "")
				refuse("PATCH", widgetsURL("v2")+"/a", `{"spec":{"port":"2"}}`, contentType(merge))
				refuse("DELETE", widgetsURL("v2")+"/a", "")
				refuse("DELETE", widgetsURL("v2"), "")
				// What comes in is converted the other way; the message names the other version.
				says = strings.ReplaceAll(says, "example.com/v1", "example.com/v2")
				refuse("POST", widgetsURL("v2"), widget("v2", "b", `host: h, port: "1"`))
				failed := w.watch(widgetsURL("v2") + "?watch=true").next()
				if failed.Type != "ERROR" || failed.Object.GetKind() != "Status" || field(&failed.Object, "code") != "500" || !strings.Contains(field(&failed.Object, "message"), tc.says) {
					t.Errorf("event = %s %v, want an error that says %q", failed.Type, failed.Object.Object, tc.says)
				}
				// Nothing has been stored, and the version that is stored is not affected.
				if got := w.must(http.StatusOK, "GET", widgetsURL("v1"), ""); got.names() != "a" || field(&got.items()[0], "spec.hostPort") != "h:1" {
					t.Errorf("v1 lists %s", got)
				}
			})
		}
		hook.set(nil, nil)
		w.must(http.StatusOK, "GET", widgetsURL("v2")+"/a", "")
		w.must(http.StatusOK, "PATCH", widgetsURL("v1")+"/a", `{"spec":{"hostPort":"i:1"}}`, contentType(merge))
		events.expect("MODIFIED a")
	}
}

// endless answers until nobody listens any more.
func endless(w http.ResponseWriter, _ *http.Request) {
	chunk := []byte(strings.Repeat(" ", 1<<20))
	for {
		if _, err := w.Write(chunk); err != nil {
			return
		}
	}
}

// TestConvertedMetadata: a webhook may change labels and annotations; all other metadata
// is what it was, and the cluster annotation is the server's.
func TestConvertedMetadata(t *testing.T) {
	server := servertest.Start(t)
	w, hook := newWorkspace(t, server), newConverter(t)
	w.define(widgets("v1", hook.conversion()))
	hook.set(nil, func(object map[string]any) {
		metadata, _ := object["metadata"].(map[string]any)
		metadata["labels"] = map[string]any{"converted": "yes"}
		metadata["annotations"] = map[string]any{"to": object["apiVersion"], "kcp.io/cluster": "somebody-elses"}
		metadata["finalizers"] = []any{"example.com/no"}
		metadata["generation"] = 42
		metadata["resourceVersion"] = "42"
		metadata["garbage"] = "x"
	})
	check := func(got answer, version string) {
		t.Helper()
		annotations := got.object.GetAnnotations()
		if got.object.GetLabels()["converted"] != "yes" || annotations["to"] != "example.com/"+version {
			t.Errorf("labels and annotations = %v %v", got.object.GetLabels(), annotations)
		}
		if annotations["kcp.io/cluster"] != w.cluster {
			t.Errorf("cluster = %q, want %q, which no webhook can change", annotations["kcp.io/cluster"], w.cluster)
		}
		if len(got.object.GetFinalizers()) != 0 || got.field("metadata.generation") != "1" || got.object.GetResourceVersion() == "42" || got.field("metadata.garbage") != "<nil>" {
			t.Errorf("metadata = %s, want what it was", got.field("metadata"))
		}
	}
	w.must(http.StatusCreated, "POST", widgetsURL("v1"), widget("v1", "a", `hostPort: "h:1"`))
	check(w.must(http.StatusOK, "GET", widgetsURL("v2")+"/a", ""), "v2")
	check(w.must(http.StatusCreated, "POST", widgetsURL("v2"), widget("v2", "b", `host: h, port: "1"`)), "v2")
	check(w.must(http.StatusOK, "GET", widgetsURL("v1")+"/b", ""), "v1")
	for _, item := range w.must(http.StatusOK, "GET", widgetsURL("v2"), "").items() {
		check(answer{object: &item}, "v2")
	}
	events := w.watch(widgetsURL("v2") + "?watch=true")
	for range 2 {
		e := events.next()
		check(answer{object: &e.Object}, "v2")
	}

	// An annotation map that is dropped altogether must not take the cluster with it.
	hook.set(nil, func(object map[string]any) {
		metadata, _ := object["metadata"].(map[string]any)
		delete(metadata, "annotations")
	})
	bare := w.must(http.StatusOK, "GET", widgetsURL("v2")+"/a", "")
	if got := bare.object.GetAnnotations()["kcp.io/cluster"]; got != w.cluster {
		t.Errorf("cluster = %q, want %q", got, w.cluster)
	}
}

// TestDeadWebhookIsNobodyElsesTrouble: the webhook of one workspace does not answer.
// Workspaces with the same definition, but for the webhook, do not notice.
func TestDeadWebhookIsNobodyElsesTrouble(t *testing.T) {
	const count = 200
	server := servertest.Start(t)
	dead, alive := newWorkspace(t, server), newWorkspace(t, server)
	deadHook, aliveHook := newConverter(t), newConverter(t)
	dead.define(widgets("v1", deadHook.conversion()))
	alive.define(widgets("v1", aliveHook.conversion()))
	// Whose fields were managed in v2 needs the webhook for any change.
	dead.must(http.StatusCreated, "POST", widgetsURL("v1"), widget("v1", "a", `hostPort: "h:1"`))
	alive.must(http.StatusCreated, "POST", widgetsURL("v2"), widget("v2", "a", `host: h, port: "1"`))
	released := make(chan struct{})
	deadHook.set(func(_ http.ResponseWriter, req *http.Request) {
		select {
		case <-released:
		case <-req.Context().Done():
		}
	}, nil)
	t.Cleanup(func() { close(released) })

	// A get, a list and watches wait for the dead webhook.
	began := time.Now()
	type result struct {
		path   string
		answer answer
		err    error
	}
	waiting := make(chan result, 3)
	for _, path := range []string{widgetsURL("v2") + "/a", widgetsURL("v2"), widgetsURL("v2") + "?fieldSelector=spec.host%3Dh"} {
		go func() {
			a, err := dead.try(t.Context(), "GET", path, "")
			waiting <- result{path, a, err}
		}()
	}
	for range 3 {
		dead.watch(widgetsURL("v2") + "?watch=true")
	}
	events := alive.watch(widgetsURL("v2") + "?watch=true")
	events.expect("ADDED a")
	var slowest time.Duration
	for i := range count {
		dead.must(http.StatusOK, "PATCH", widgetsURL("v1")+"/a", fmt.Sprintf(`{"spec":{"hostPort":"h:%d"}}`, i), contentType(merge))
		before := time.Now()
		alive.must(http.StatusOK, "PATCH", widgetsURL("v2")+"/a", fmt.Sprintf(`{"spec":{"port":"%d"}}`, i+2), contentType(merge))
		if got := alive.must(http.StatusOK, "GET", widgetsURL("v2"), "").items(); len(got) != 1 || field(&got[0], "spec.port") != fmt.Sprint(i+2) {
			t.Fatalf("list = %v", got)
		}
		if e := events.next(); e.Type != "MODIFIED" || field(&e.Object, "spec.port") != fmt.Sprint(i+2) {
			t.Fatalf("event = %s %v, want that of change %d", e.Type, e.Object.Object, i)
		}
		slowest = max(slowest, time.Since(before))
	}
	t.Logf("%d rounds beside a dead webhook in %s, the slowest of the other's in %s", count, time.Since(began).Round(time.Millisecond), slowest.Round(time.Millisecond))
	if deadHook.seen[alive.cluster] || aliveHook.seen[dead.cluster] {
		t.Error("an object was sent to the webhook of another workspace")
	}
	if testing.Short() {
		return
	}
	for range 3 {
		select {
		case r := <-waiting:
			status := r.answer.status()
			if r.err != nil || r.answer.code != http.StatusInternalServerError || !strings.Contains(status.Message, "conversion webhook for example.com/v1, Kind=Widget failed") {
				t.Errorf("%s: %s (%v), want an error that names the webhook", r.path, r.answer, r.err)
			}
		case <-time.After(servertest.Patience):
			t.Fatal("a request that waits for a dead webhook never ends")
		}
	}
	t.Logf("requests that wait for a dead webhook end after %s", time.Since(began).Round(time.Second))
}

// TestDefinitionOutlivesItsWebhook: instances are deleted as they are stored, so that
// neither a definition nor a namespace is held by a webhook that is gone.
func TestDefinitionOutlivesItsWebhook(t *testing.T) {
	server := servertest.Start(t)
	w, hook := newWorkspace(t, server), newConverter(t)
	w.define(widgets("v1", hook.conversion()))
	w.must(http.StatusCreated, "POST", widgetsURL("v1"), widget("v1", "old", `hostPort: "h:1"`))
	held := `{apiVersion: example.com/v1, kind: Widget, metadata: {name: held, finalizers: [example.com/hold]}, spec: {hostPort: "h:1"}}`
	w.must(http.StatusCreated, "POST", widgetsURL("v1"), held)
	w.must(http.StatusCreated, "POST", "/api/v1/namespaces", "{apiVersion: v1, kind: Namespace, metadata: {name: other}}")
	w.must(http.StatusCreated, "POST", strings.Replace(widgetsURL("v1"), "default", "other", 1), widget("v1", "old", `hostPort: "h:1"`))
	w.storage("v2")
	hook.server.CloseClientConnections()
	hook.server.Close()
	w.refused(http.StatusInternalServerError, "", "connection refused", "GET", widgetsURL("v2"), "")

	w.must(http.StatusOK, "DELETE", "/api/v1/namespaces/other", "")
	servertest.Eventually(t, "the namespace goes", func() (bool, any) {
		a := w.do("GET", "/api/v1/namespaces/other", "")
		return a.code == http.StatusNotFound, a
	})
	w.must(http.StatusOK, "DELETE", definitionsURL+"/widgets.example.com", "")
	servertest.Eventually(t, "what has finalizers is named", func() (bool, any) {
		a := w.must(http.StatusOK, "GET", definitionsURL+"/widgets.example.com", "")
		return strings.Contains(a.body, "default/held has finalizers example.com/hold") && !strings.Contains(a.body, "default/old"), a
	})
	// It is still stored in v1, as it was, and can be let go in that version.
	w.must(http.StatusOK, "PATCH", widgetsURL("v1")+"/held", `{"metadata":{"finalizers":null}}`, contentType(merge))
	servertest.Eventually(t, "the definition goes", func() (bool, any) {
		a := w.do("GET", definitionsURL+"/widgets.example.com", "")
		return a.code == http.StatusNotFound, a
	})
}

// TestServiceForm: a webhook that is named as a service is looked for by DNS.
func TestServiceForm(t *testing.T) {
	server := servertest.Start(t)
	w, hook := newWorkspace(t, server), newConverter(t)
	w.define(widgets("v1", fmt.Sprintf(`{strategy: Webhook, webhook: {conversionReviewVersions: [v1], clientConfig: {service: {name: hook, namespace: nowhere, path: /convert, port: 8443}, caBundle: %s}}}`, hook.caBundle())))
	w.must(http.StatusCreated, "POST", widgetsURL("v1"), widget("v1", "a", `hostPort: "h:1"`))
	w.refused(http.StatusInternalServerError, "", "hook.nowhere.svc", "GET", widgetsURL("v2")+"/a", "")
}
