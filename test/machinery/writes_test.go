package machinery

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/forkless/kcp/internal/servertest"
)

// TestFieldValidation: unknown and duplicate fields are refused, told of or ignored.
func TestFieldValidation(t *testing.T) {
	eachKind(t, servertest.Start(t), func(t *testing.T, w *workspace, k kind) {
		there := w.must(http.StatusCreated, "POST", k.url, k.body("there", "1"))
		flawed := func(name string) map[string]string {
			group, value := "example.com", "hostPort"
			if k.name == "Lease" {
				group, value = "coordination.k8s.io", "holderIdentity"
			}
			body := fmt.Sprintf(`{"apiVersion":"%s/v1","kind":%q,"metadata":{"name":%q,"oops":1},"spec":{%q:"a",%q:"b","unknown":1}}`, group, k.name, name, value, value)
			if name == "there" {
				// Custom resources are not replaced without saying which state of them.
				body = strings.Replace(body, `"oops":1`, fmt.Sprintf(`"resourceVersion":%q,"oops":1`, there.object.GetResourceVersion()), 1)
			}
			return map[string]string{"body": body, "unknown": `unknown field "spec.unknown"`, "metadata": `unknown field "metadata.oops"`, "duplicate": `duplicate field "spec.` + value + `"`}
		}
		flaws := []string{"unknown", "metadata", "duplicate"}
		for _, write := range []struct{ method, url, name string }{{"POST", k.url, "new"}, {"PUT", k.url + "/there", "there"}} {
			f := flawed(write.name)
			refused := w.must(http.StatusBadRequest, write.method, write.url+"?fieldValidation=Strict", f["body"], contentType(asJSON))
			for _, flaw := range flaws {
				if !strings.Contains(refused.status().Message, f[flaw]) {
					t.Errorf("%s: strict: %s, want %q in it", write.method, refused, f[flaw])
				}
			}
			for _, mode := range []string{"?dryRun=All&fieldValidation=Warn", "?dryRun=All"} {
				told := strings.ReplaceAll(strings.Join(w.do(write.method, write.url+mode, f["body"], contentType(asJSON)).header.Values("Warning"), "\n"), `\"`, `"`)
				for _, flaw := range flaws {
					if !strings.Contains(told, f[flaw]) {
						t.Errorf("%s%s: warnings %s, want %q among them", write.method, mode, told, f[flaw])
					}
				}
			}
			if ignored := w.do(write.method, write.url+"?dryRun=All&fieldValidation=Ignore", f["body"], contentType(asJSON)); ignored.code >= 300 || len(ignored.header.Values("Warning")) != 0 {
				t.Errorf("%s: ignored: %s %v", write.method, ignored, ignored.header)
			}
		}
		w.refused(http.StatusUnprocessableEntity, "Invalid", "fieldValidation", "POST", k.url+"?fieldValidation=Sometimes", k.body("x", "1"))
		unknown := `{"metadata":{"labels":{"a":"b"}},"unknown":1}`
		w.refused(http.StatusUnprocessableEntity, "Invalid", `unknown field "unknown"`, "PATCH", k.url+"/there?fieldValidation=Strict", unknown, contentType(merge))
		w.refused(http.StatusUnprocessableEntity, "Invalid", `unknown field "unknown"`, "PATCH", k.url+"/there?fieldValidation=Strict", `[{"op":"add","path":"/unknown","value":1}]`, contentType(jsonOps))
		applied := strings.Replace(k.body("there", "1"), "{apiVersion", "{unknown: 1, apiVersion", 1)
		// The schema decides here, so that there is no leniency.
		if got := w.do("PATCH", k.url+"/there?fieldManager=m&force=true&fieldValidation=Strict", applied, contentType(apply)); got.code < 400 || !strings.Contains(got.body, "unknown") {
			t.Errorf("apply with an unknown field: %s", got)
		}
	})
}

