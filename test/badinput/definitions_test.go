package badinput

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"github.com/forkless/kcp/internal/servertest"
)

const definitions = mine + "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"

// definition is a CustomResourceDefinition with a change: YAML that stands in for lines.
func definition(replace ...string) string {
	const valid = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata:
  name: widgets.example.dev
spec:
  group: example.dev
  scope: Namespaced
  names: {plural: widgets, singular: widget, kind: Widget, listKind: WidgetList}
  versions:
  - name: v1
    served: true
    storage: true
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec:
            type: object
            properties:
              size: {type: integer, minimum: 1}
              name: {type: string, maxLength: 10}
            x-kubernetes-validations:
            - {rule: "!has(self.size) || self.size < 100", message: too large}
`
	data, err := yaml.YAMLToJSON([]byte(strings.NewReplacer(replace...).Replace(valid)))
	if err != nil {
		panic(fmt.Sprintf("a definition of the tests is no YAML: %v", err))
	}
	return string(data)
}

// definitions are CustomResourceDefinitions that define nothing.
func (s *suite) definitions(t *testing.T) {
	invalid := func(reason, message string, replace ...string) request {
		return request{
			reason: reason, method: http.MethodPost, path: definitions, contentType: asJSON, body: definition(replace...),
			code: http.StatusUnprocessableEntity, status: metav1.StatusReasonInvalid, message: message,
		}
	}
	const rule = `"!has(self.size) || self.size < 100"`
	s.table(t, map[string]request{
		"Name":          invalid("the name says plural and group", "metadata.name", "name: widgets.example.dev", "name: gadgets.example.dev"),
		"Group":         invalid("a group is a domain", "spec.group", "group: example.dev", "group: Example_Dev"),
		"Scope":         invalid("a scope there is not", "spec.scope", "scope: Namespaced", "scope: Everywhere"),
		"NoVersions":    invalid("a definition defines something", "spec.versions", "storage: true", "storage: false"),
		"NullableRoot":  invalid("an object is an object", "openAPIV3Schema", "openAPIV3Schema:\n        type: object", "openAPIV3Schema:\n        nullable: true"),
		"NotStructural": invalid("a schema is structural", "type: Required value", "size: {type: integer, minimum: 1}", "size: {minimum: 1}"),
		"UnknownType":   invalid("a type there is not", "Unsupported value", "type: integer", "type: whole"),
		"BadPattern":    invalid("a regular expression that is none", "pattern", "{type: string, maxLength: 10}", `{type: string, pattern: "("}`),
		"BadDefault":    invalid("a default that is not valid", "default", "minimum: 1}", "minimum: 1, default: 0}"),
		"BadRule":       invalid("a rule that does not compile", "compilation failed", rule, `"self.size <"`),
		"UnknownInRule": invalid("a rule about a field there is not", "undefined field", rule, `"self.weight < 1"`),
		"CostlyRule":    invalid("a rule that costs too much", "cost", "{type: string, maxLength: 10}", `{type: array, items: {type: array, items: {type: string}}, x-kubernetes-validations: [{rule: "self.all(x, x.all(y, self.all(z, z.all(w, w != y))))"}]}`),
		"Reference":     invalid("schemas do not refer to others", "$ref", "{type: string, maxLength: 10}", `{$ref: "#/definitions/x"}`),
		"OurGroup": {
			reason: "groups of the system are its own", method: http.MethodPost, path: definitions, contentType: asJSON,
			body: definition("example.dev", "x.apis.kcp.io"), code: http.StatusForbidden, status: metav1.StatusReasonForbidden,
		},
		"OurAnnotation": {
			reason: "so are annotations", method: http.MethodPost, path: definitions, contentType: asJSON,
			body: definition("metadata:", "metadata:\n  annotations: {apis.kcp.io/x: \"y\"}"), code: http.StatusForbidden, status: metav1.StatusReasonForbidden,
		},
		"Broken": {
			reason: "half a definition", method: http.MethodPost, path: definitions, contentType: asJSON, body: `{"spec":`,
			code: http.StatusBadRequest, status: metav1.StatusReasonBadRequest,
		},
		"EmptyDefinition": {
			reason: "nothing is defined", method: http.MethodPost, path: definitions, contentType: asJSON, body: `{"metadata":{"name":"x"}}`,
			code: http.StatusUnprocessableEntity, status: metav1.StatusReasonInvalid, message: "spec.group: Required value",
		},
	})
}

// customObjects are objects that their definition does not allow.
func (s *suite) customObjects(t *testing.T) {
	s.send(t, request{reason: "a definition", method: http.MethodPost, path: definitions, contentType: asJSON, body: definition(), code: http.StatusCreated})
	const widgets = mine + "/apis/example.dev/v1/namespaces/default/widgets"
	servertest.Eventually(t, "the definition is served", func() (bool, any) {
		code, _, body := s.do(t, request{reason: "is it served?", path: widgets})
		return code == http.StatusOK, string(body)
	})
	post := func(reason, spec string, code int, status metav1.StatusReason, message string) request {
		return request{
			reason: reason, method: http.MethodPost, path: widgets, contentType: asJSON,
			body: `{"apiVersion":"example.dev/v1","kind":"Widget","metadata":{"name":"w"},"spec":` + spec + `}`,
			code: code, status: status, message: message,
		}
	}
	const invalid = http.StatusUnprocessableEntity
	s.table(t, map[string]request{
		"Type":     post("a number is no word", `{"size":"three"}`, invalid, metav1.StatusReasonInvalid, "spec.size"),
		"Minimum":  post("less than the least", `{"size":0}`, invalid, metav1.StatusReasonInvalid, "greater than or equal to 1"),
		"Rule":     post("against the rule", `{"size":100}`, invalid, metav1.StatusReasonInvalid, "too large"),
		"Long":     post("longer than the longest", `{"name":"`+strings.Repeat("a", 11)+`"}`, invalid, metav1.StatusReasonInvalid, "spec.name"),
		"Huge":     post("a number beyond all", `{"size":1e400}`, http.StatusBadRequest, metav1.StatusReasonBadRequest, ""),
		"TooLarge": post("larger than etcd stores", `{"name":"`+strings.Repeat("a", 2*mebibyte)+`"}`, invalid, metav1.StatusReasonInvalid, "spec.name"),
		"WrongKind": {
			reason: "another kind", method: http.MethodPost, path: widgets, contentType: asJSON,
			body: `{"apiVersion":"example.dev/v1","kind":"Gadget","metadata":{"name":"w"}}`, code: invalid, status: metav1.StatusReasonInvalid, message: "must be Widget",
		},
		"WrongVersion": {
			reason: "another version", method: http.MethodPost, path: widgets, contentType: asJSON,
			body: `{"apiVersion":"example.dev/v2","kind":"Widget","metadata":{"name":"w"}}`, code: http.StatusBadRequest, status: metav1.StatusReasonBadRequest,
		},
		"NoKind": {
			reason: "no kind at all", method: http.MethodPost, path: widgets, contentType: asJSON,
			body: `{"metadata":{"name":"w"}}`, code: http.StatusBadRequest, status: metav1.StatusReasonBadRequest, message: "Object 'Kind' is missing",
		},
		"NameClimbs": {
			reason: "names do not climb", method: http.MethodPost, path: widgets, contentType: asJSON,
			body: `{"apiVersion":"example.dev/v1","kind":"Widget","metadata":{"name":"../w"}}`, code: invalid, status: metav1.StatusReasonInvalid, message: "metadata.name",
		},
		"UnknownField": {
			reason: "a field that is not in the schema", method: http.MethodPost, path: widgets + "?fieldValidation=Strict", contentType: asJSON,
			body: `{"apiVersion":"example.dev/v1","kind":"Widget","metadata":{"name":"w"},"spec":{"weight":1}}`,
			code: http.StatusBadRequest, status: metav1.StatusReasonBadRequest, message: `unknown field \"spec.weight\"`,
		},
		"Status": {
			reason: "a subresource that is not defined", path: widgets + "/w/status", code: http.StatusNotFound, status: metav1.StatusReasonNotFound,
		},
		"InOther": {
			reason: "a resource of another workspace is not known where it is not defined", token: owner,
			path: other + "/apis/example.dev/v1/namespaces/default/widgets", code: http.StatusNotFound, plain: true,
		},
	})
}

