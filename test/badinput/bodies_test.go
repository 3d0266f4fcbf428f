package badinput

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const (
	configMaps = mine + "/api/v1/namespaces/default/configmaps"
	namespaces = mine + "/api/v1/namespaces"

	mebibyte = 1 << 20
)

// bodies are objects and patches that make no sense.
func (s *suite) bodies(t *testing.T) {
	post := func(reason, contentType, body string, code int, status metav1.StatusReason, message string) request {
		return request{reason: reason, method: http.MethodPost, path: configMaps, contentType: contentType, body: body, code: code, status: status, message: message}
	}
	patch := func(reason, contentType, body string, code int, status metav1.StatusReason, message string) request {
		return request{reason: reason, method: http.MethodPatch, path: configMaps + "/one-mine?fieldManager=test", contentType: contentType, body: body, code: code, status: status, message: message}
	}
	named := func(name string) string {
		return fmt.Sprintf(`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":%q}}`, name)
	}
	const (
		bad     = http.StatusBadRequest
		invalid = http.StatusUnprocessableEntity
	)
	s.table(t, map[string]request{
		"BrokenJSON":   post("half an object", asJSON, `{"metadata":`, bad, metav1.StatusReasonBadRequest, "couldn't get version/kind"),
		"Empty":        post("no object", asJSON, ``, bad, metav1.StatusReasonBadRequest, ""),
		"Array":        post("not an object", asJSON, `[]`, bad, metav1.StatusReasonBadRequest, ""),
		"String":       post("not an object", asJSON, `"x"`, bad, metav1.StatusReasonBadRequest, ""),
		"Null":         post("an object without anything", asJSON, `null`, invalid, metav1.StatusReasonInvalid, "name or generateName is required"),
		"BrokenYAML":   post("half a list", asYAML, `a: [b`, bad, metav1.StatusReasonBadRequest, "yaml"),
		"YAMLBomb":     post("aliases that multiply", asYAML, yamlBomb(), bad, metav1.StatusReasonBadRequest, ""),
		"DeepJSON":     post("brackets without end", asJSON, strings.Repeat(`{"a":`, 20000)+"1"+strings.Repeat("}", 20000), bad, metav1.StatusReasonBadRequest, ""),
		"BrokenProto":  post("no protobuf", proto, `k8s nothing`, bad, metav1.StatusReasonBadRequest, ""),
		"CutOffProto":  post("protobuf cut off", proto, "k8s\x00\x0a\xff\xff\xff\xff\x0f", bad, metav1.StatusReasonBadRequest, ""),
		"WrongKind":    post("a Secret is no ConfigMap", asJSON, `{"apiVersion":"v1","kind":"Secret","metadata":{"name":"x"}}`, bad, metav1.StatusReasonBadRequest, "cannot be handled as a ConfigMap"),
		"UnknownKind":  post("nothing is a Gadget", asJSON, `{"apiVersion":"v1","kind":"Gadget","metadata":{"name":"x"}}`, bad, metav1.StatusReasonBadRequest, "no kind \\\"Gadget\\\" is registered"),
		"WrongType":    post("data is a map", asJSON, `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"x"},"data":[1]}`, bad, metav1.StatusReasonBadRequest, ""),
		"Namespace":    post("the namespace is that of the URL", asJSON, `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"x","namespace":"other"}}`, bad, metav1.StatusReasonBadRequest, "namespace"),
		"NameClimbs":   post("names do not climb", asJSON, named("../x"), invalid, metav1.StatusReasonInvalid, "metadata.name"),
		"NameSlash":    post("names have no slashes", asJSON, named("a/b"), invalid, metav1.StatusReasonInvalid, "metadata.name"),
		"NameDotDot":   post("names are no steps", asJSON, named(".."), invalid, metav1.StatusReasonInvalid, "metadata.name"),
		"NameNUL":      post("names have no NUL", asJSON, `{"metadata":{"name":"a\u0000b"}}`, invalid, metav1.StatusReasonInvalid, "metadata.name"),
		"NameUpper":    post("names are lower case", asJSON, named("Upper"), invalid, metav1.StatusReasonInvalid, "metadata.name"),
		"NameLong":     post("names are bounded", asJSON, named(strings.Repeat("a", 254)), invalid, metav1.StatusReasonInvalid, "metadata.name"),
		"BadLabel":     post("labels have a grammar", asJSON, `{"metadata":{"name":"x","labels":{"a b":"c"}}}`, invalid, metav1.StatusReasonInvalid, "metadata.labels"),
		"BadOwner":     post("an owner has a name and a UID", asJSON, `{"metadata":{"name":"x","ownerReferences":[{"apiVersion":"v1","kind":"ConfigMap"}]}}`, invalid, metav1.StatusReasonInvalid, "ownerReferences"),
		"WithVersion":  post("what is new has no version", asJSON, `{"metadata":{"name":"x","resourceVersion":"7"}}`, bad, metav1.StatusReasonBadRequest, "resourceVersion should not be set"),
		"Exists":       post("a name is taken once", asJSON, named("one-mine"), http.StatusConflict, metav1.StatusReasonAlreadyExists, `\"one-mine\" already exists`),
		"BrokenMerge":  patch("half a patch", merge, `{`, bad, metav1.StatusReasonBadRequest, "error decoding patch"),
		"BrokenOps":    patch("operations are a list", jsonOps, `{}`, bad, metav1.StatusReasonBadRequest, "error decoding patch"),
		"UnknownOp":    patch("an operation that is none", jsonOps, `[{"op":"shake","path":"/data"}]`, invalid, metav1.StatusReasonInvalid, ""),
		"FailedTest":   patch("a test that fails", jsonOps, `[{"op":"test","path":"/data/is","value":"else"}]`, invalid, metav1.StatusReasonInvalid, ""),
		"ManyOps":      patch("operations are bounded", jsonOps, "["+strings.TrimSuffix(strings.Repeat(`{"op":"add","path":"/data/a","value":"b"},`, 10001), ",")+"]", http.StatusRequestEntityTooLarge, metav1.StatusReasonRequestEntityTooLarge, "10000"),
		"BrokenApply":  patch("half a list", apply, `a: [b`, bad, metav1.StatusReasonBadRequest, "error decoding YAML"),
		"NamelessType": patch("what is applied has a kind", apply, `{}`, bad, metav1.StatusReasonBadRequest, ""),
		"OtherKind":    patch("an object keeps its kind", merge, `{"kind":"Secret"}`, invalid, metav1.StatusReasonInvalid, ""),
		"OtherName":    patch("and its name", merge, `{"metadata":{"name":"x"}}`, bad, metav1.StatusReasonBadRequest, "does not match the name on the URL"),
		"OldVersion":   patch("a patch of what was", merge, `{"metadata":{"resourceVersion":"1"}}`, http.StatusConflict, metav1.StatusReasonConflict, "the object has been modified; please apply your changes to the latest version and try again"),
		"BodyTooLarge": post("3 MiB are the most that is read", asJSON, largeConfigMap(3*mebibyte+mebibyte/8), http.StatusRequestEntityTooLarge, metav1.StatusReasonRequestEntityTooLarge, "limit is 3145728"),
		"PatchTooLarge": patch("of patches as well", merge, `{"data":{"a":"`+strings.Repeat("a", 3*mebibyte)+`"}}`,
			http.StatusRequestEntityTooLarge, metav1.StatusReasonRequestEntityTooLarge, ""),
		"DataTooLarge": post("3 MB pass as a request, but not as a ConfigMap", asJSON, largeConfigMap(3000000), invalid, metav1.StatusReasonInvalid, "Too long"),
		"ObjectTooLarge": {
			reason: "what etcd would not store is too large, not an internal error",
			method: http.MethodPost, path: namespaces, contentType: asJSON, body: largeNamespace(2 * mebibyte),
			code: http.StatusRequestEntityTooLarge, status: metav1.StatusReasonRequestEntityTooLarge,
		},
		"PutOtherName": {
			reason: "the name is that of the URL",
			method: http.MethodPut, path: configMaps + "/one-mine", contentType: asJSON, body: named("two-mine"),
			code: bad, status: metav1.StatusReasonBadRequest, message: "does not match the name on the URL",
		},
		"PutMissing": {
			reason: "ConfigMaps are not created by update",
			method: http.MethodPut, path: configMaps + "/missing", contentType: asJSON, body: named("missing"),
			code: http.StatusNotFound, status: metav1.StatusReasonNotFound,
		},
		"BrokenDelete": {
			reason: "half a DeleteOptions",
			method: http.MethodDelete, path: configMaps + "/one-mine", contentType: asJSON, body: `{`,
			code: bad, status: metav1.StatusReasonBadRequest,
		},
		"DeleteOther": {
			reason: "a precondition that is not met",
			method: http.MethodDelete, path: configMaps + "/one-mine", contentType: asJSON, body: `{"preconditions":{"uid":"11111111-1111-1111-1111-111111111111"}}`,
			code: http.StatusConflict, status: metav1.StatusReasonConflict, message: "does not match the UID in record",
		},
		"UnknownPropagation": {
			reason: "a way of deleting that is none",
			method: http.MethodDelete, path: configMaps + "/one-mine", contentType: asJSON, body: `{"propagationPolicy":"Sideways"}`,
			code: invalid, status: metav1.StatusReasonInvalid, message: "propagationPolicy",
		},
	})
}