// TestWrites: preconditions, dry runs, names and what the server writes itself.
func TestWrites(t *testing.T) {
	eachKind(t, servertest.Start(t), func(t *testing.T, w *workspace, k kind) {
		dryRuns(t, w, k)
		preconditions(t, w, k)
		patches(t, w, k)
		managers(t, w, k)
		deletions(t, w, k)

		generated := strings.Replace(k.body("x", "1"), `name: "x"`, `generateName: made-`, 1)
		for range 2 {
			if got := w.must(http.StatusCreated, "POST", k.url, generated).field("metadata.name"); len(got) != len("made-")+5 || !strings.HasPrefix(got, "made-") {
				t.Errorf("generated name %q", got)
			}
		}
		w.refused(http.StatusConflict, "AlreadyExists", "already exists", "POST", k.url, k.body("kept", "1"))
		w.refused(http.StatusUnprocessableEntity, "Invalid", "metadata.name", "POST", k.url, k.body("Not A Name", "1"))
		w.refused(http.StatusBadRequest, "BadRequest", "does not match", "POST", k.url, strings.Replace(k.body("x", "1"), "metadata: {", "metadata: {namespace: other, ", 1))
		w.refused(http.StatusNotFound, "NotFound", `namespaces "missing" not found`, "POST", strings.Replace(k.url, "default", "missing", 1), k.body("x", "1"))
	})
}

func dryRuns(t *testing.T, w *workspace, k kind) {
	t.Helper()
	const dry = "dryRun=All"
	w.must(http.StatusCreated, "POST", k.url+"?"+dry, k.body("dry", "1"))
	w.must(http.StatusNotFound, "GET", k.url+"/dry", "")
	before := w.must(http.StatusCreated, "POST", k.url, k.body("kept", "1"))
	w.must(http.StatusOK, "PUT", k.url+"/kept?"+dry, k.withVersion("kept", "2", before))
	if got := w.must(http.StatusOK, "PATCH", k.url+"/kept?"+dry, k.merged("2"), contentType(merge)); got.field(k.path) != "2" {
		t.Errorf("a dry run shows %s, want what would be", got)
	}
	w.must(http.StatusOK, "PATCH", k.url+"/kept?force=true&fieldManager=m&"+dry, k.body("kept", "3"), contentType(apply))
	w.must(http.StatusCreated, "PATCH", k.url+"/dry?fieldManager=m&"+dry, k.body("dry", "3"), contentType(apply))
	w.must(http.StatusOK, "DELETE", k.url+"/kept?"+dry, "")
	w.must(http.StatusOK, "DELETE", k.url+"?"+dry, "")
	if got := w.must(http.StatusOK, "GET", k.url, ""); got.names() != "kept" || got.items()[0].GetResourceVersion() != before.object.GetResourceVersion() {
		t.Errorf("dry runs have left %s", got)
	}
	w.refused(http.StatusUnprocessableEntity, "Invalid", "dryRun", "POST", k.url+"?dryRun=Perhaps", k.body("dry", "1"))
}

// withVersion is the body of an object that is to replace one.
func (k kind) withVersion(name, value string, old answer) string {
	return strings.Replace(k.body(name, value), "metadata: {", fmt.Sprintf("metadata: {resourceVersion: %q, ", old.object.GetResourceVersion()), 1)
}

func preconditions(t *testing.T, w *workspace, k kind) {
	t.Helper()
	old := w.must(http.StatusOK, "GET", k.url+"/kept", "")
	w.must(http.StatusOK, "PATCH", k.url+"/kept", k.merged("2"), contentType(merge))
	w.refused(http.StatusConflict, "Conflict", "the object has been modified; please apply your changes to the latest version and try again", "PUT", k.url+"/kept", k.withVersion("kept", "3", old))
	stale := fmt.Sprintf(`{"metadata":{"resourceVersion":%q}}`, old.object.GetResourceVersion())
	w.refused(http.StatusConflict, "Conflict", "the object has been modified", "PATCH", k.url+"/kept", stale, contentType(merge))
	w.refused(http.StatusConflict, "Conflict", "", "PUT", k.url+"/kept", strings.Replace(k.body("kept", "3"), "metadata: {", `metadata: {uid: another, `, 1))
	options := func(preconditions string) string {
		return `{"apiVersion":"v1","kind":"DeleteOptions","preconditions":{` + preconditions + `}}`
	}
	w.refused(http.StatusConflict, "Conflict", "the UID in the precondition", "DELETE", k.url+"/kept", options(`"uid":"another"`), contentType(asJSON))
	w.refused(http.StatusConflict, "Conflict", "the ResourceVersion in the precondition", "DELETE", k.url+"/kept", options(`"resourceVersion":"`+old.object.GetResourceVersion()+`"`), contentType(asJSON))
	// Leases come into being by being replaced or patched, too.
	if k.name != "Lease" {
		if got := w.do("PUT", k.url+"/absent", k.withVersion("absent", "1", old)); got.code != http.StatusNotFound && got.code != http.StatusConflict {
			t.Errorf("replacing what is not there: %s", got)
		}
		w.refused(http.StatusNotFound, "NotFound", "", "PATCH", k.url+"/absent", `{}`, contentType(merge))
	}
}