// immutableFields are writes to what stays as it is, and to what only the server writes.
func (s *suite) immutableFields(t *testing.T) {
	child := s.server.Workspace(t, "root:mine", "child")
	path := workspaces + "/" + child.Name
	patch := func(reason, path, body string, code int, status metav1.StatusReason, message string) request {
		return request{reason: reason, method: http.MethodPatch, path: path, contentType: merge, body: body, code: code, status: status, message: message}
	}
	const (
		invalid   = http.StatusUnprocessableEntity
		forbidden = http.StatusForbidden
	)
	own := mine + ":child/apis/core.kcp.io/v1alpha1/logicalclusters/cluster"
	s.allowInto(t, child.Spec.Cluster)
	s.table(t, map[string]request{
		"UID":           patch("a UID stays", configMaps+"/one-mine", `{"metadata":{"uid":"11111111-1111-1111-1111-111111111111"}}`, invalid, metav1.StatusReasonInvalid, "metadata.uid"),
		"Type":          patch("the type of a workspace stays", path, `{"spec":{"type":{"name":"team"}}}`, invalid, metav1.StatusReasonInvalid, "name is immutable"),
		"TypePath":      patch("and where it comes from", path, `{"spec":{"type":{"path":"root:mine"}}}`, invalid, metav1.StatusReasonInvalid, "path is immutable"),
		"Cluster":       patch("so does its cluster", path, `{"spec":{"cluster":"`+s.own+`"}}`, invalid, metav1.StatusReasonInvalid, "cluster is immutable"),
		"NoCluster":     patch("which it cannot lose", path, `{"spec":{"cluster":null}}`, invalid, metav1.StatusReasonInvalid, "cluster cannot be unset"),
		"URL":           patch("its URL is the server's", path, `{"spec":{"URL":"https://example.dev"}}`, forbidden, metav1.StatusReasonForbidden, ""),
		"NoURL":         patch("and stays", path, `{"spec":{"URL":null}}`, invalid, metav1.StatusReasonInvalid, "URL cannot be unset"),
		"Mount":         patch("a mount stays", path, `{"spec":{"mount":{"ref":{"apiVersion":"v1","kind":"x","name":"y"}}}}`, forbidden, metav1.StatusReasonForbidden, ""),
		"Status":        patch("the status is the server's", path+"/status", `{"status":{"phase":"Scheduling"}}`, forbidden, metav1.StatusReasonForbidden, ""),
		"CreatedBy":     patch("the creator stays", own, `{"spec":{"createdBy":{"username":"user-1"}}}`, forbidden, metav1.StatusReasonForbidden, ""),
		"Initializers":  patch("what began it stays", own, `{"spec":{"initializers":["root:nothing"]}}`, forbidden, metav1.StatusReasonForbidden, ""),
		"AddInitialize": patch("and does not begin again", own+"/status", `{"status":{"initializers":["root:nothing"]}}`, forbidden, metav1.StatusReasonForbidden, ""),
		"Back":          patch("no phase comes back", own+"/status", `{"status":{"phase":"Initializing"}}`, forbidden, metav1.StatusReasonForbidden, ""),
		"NewCluster": {
			reason: "nobody makes logical clusters by hand", method: http.MethodPost, path: mine + ":child/apis/core.kcp.io/v1alpha1/logicalclusters", contentType: asJSON,
			body: `{"apiVersion":"core.kcp.io/v1alpha1","kind":"LogicalCluster","metadata":{"name":"cluster"}}`, code: forbidden, status: metav1.StatusReasonForbidden, message: "LogicalCluster cannot be created",
		},
		"DeleteCluster": {
			reason: "or removes them", method: http.MethodDelete, path: own, code: forbidden, status: metav1.StatusReasonForbidden,
		},
		"WithCluster": {
			reason: "a workspace is not made around a cluster", method: http.MethodPost, path: workspaces, contentType: asJSON,
			body: workspace("with-cluster", `{"cluster":"`+s.foreign+`"}`), code: forbidden, status: metav1.StatusReasonForbidden,
		},
		"WithURL": {
			reason: "or a URL", method: http.MethodPost, path: workspaces, contentType: asJSON,
			body: workspace("with-url", `{"URL":"https://example.dev"}`), code: forbidden, status: metav1.StatusReasonForbidden,
		},
		"UnknownType": {
			reason: "a type there is not", method: http.MethodPost, path: workspaces, contentType: asJSON,
			body: workspace("of-nothing", `{"type":{"name":"nothing"}}`), code: forbidden, status: metav1.StatusReasonForbidden,
		},
		"TypeOfForeign": {
			reason: "a type in a workspace there is not looks like a type there is not", method: http.MethodPost, path: workspaces, contentType: asJSON,
			body: workspace("of-foreign", `{"type":{"name":"nothing","path":"root:nowhere"}}`), code: forbidden, status: metav1.StatusReasonForbidden,
		},
		"BadWorkspaceName": {
			reason: "a workspace's name is a label", method: http.MethodPost, path: workspaces, contentType: asJSON,
			body: workspace("with.dot", `{}`), code: invalid, status: metav1.StatusReasonInvalid, message: "metadata.name",
		},
		"DefaultNamespace": {
			reason: "the namespace default stays", method: http.MethodDelete, path: namespaces + "/default",
			code: forbidden, status: metav1.StatusReasonForbidden, message: "this namespace may not be deleted",
		},
	})
}

// allowInto makes the user administrator of a cluster.
func (s *suite) allowInto(t *testing.T, cluster string) {
	t.Helper()
	s.send(t, request{
		reason: "the administrator lets the user in", token: privileged, method: http.MethodPost, contentType: asJSON,
		path: "/clusters/" + cluster + "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings",
		body: `{"metadata":{"name":"admin"},"roleRef":{"apiGroup":"rbac.authorization.k8s.io","kind":"ClusterRole","name":"cluster-admin"},` +
			`"subjects":[{"apiGroup":"rbac.authorization.k8s.io","kind":"User","name":"user-1"}]}`,
		code: http.StatusCreated,
	})
	s.waitForAdmin(t, cluster, user)
}

func workspace(name, spec string) string {
	data, err := json.Marshal(map[string]any{
		"apiVersion": "tenancy.kcp.io/v1alpha1", "kind": "Workspace",
		"metadata": map[string]any{"name": name}, "spec": json.RawMessage(spec),
	})
	if err != nil {
		panic(fmt.Sprintf("a workspace of the tests is no JSON: %v", err))
	}
	return string(data)
}
