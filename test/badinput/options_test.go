package badinput

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const (
	workspaces = mine + "/apis/tenancy.kcp.io/v1alpha1/workspaces"
	future     = "999999999999"
)

// options are query parameters that make no sense.
func (s *suite) options(t *testing.T) {
	get := func(reason, query string, code int, status metav1.StatusReason, message string) request {
		return request{reason: reason, path: configMaps + "?" + query, code: code, status: status, message: message}
	}
	const (
		bad     = http.StatusBadRequest
		invalid = http.StatusUnprocessableEntity
	)
	s.table(t, map[string]request{
		"Limit":          get("a number that is none", "limit=many", bad, metav1.StatusReasonBadRequest, ""),
		"LabelSelector":  get("a selector that is none", "labelSelector=a%20in%20b", bad, metav1.StatusReasonBadRequest, "unable to parse requirement"),
		"FieldSelector":  get("a field that cannot be selected by", "fieldSelector=spec.secret%3Dx", bad, metav1.StatusReasonBadRequest, "is not a known field selector"),
		"ClusterField":   get("the field that storage finds clusters by is nobody else's", "fieldSelector=kcp.io/cluster%3D"+s.foreign, bad, metav1.StatusReasonBadRequest, "is not a known field selector"),
		"Match":          get("a match there is not", "resourceVersion=1&resourceVersionMatch=Nearly", invalid, metav1.StatusReasonInvalid, "resourceVersionMatch"),
		"MatchAlone":     get("a match of nothing", "resourceVersionMatch=Exact", invalid, metav1.StatusReasonInvalid, "resourceVersionMatch"),
		"ExactZero":      get("exactly anything", "resourceVersion=0&resourceVersionMatch=Exact", invalid, metav1.StatusReasonInvalid, ""),
		"InitialEvents":  get("initial events need a match", "watch=true&sendInitialEvents=true", invalid, metav1.StatusReasonInvalid, "sendInitialEvents"),
		"Continue":       get("a token that is none", "continue=garbage", bad, metav1.StatusReasonBadRequest, "continue"),
		"ContinueEmpty":  get("a token of another version", "continue=eyJ2IjoibWV0YS5rOHMuaW8vdjkifQ", bad, metav1.StatusReasonBadRequest, "continue"),
		"ContinueClimbs": get("a token that leads out of the prefix", "continue="+token("../root/default/"), bad, metav1.StatusReasonBadRequest, "continue"),
		"CustomField":    {reason: "a field that cannot be selected by", path: workspaces + "?fieldSelector=spec.cluster%3Dx", code: bad, status: metav1.StatusReasonBadRequest},
		"DryRun": {
			reason: "a way of trying that there is not", method: http.MethodPost, path: configMaps + "?dryRun=Some", contentType: asJSON,
			body: `{"metadata":{"name":"x"}}`, code: invalid, status: metav1.StatusReasonInvalid, message: "dryRun",
		},
		"FieldValidation": {
			reason: "a way of looking that there is not", method: http.MethodPost, path: configMaps + "?fieldValidation=Nearly", contentType: asJSON,
			body: `{"metadata":{"name":"x"}}`, code: invalid, status: metav1.StatusReasonInvalid, message: "fieldValidation",
		},
		"UnknownField": {
			reason: "a field that there is not", method: http.MethodPost, path: configMaps + "?fieldValidation=Strict", contentType: asJSON,
			body: `{"metadata":{"name":"x"},"datta":{}}`, code: bad, status: metav1.StatusReasonBadRequest, message: `unknown field \"datta\"`,
		},
		"FieldTwice": {
			reason: "a field that is there twice", method: http.MethodPost, path: configMaps + "?fieldValidation=Strict", contentType: asJSON,
			body: `{"metadata":{"name":"x"},"data":{"a":"b"},"data":{}}`, code: bad, status: metav1.StatusReasonBadRequest, message: `duplicate field \"data\"`,
		},
		"NoManager": {
			reason: "who applies has a name", method: http.MethodPatch, path: configMaps + "/x", contentType: apply,
			body: `{"apiVersion":"v1","kind":"ConfigMap"}`, code: invalid, status: metav1.StatusReasonInvalid, message: "fieldManager",
		},
	})
}