func patches(t *testing.T, w *workspace, k kind) {
	t.Helper()
	path := "/" + strings.ReplaceAll(k.path, ".", "/")
	w.must(http.StatusOK, "PATCH", k.url+"/kept", fmt.Sprintf(`[{"op":"test","path":%q,"value":"2"},{"op":"replace","path":%q,"value":"3"},{"op":"add","path":"/metadata/annotations/a","value":"b"}]`, path, path), contentType(jsonOps))
	w.refused(http.StatusUnprocessableEntity, "Invalid", "", "PATCH", k.url+"/kept", fmt.Sprintf(`[{"op":"test","path":%q,"value":"2"}]`, path), contentType(jsonOps))
	w.refused(http.StatusBadRequest, "BadRequest", "", "PATCH", k.url+"/kept", `{`, contentType(merge))
	got := w.must(http.StatusOK, "PATCH", k.url+"/kept", `{"metadata":{"annotations":{"a":null,"c":"d"}}}`, contentType(merge))
	if annotations := got.object.GetAnnotations(); annotations["a"] != "" || annotations["c"] != "d" || annotations["kcp.io/cluster"] != w.cluster || got.field(k.path) != "3" {
		t.Errorf("patched: %s", got)
	}
	if generation := got.field("metadata.generation"); (generation == "<nil>") != (k.name == "Lease") {
		t.Errorf("generation = %s", generation)
	} else if k.name == "Widget" && generation != "3" {
		t.Errorf("generation = %s, want 3: metadata does not count", generation)
	}
}

func managers(t *testing.T, w *workspace, k kind) {
	t.Helper()
	w.refused(http.StatusUnprocessableEntity, "Invalid", "fieldManager", "PATCH", k.url+"/applied", k.body("applied", "1"), contentType(apply))
	url := func(manager string) string { return k.url + "/applied?fieldManager=" + manager }
	w.must(http.StatusCreated, "PATCH", url("alice"), k.body("applied", "1"), contentType(apply))
	w.must(http.StatusOK, "PATCH", url("bob"), k.body("applied", "1"), contentType(apply))
	conflict := w.refused(http.StatusConflict, "Conflict", `Apply failed with 2 conflicts: conflicts with "alice"`, "PATCH", url("bob"), k.body("applied", "2"), contentType(apply))
	if causes := conflict.status().Details; causes == nil || len(causes.Causes) != 2 || causes.Causes[0].Type != "FieldManagerConflict" {
		t.Errorf("conflict = %s", conflict)
	}
	got := w.must(http.StatusOK, "PATCH", url("bob")+"&force=true", k.body("applied", "2"), contentType(apply))
	owners := map[string]string{}
	for _, entry := range got.object.GetManagedFields() {
		owners[entry.Manager] = string(entry.Operation) + " " + string(entry.FieldsV1.Raw)
	}
	last := `"f:` + k.path[strings.LastIndexByte(k.path, '.')+1:] + `"`
	if !strings.HasPrefix(owners["bob"], "Apply") || !strings.Contains(owners["bob"], last) || strings.Contains(owners["alice"], last) || strings.Contains(owners["alice"]+owners["bob"], "kcp.io/cluster") {
		t.Errorf("owners = %v", owners)
	}
	w.must(http.StatusOK, "PATCH", k.url+"/applied?fieldManager=carol", k.merged("3"), contentType(merge))
	w.refused(http.StatusConflict, "Conflict", `conflicts with "carol"`, "PATCH", url("bob"), k.body("applied", "2"), contentType(apply))
	if got := w.must(http.StatusOK, "PATCH", k.url+"/applied", `{"metadata":{"managedFields":[{}]}}`, contentType(merge)); len(got.object.GetManagedFields()) != 0 {
		t.Errorf("managed fields that were taken away: %v", got.object.GetManagedFields())
	}
}