// mediaTypes are about the forms of requests and answers.
func (s *suite) mediaTypes(t *testing.T) {
	unsupported := func(reason, method, path, contentType string) request {
		return request{
			reason: reason, method: method, path: path, contentType: contentType, body: `{}`,
			code: http.StatusUnsupportedMediaType, status: metav1.StatusReasonUnsupportedMediaType,
		}
	}
	unacceptable := func(reason, accept string) request {
		return request{reason: reason, path: configMaps, accept: accept, code: http.StatusNotAcceptable, status: metav1.StatusReasonNotAcceptable}
	}
	const widgets = mine + "/apis/tenancy.kcp.io/v1alpha1/workspaces"
	s.table(t, map[string]request{
		"Text":            unsupported("objects are not text", http.MethodPost, configMaps, "text/plain"),
		"Form":            unsupported("or forms", http.MethodPost, configMaps, "application/x-www-form-urlencoded"),
		"PlainPatch":      unsupported("a patch says which kind it is", http.MethodPatch, configMaps+"/one-mine", asJSON),
		"StrategicCustom": unsupported("strategic merge patches need a type known beforehand", http.MethodPatch, widgets+"/x", "application/strategic-merge-patch+json"),
		"CustomText":      unsupported("custom objects are not text either", http.MethodPost, widgets, "text/plain"),
		"CustomProto": {
			reason: "they have no protobuf", method: http.MethodPost, path: widgets, contentType: proto, body: "k8s\x00",
			code: http.StatusBadRequest, status: metav1.StatusReasonBadRequest,
		},
		"CustomProtoGarbage": {
			reason: "least of all when it is none", method: http.MethodPost, path: widgets, contentType: proto, body: `{}`,
			code: http.StatusBadRequest, status: metav1.StatusReasonBadRequest,
		},
		"UnknownAccept": unacceptable("an answer in a form there is not", "application/foo"),
		"UnknownTable":  unacceptable("a table in a version there is not", "application/json;as=Table;g=meta.k8s.io;v=v9"),
		"UnknownShape":  unacceptable("a shape there is not", "application/json;as=Foo;g=meta.k8s.io;v=v1"),
		"Method": {
			reason: "a method that means nothing here",
			method: http.MethodPost, path: configMaps + "/one-mine", contentType: asJSON, body: `{}`,
			code: http.StatusMethodNotAllowed, status: metav1.StatusReasonMethodNotAllowed,
		},
		"UnknownMethod": {
			reason: "a method that means nothing anywhere",
			method: "SHAKE", path: configMaps, code: http.StatusMethodNotAllowed, status: metav1.StatusReasonMethodNotAllowed,
		},
		"DeleteNamespaces": {
			reason: "namespaces go one by one",
			method: http.MethodDelete, path: namespaces, code: http.StatusMethodNotAllowed, status: metav1.StatusReasonMethodNotAllowed,
		},
	})
}

func largeConfigMap(size int) string {
	return `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"large"},"data":{"a":"` + strings.Repeat("a", size) + `"}}`
}

// largeNamespace is valid, and larger than what etcd stores: finalizers are not bounded.
func largeNamespace(size int) string {
	var finalizers []string
	for i := 0; i*64 < size; i++ {
		finalizers = append(finalizers, fmt.Sprintf(`"example.dev/%050d"`, i))
	}
	return `{"apiVersion":"v1","kind":"Namespace","metadata":{"name":"large","finalizers":[` + strings.Join(finalizers, ",") + `]}}`
}

func yamlBomb() string {
	var bomb strings.Builder
	bomb.WriteString("a0: &a0 [x,x,x,x,x,x,x,x,x,x]\n")
	for i := 1; i < 12; i++ {
		_, _ = fmt.Fprintf(&bomb, "a%d: &a%d [%s]\n", i, i, strings.TrimSuffix(strings.Repeat(fmt.Sprintf("*a%d,", i-1), 10), ","))
	}
	return bomb.String()
}