// versions are resource versions that are none, or from another time.
func (s *suite) versions(t *testing.T) {
	const tooLarge = "Too large resource version"
	bad := func(reason, path string) request {
		return request{reason: reason, path: path, code: http.StatusBadRequest, status: metav1.StatusReasonBadRequest, message: "invalid resource version"}
	}
	late := func(reason, path string) request {
		return request{reason: reason, path: path, code: http.StatusGatewayTimeout, status: metav1.StatusReasonTimeout, message: tooLarge}
	}
	s.table(t, map[string]request{
		"ListWord":       bad("a version is a number", configMaps+"?resourceVersion=abc"),
		"ListNegative":   bad("a version is not negative", configMaps+"?resourceVersion=-1"),
		"ListHuge":       bad("a version has 64 bits", configMaps+"?resourceVersion=99999999999999999999"),
		"GetWord":        bad("for a get as well", configMaps+"/one-mine?resourceVersion=abc"),
		"WatchWord":      bad("for a watch as well", configMaps+"?watch=true&resourceVersion=abc"),
		"CustomWord":     bad("for custom objects as well", workspaces+"?resourceVersion=abc"),
		"CustomWatch":    bad("and their watches", workspaces+"?watch=true&resourceVersion=abc"),
		"GetFuture":      late("what is to come cannot be read", configMaps+"/one-mine?resourceVersion="+future),
		"ListFuture":     late("or listed", configMaps+"?resourceVersion="+future),
		"ExactFuture":    late("or listed exactly", configMaps+"?resourceVersionMatch=Exact&resourceVersion="+future),
		"CustomFuture":   late("nor custom objects", workspaces+"?resourceVersion="+future),
		"DefinitionLate": late("nor definitions", mine+"/apis/apiextensions.k8s.io/v1/customresourcedefinitions?resourceVersion="+future),
	})
}

// continueTokens are tokens of one list taken to another, or kept too long.
func (s *suite) continueTokens(t *testing.T) {
	page := s.page(t, request{reason: "the owner lists in chunks", token: owner, path: other + "/api/v1/configmaps?limit=1", code: http.StatusOK})
	if page.Continue == "" {
		t.Fatal("the list of the other workspace has no second page")
	}
	carried := url.QueryEscape(page.Continue)
	for name, path := range map[string]string{
		"SameResource": mine + "/api/v1/configmaps",
		"Namespace":    configMaps,
		"Other":        mine + "/api/v1/secrets",
		"Custom":       workspaces,
	} {
		t.Run(name, func(t *testing.T) {
			// It may be refused or go on somewhere in this workspace; do looks for what is
			// foreign in the answer.
			r := request{reason: "a token goes on in the workspace that it is sent to", path: path + "?limit=500&continue=" + carried}
			if code, _, body := s.do(t, r); code != http.StatusOK && code != http.StatusBadRequest && code != http.StatusGone {
				t.Errorf("%s: got %d: %s", r.reason, code, shorten(body))
			}
		})
	}
}

// compacted are versions and tokens of what etcd no longer has. A server that has just
// started remembers nothing of it either.
func (s *suite) compacted(t *testing.T) {
	page := s.page(t, request{reason: "a list in chunks", path: configMaps + "?limit=1", code: http.StatusOK})
	s.send(t, request{
		reason: "something happens", method: http.MethodPatch, path: configMaps + "/one-mine", contentType: merge,
		body: `{"data":{"more":"x"}}`, code: http.StatusOK,
	})
	s.server.Stop()
	s.etcd.Compact(t)
	s.start(t)
	expired := func(reason, query, message string) request {
		return request{reason: reason, path: configMaps + "?" + query, code: http.StatusGone, status: metav1.StatusReasonExpired, message: message}
	}
	s.table(t, map[string]request{
		"Exact":    expired("what was is gone", "resourceVersionMatch=Exact&resourceVersion="+page.ResourceVersion, ""),
		"Continue": expired("upstream tells to begin again, with a token to go on inconsistently", "limit=1&continue="+url.QueryEscape(page.Continue), "The provided continue parameter is too old"),
		"Watch": {
			reason: "a watch says so as its first event",
			path:   configMaps + "?watch=true&timeoutSeconds=5&resourceVersion=" + page.ResourceVersion,
			code:   http.StatusOK, message: `"reason":"Expired"`,
		},
	})
}

// page sends a list and returns what it says of itself.
func (s *suite) page(t *testing.T, r request) metav1.ListMeta {
	t.Helper()
	code, _, body := s.do(t, request{reason: r.reason, token: r.token, path: r.path})
	list := struct {
		Metadata metav1.ListMeta `json:"metadata"`
	}{}
	if err := json.Unmarshal(body, &list); err != nil || code != r.code {
		t.Fatalf("%s: %d, %v: %s", r.reason, code, err, shorten(body))
	}
	return list.Metadata
}

// token is a continue token that begins at a key.
func token(start string) string {
	data, err := json.Marshal(map[string]any{"v": "meta.k8s.io/v1", "rv": 1, "start": start})
	if err != nil {
		panic(fmt.Sprintf("a map of strings has no JSON: %v", err))
	}
	return encode(data)
}