func deletions(t *testing.T, w *workspace, k kind) {
	t.Helper()
	held := strings.Replace(k.body("held", "9"), "metadata: {", "metadata: {finalizers: [example.com/hold], ", 1)
	w.must(http.StatusCreated, "POST", k.url, held)
	w.must(http.StatusCreated, "POST", k.url, k.body("loose", "9"))
	w.must(http.StatusOK, "DELETE", k.url+"?labelSelector=value%3D9", "")
	going := w.must(http.StatusOK, "GET", k.url, "")
	if going.names() != "applied held kept" {
		t.Fatalf("after a collection was deleted there are %s", going.names())
	}
	one := w.must(http.StatusOK, "DELETE", k.url+"/held", "")
	if one.object.GetDeletionTimestamp() == nil {
		t.Errorf("held = %s", one)
	}
	w.refused(http.StatusUnprocessableEntity, "Invalid", "no new finalizers can be added if the object is being deleted", "PATCH", k.url+"/held", `{"metadata":{"finalizers":["example.com/hold","example.com/more"]}}`, contentType(merge))
	w.must(http.StatusOK, "PATCH", k.url+"/held", `{"metadata":{"finalizers":null}}`, contentType(merge))
	w.must(http.StatusNotFound, "GET", k.url+"/held", "")
	w.must(http.StatusOK, "DELETE", k.url+"?fieldSelector=metadata.name%3Dapplied", "")
	if got := w.must(http.StatusOK, "GET", k.url, "").names(); got != "kept" {
		t.Errorf("left are %s", got)
	}
	w.refused(http.StatusNotFound, "NotFound", "not found", "DELETE", k.url+"/absent", "")
}

// TestSubresources: status and spec change each through its own door.
func TestSubresources(t *testing.T) {
	w := newWorkspace(t, servertest.Start(t))
	w.define(widgets("v1", "{strategy: None}"))
	url := widgetsURL("v1")
	body := `{apiVersion: example.com/v1, kind: Widget, metadata: {name: a}, spec: {hostPort: x, replicas: 1}, status: {said: lies}}`
	created := w.must(http.StatusCreated, "POST", url, body)
	if created.field("status") != "<nil>" {
		t.Errorf("created with a status: %s", created)
	}
	got := w.must(http.StatusOK, "PATCH", url+"/a/status?fieldManager=reporter", `{apiVersion: example.com/v1, kind: Widget, metadata: {name: a}, status: {said: hello, replicas: 1}}`, contentType(apply))
	if got.field("status.said") != "hello" || got.field("metadata.generation") != "1" {
		t.Errorf("status = %s", got)
	}
	for _, entry := range got.object.GetManagedFields() {
		if entry.Manager == "reporter" && (entry.Subresource != "status" || strings.Contains(string(entry.FieldsV1.Raw), "f:spec")) {
			t.Errorf("the reporter owns %s of %q", entry.FieldsV1.Raw, entry.Subresource)
		}
	}
	got = w.must(http.StatusOK, "PATCH", url+"/a", `{"spec":{"hostPort":"y"},"status":{"said":"lies"}}`, contentType(merge))
	if got.field("status.said") != "hello" || got.field("metadata.generation") != "2" {
		t.Errorf("after a change of both: %s", got)
	}
	scale := w.must(http.StatusOK, "GET", url+"/a/scale", "")
	if scale.field("apiVersion") != "autoscaling/v1" || scale.field("spec.replicas") != "1" {
		t.Errorf("scale = %s", scale)
	}
	w.must(http.StatusOK, "PUT", url+"/a/scale", strings.Replace(scale.body, `"replicas":1`, `"replicas":7`, 1), contentType(asJSON))
	if got := w.must(http.StatusOK, "GET", url+"/a", ""); got.field("spec.replicas") != "7" || got.field("metadata.generation") != "3" {
		t.Errorf("scaled: %s", got)
	}
	w.refused(http.StatusUnprocessableEntity, "Invalid", "", "PATCH", url+"/a/scale", `{"spec":{"replicas":-1}}`, contentType(merge))

	// Strategic merge patches know the keys of lists of built-in kinds.
	accounts := "/api/v1/namespaces/default/serviceaccounts"
	w.must(http.StatusCreated, "POST", accounts, `{apiVersion: v1, kind: ServiceAccount, metadata: {name: a}, secrets: [{name: x}]}`)
	if got := w.must(http.StatusOK, "PATCH", accounts+"/a", `{"secrets":[{"name":"y"}]}`, contentType(smart)); len(maps(got, "secrets")) != 2 {
		t.Errorf("secrets = %s, want both", got.field("secrets"))
	}
	if got := w.must(http.StatusOK, "PATCH", accounts+"/a", `{"secrets":[{"$patch":"delete","name":"x"}]}`, contentType(smart)); len(maps(got, "secrets")) != 1 {
		t.Errorf("secrets = %s, want one", got.field("secrets"))
	}
}
