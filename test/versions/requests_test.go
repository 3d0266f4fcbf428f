package versions

import (
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/forkless/kcp/internal/servertest"
)

// TestRequestsInBothVersions: an API that is converted by rules is served in each version
// as if there were no other.
func TestRequestsInBothVersions(t *testing.T) {
	server := servertest.Start(t)
	provider, w := newWorkspace(t, server), newWorkspace(t, server)
	provider.create(schemas, peopleSchema(secondSchema, "{strategy: None}", version1, version2))
	provider.create(conversions, rules)
	provider.offer(secondSchema)
	w.bind(provider)

	w.create(peopleV1, newPerson("bee", 3))
	t.Run("Get", func(t *testing.T) {
		u := w.get(peopleV2, "bee")
		w.expect("a field that was split", u, "spec.name", `{"first":"Ann","last":"bee"}`)
		w.expect("a field that was renamed", u, "spec.years", "3")
		w.expect("a field that is the same", u, "spec.notes", `{"a.b/c":"d"}`)
		w.expect("a field that the version does not have", u, "spec.nickname", "")
		if got := u.GetAnnotations()["kcp.io/cluster"]; got != w.cluster {
			t.Errorf("it is in cluster %q, want %q", got, w.cluster)
		}
		u = w.get(peopleV1, "bee")
		w.expect("what is preserved is there in its own version", u, "spec.nickname", `"Nan"`)
		if len(u.GetAnnotations()) != 1 {
			t.Errorf("and the annotation is not: %v", u.GetAnnotations())
		}
	})
	t.Run("Update", func(t *testing.T) {
		u := w.get(peopleV2, "bee")
		if err := unstructured.SetNestedField(u.Object, int64(4), "spec", "years"); err != nil {
			t.Fatal(err)
		}
		if _, err := w.of(peopleV2).Update(t.Context(), u, metav1.UpdateOptions{}); err != nil {
			t.Fatal(err)
		}
		u = w.get(peopleV1, "bee")
		w.expect("what was written in the other version", u, "spec.age", "4")
		w.expect("what was left alone", u, "spec.nickname", `"Nan"`)
		w.expect("what was left alone", u, "spec.name", `"Ann bee"`)
	})
	t.Run("Patch", func(t *testing.T) {
		w.patch(peopleV1, "bee", `{"spec":{"name":"Bob bee"}}`)
		w.expect("patched in v1", w.get(peopleV2, "bee"), "spec.name.first", `"Bob"`)
		w.patch(peopleV2, "bee", `{"spec":{"name":{"first":"Ann"}}}`)
		w.expect("patched in v2", w.get(peopleV1, "bee"), "spec.name", `"Ann bee"`)
	})
	t.Run("Status", func(t *testing.T) {
		w.patch(peopleV1, "bee", `{"status":{"ready":true},"spec":{"age":9}}`, "status")
		u := w.get(peopleV2, "bee")
		w.expect("written in v1", u, "status.phase", `"Ready"`)
		w.expect("which changes nothing else", u, "spec.years", "4")
		w.patch(peopleV2, "bee", `{"status":{"phase":"Waiting"}}`, "status")
		w.expect("written in v2", w.get(peopleV1, "bee"), "status.ready", "false")
	})
	t.Run("Select", func(t *testing.T) {
		w.create(peopleV2, "{apiVersion: example.com/v2, kind: Person, metadata: {name: sea}, spec: {name: {first: Cy, last: Sea}}}")
		for _, tc := range []struct {
			resource, selector string
			want               string
		}{
			{"v1", "spec.name=Cy Sea", "sea"}, {"v1", "spec.name=Ann bee", "bee"},
			{"v2", "spec.name.last=Sea", "sea"}, {"v2", "spec.name.last=bee", "bee"}, {"v2", "spec.name.last=none", ""},
		} {
			resource := peopleV1
			resource.Version = tc.resource
			list, err := w.of(resource).List(t.Context(), metav1.ListOptions{FieldSelector: tc.selector})
			if err != nil {
				t.Fatal(err)
			}
			var names []string
			for i := range list.Items {
				names = append(names, list.Items[i].GetName())
			}
			if got := strings.Join(names, " "); got != tc.want {
				t.Errorf("%s, %s: %q, want %q", tc.resource, tc.selector, got, tc.want)
			}
		}
		if _, err := w.of(peopleV2).List(t.Context(), metav1.ListOptions{FieldSelector: "spec.name=x"}); !apierrors.IsBadRequest(err) {
			t.Errorf("by a field of the other version: %v", err)
		}
	})
	t.Run("Watch", func(t *testing.T) {
		watching, err := w.of(peopleV1).Watch(t.Context(), metav1.ListOptions{ResourceVersion: w.get(peopleV1, "bee").GetResourceVersion()})
		if err != nil {
			t.Fatal(err)
		}
		defer watching.Stop()
		w.patch(peopleV2, "bee", `{"spec":{"years":5}}`)
		for event := range watching.ResultChan() {
			u, ok := event.Object.(*unstructured.Unstructured)
			if !ok {
				t.Fatalf("got %+v", event)
			}
			if u.GetName() == "bee" && event.Type == watch.Modified {
				w.expect("an event of the other version", u, "spec.age", "5")
				return
			}
		}
		t.Error("the watch ended without the event")
	})
	t.Run("Apply", func(t *testing.T) { applyInBothVersions(t, w) })
}

