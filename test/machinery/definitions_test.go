package machinery

import (
	"net/http"
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/forkless/kcp/internal/servertest"
)

// gadgets is a definition of gadgets with the schema of their spec.
func gadgets(spec string) string {
	return `{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: gadgets.example.com, labels: {which: gadgets}},
		spec: {group: example.com, scope: Cluster, names: {plural: gadgets, kind: Gadget},
		versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, properties: {spec: ` + spec + `}}}}]}}`
}

func gadget(name, spec string) string {
	return `{apiVersion: example.com/v1, kind: Gadget, metadata: {name: ` + name + `}, spec: {` + spec + `}}`
}

const gadgetsURL = "/apis/example.com/v1/gadgets"

// TestValidationRules: rules in CEL, and what is wrong with them.
func TestValidationRules(t *testing.T) {
	w := newWorkspace(t, servertest.Start(t))
	const spec = `{type: object, properties: {replicas: {type: integer}, min: {type: integer}, fixed: {type: string}},
		x-kubernetes-validations: [
			{rule: "!has(self.min) || self.replicas >= self.min", message: fewer than the minimum, fieldPath: .replicas, reason: FieldValueForbidden},
			{rule: "!has(oldSelf.fixed) || self.fixed == oldSelf.fixed", messageExpression: "'fixed is ' + oldSelf.fixed"}]}`
	w.define(gadgets(spec))
	w.must(http.StatusCreated, "POST", gadgetsURL, gadget("a", `replicas: 3, min: 1, fixed: x`))
	got := w.refused(http.StatusUnprocessableEntity, "Invalid", "fewer than the minimum", "POST", gadgetsURL, gadget("b", `replicas: 1, min: 3`))
	if cause := got.status().Details.Causes[0]; cause.Field != "spec.replicas" || cause.Type != "FieldValueForbidden" {
		t.Errorf("cause = %v", cause)
	}
	w.refused(http.StatusUnprocessableEntity, "Invalid", "fixed is x", "PATCH", gadgetsURL+"/a", `{"spec":{"fixed":"y"}}`, contentType(merge))
	w.must(http.StatusOK, "PATCH", gadgetsURL+"/a", `{"spec":{"replicas":4}}`, contentType(merge))

	for reason, c := range map[string]struct{ spec, says string }{
		"a field that is not there": {`{type: object, properties: {a: {type: string}}, x-kubernetes-validations: [{rule: "self.b == ''"}]}`, "undefined field 'b'"},
		"a broken rule":             {`{type: object, x-kubernetes-validations: [{rule: "self ==== 1"}]}`, "Syntax error"},
		"a rule that costs too much": {`{type: object, properties: {a: {type: array, items: {type: array, items: {type: array, items: {type: string}}}}},
			x-kubernetes-validations: [{rule: "self.a.all(x, x.all(y, y.all(z, z.contains('a'))))"}]}`, "estimated rule cost exceeds budget"},
		"no type":                     {`{properties: {a: {type: string}}}`, "Required value: must not be empty for specified object fields"},
		"a default that is not valid": {`{type: object, properties: {a: {type: integer, default: x}}}`, "must be of type integer"},
	} {
		other := strings.NewReplacer("gadgets", "others", "Gadget", "Other").Replace(gadgets(c.spec))
		got := w.refused(http.StatusUnprocessableEntity, "Invalid", c.says, "POST", definitionsURL, other)
		if got.code == http.StatusCreated {
			t.Errorf("%s was accepted", reason)
		}
	}
}