// applyInBothVersions: who owns a field in one version owns what it is in the other.
func applyInBothVersions(t *testing.T, w workspace) {
	must := func(u *unstructured.Unstructured, err error) *unstructured.Unstructured {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return u
	}
	older := "{apiVersion: example.com/v1, kind: Person, metadata: {name: dee}, spec: {name: Di Dee, age: AGE}}"
	newer := "{apiVersion: example.com/v2, kind: Person, metadata: {name: dee}, spec: {years: AGE}}"
	must(w.apply(peopleV1, "older", strings.Replace(older, "AGE", "1", 1)))
	must(w.apply(peopleV2, "newer", strings.Replace(newer, "AGE", "1", 1)))
	if _, err := w.apply(peopleV2, "newer", strings.Replace(newer, "AGE", "2", 1)); !apierrors.IsConflict(err) || !strings.Contains(err.Error(), `"older": .spec.age`) {
		t.Errorf("a field that somebody else owns in the other version: %v", err)
	}
	u := must(w.apply(peopleV2, "other", "{apiVersion: example.com/v2, kind: Person, metadata: {name: dee}, spec: {notes: {a: b}}}"))
	w.expect("nothing is lost", u, "spec", `{"name":{"first":"Di","last":"Dee"},"notes":{"a":"b"},"years":1}`)
	// Both owners give the field up, one after the other.
	must(w.apply(peopleV2, "newer", "{apiVersion: example.com/v2, kind: Person, metadata: {name: dee}}"))
	w.expect("somebody owns it still", w.get(peopleV2, "dee"), "spec.years", "1")
	must(w.apply(peopleV1, "older", "{apiVersion: example.com/v1, kind: Person, metadata: {name: dee}, spec: {name: Di Dee}}"))
	w.expect("nobody owns it any more", w.get(peopleV2, "dee"), "spec.years", "")
	w.expect("what he still owns stays", w.get(peopleV2, "dee"), "spec.name", `{"first":"Di","last":"Dee"}`)
	w.expect("what another owns stays", w.get(peopleV1, "dee"), "spec.notes", `{"a":"b"}`)
	for _, entry := range w.get(peopleV1, "dee").GetManagedFields() {
		if strings.Contains(string(entry.FieldsV1.Raw), "preserve.conversion") {
			t.Errorf("%s owns what the server writes: %s", entry.Manager, entry.FieldsV1.Raw)
		}
	}
}

// TestObjectsThatCannotBeConverted: who writes one is told, who reads one is told which,
// and others are not concerned.
func TestObjectsThatCannotBeConverted(t *testing.T) {
	server := servertest.Start(t)
	provider := newProvider(t, server)
	w, other := newWorkspace(t, server), newWorkspace(t, server)
	w.bind(provider)
	other.bind(provider)
	lonely := strings.Replace(newPerson("lonely", 1), "Ann lonely", "lonely", 1)
	w.create(peopleV1, lonely)
	other.create(peopleV1, newPerson("ann", 1))
	provider.upgrade()
	w.awaitSchema(secondSchema)
	other.awaitSchema(secondSchema)

	_, err := w.of(peopleV1).Create(t.Context(), w.object(strings.Replace(lonely, "name: lonely}", "name: another}", 1)), metav1.CreateOptions{})
	if !apierrors.IsInvalid(err) || !strings.Contains(err.Error(), "spec.name.last") {
		t.Errorf("writing one: %v", err)
	}
	_, err = w.of(peopleV2).Get(t.Context(), "lonely", metav1.GetOptions{})
	if !apierrors.IsInternalError(err) || !strings.Contains(err.Error(), `"default/lonely" from v1 to v2`) || !strings.Contains(err.Error(), "self.split(' ')[1]") {
		t.Errorf("reading one: %v", err)
	}
	w.expect("in its own version it can be read", w.get(peopleV1, "lonely"), "spec.name", `"lonely"`)
	w.expect("others are not concerned", other.get(peopleV2, "ann"), "spec.name.last", `"ann"`)

	w.patch(peopleV1, "lonely", `{"spec":{"name":"Not lonely"}}`)
	w.expect("mended, it can be read", w.get(peopleV2, "lonely"), "spec.name.first", `"Not"`)
}

func TestRulesThatCannotWork(t *testing.T) {
	server := servertest.Start(t)
	w := newWorkspace(t, server)
	w.create(schemas, peopleSchema(secondSchema, "{strategy: None}", version1, version2))
	for name, tc := range map[string]struct{ reason, from, to, want string }{
		"NoSuchField": {"a field that the schema does not have", "field: .spec.age", "field: .spec.old", "no field spec.old"},
		"Type":        {"an expression that does not fit the field", "self ? 'Ready' : 'Waiting'", "self + 1", "no matching overload"},
		"Result":      {"a result that does not fit", "self == 'Ready'", "self", "returns string"},
		"Syntax":      {"no expression", "self == 'Ready'", "self ==", "Syntax error"},
		"OneWay":      {"no way back", "from: v2", "from: v3", "no such version"},
		"Unknown":     {"a field of the kind itself that does not exist", "preserve:", "keep:", "unknown field"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := w.of(conversions).Create(t.Context(), w.object(strings.Replace(rules, tc.from, tc.to, 1)), metav1.CreateOptions{FieldValidation: "Strict"})
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("%s: %v, want %q", tc.reason, err, tc.want)
			}
		})
	}
	// Before there is a schema the rules may be for any; the schema then has to fit.
	elsewhere := newWorkspace(t, server)
	elsewhere.create(conversions, strings.Replace(rules, "field: .spec.age", "field: .spec.old", 1))
	_, err := elsewhere.of(schemas).Create(t.Context(), elsewhere.object(peopleSchema(secondSchema, "{strategy: None}", version1, version2)), metav1.CreateOptions{})
	if !apierrors.IsForbidden(err) || !strings.Contains(err.Error(), "no field spec.old") {
		t.Errorf("got %v", err)
	}
}