// TestRatcheting: what was invalid before may stay, and nothing else.
func TestRatcheting(t *testing.T) {
	w := newWorkspace(t, servertest.Start(t))
	w.define(gadgets(`{type: object, properties: {color: {type: string}, size: {type: integer}}}`))
	w.must(http.StatusCreated, "POST", gadgetsURL, gadget("a", `color: crimson, size: 1`))
	const definition = definitionsURL + "/gadgets.example.com"
	w.must(http.StatusOK, "PATCH", definition, `[{"op":"add","path":"/spec/versions/0/schema/openAPIV3Schema/properties/spec/properties/color/enum","value":["red"]},
		{"op":"add","path":"/spec/versions/0/schema/openAPIV3Schema/properties/spec/properties/size/default","value":7}]`, contentType(jsonOps))
	servertest.Eventually(t, "the new schema is in force", func() (bool, any) {
		got := w.do("POST", gadgetsURL+"?dryRun=All", gadget("b", `color: crimson`))
		return got.code == http.StatusUnprocessableEntity, got
	})
	w.must(http.StatusOK, "PATCH", gadgetsURL+"/a", `{"spec":{"size":2}}`, contentType(merge))
	w.refused(http.StatusUnprocessableEntity, "Invalid", "supported values", "PATCH", gadgetsURL+"/a", `{"spec":{"color":"pink"}}`, contentType(merge))

	// Defaults come for requests and for what is stored already.
	if got := w.must(http.StatusCreated, "POST", gadgetsURL, gadget("c", `color: red`)); got.field("spec.size") != "7" {
		t.Errorf("created %s, want the default", got)
	}
	w.must(http.StatusOK, "PATCH", definition, `[{"op":"add","path":"/spec/versions/0/schema/openAPIV3Schema/properties/spec/properties/late","value":{"type":"string","default":"now"}}]`, contentType(jsonOps))
	servertest.Eventually(t, "stored objects have the new default", func() (bool, any) {
		got := w.do("GET", gadgetsURL+"/a", "")
		return got.field("spec.late") == "now", got
	})
}

// TestDefinitions: definitions as objects, and what their conditions say.
func TestDefinitions(t *testing.T) {
	server := servertest.Start(t)
	w, other := newWorkspace(t, server), newWorkspace(t, server)
	events := w.watch(definitionsURL + "?watch=true")
	created := w.define(gadgets("{type: object, x-kubernetes-preserve-unknown-fields: true}"))
	for name, want := range map[apiextensionsv1.CustomResourceDefinitionConditionType]string{"NamesAccepted": "True", "Established": "True", "NonStructuralSchema": "", "Terminating": ""} {
		if got := w.condition(created, name); got != want {
			t.Errorf("condition %s = %q, want %q", name, got, want)
		}
	}
	if created.field("status.storedVersions") != "[v1]" || created.field("status.acceptedNames.plural") != "gadgets" {
		t.Errorf("status = %s", created.field("status"))
	}
	events.expect("ADDED gadgets.example.com")
	// Another definition wants the same kind; in another workspace nobody minds.
	rival := strings.NewReplacer("gadgets", "gizmos").Replace(gadgets("{type: object}"))
	w.must(http.StatusCreated, "POST", definitionsURL, rival)
	servertest.Eventually(t, "the rival's names are refused", func() (bool, any) {
		got := w.must(http.StatusOK, "GET", definitionsURL+"/gizmos.example.com", "")
		return w.condition(got, "NamesAccepted") == "False" && w.condition(got, "Established") == "False" && strings.Contains(got.body, "is already in use"), got
	})
	w.must(http.StatusNotFound, "GET", "/apis/example.com/v1/gizmos", "")
	other.define(rival)

	url := definitionsURL + "/gadgets.example.com"
	got := w.must(http.StatusOK, "PATCH", url+"/status", `{"status":{"conditions":[{"type":"Mine","status":"True","reason":"Because","message":"so"}]}}`, contentType(merge))
	if w.condition(got, "Mine") != "True" {
		t.Errorf("status = %s", got)
	}
	w.must(http.StatusOK, "GET", url+"/status", "")
	if got := w.must(http.StatusOK, "GET", definitionsURL+"?labelSelector=which%3Dgadgets&limit=1", ""); got.names() != "gadgets.example.com" {
		t.Errorf("list = %s", got.names())
	}
	w.must(http.StatusOK, "DELETE", definitionsURL+"?labelSelector=which%3Dgadgets", "")
	// Its names are free then, for who wanted them.
	w.established("gizmos.example.com")
	if got := w.must(http.StatusOK, "GET", definitionsURL, "").names(); got != "gizmos.example.com" {
		t.Errorf("left are %s", got)
	}
	for e := events.next(); e.String() != "DELETED gadgets.example.com"; e = events.next() {
		if e.Type == "end" {
			t.Fatal("the watch ended before it told of the deletion")
		}
	}
	if got := other.must(http.StatusOK, "GET", definitionsURL, "").names(); got != "gizmos.example.com" {
		t.Errorf("another workspace has %s", got)
	}
}
