package badinput

import (
	"net/http"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// addresses are about the part of the URL that says which workspace.
func (s *suite) addresses(t *testing.T) {
	malformed := func(reason, path string) request {
		return request{reason: reason, path: path, code: http.StatusBadRequest, status: metav1.StatusReasonBadRequest, message: "invalid cluster"}
	}
	s.table(t, map[string]request{
		"Underscore":      malformed("names have no underscores", "/clusters/Bad_Name/api"),
		"UpperCase":       malformed("names are lower case", "/clusters/ROOT/api"),
		"EmptySegment":    malformed("every segment has a name", "/clusters/root::x/api"),
		"LeadingColon":    malformed("the first segment is a cluster", "/clusters/:root/api"),
		"TrailingColon":   malformed("every segment has a name", "/clusters/root:/api"),
		"Empty":           malformed("there is no workspace without a name", "/clusters//api"),
		"NothingBehind":   malformed("there is no list of workspaces at this place", "/clusters/"),
		"DotDot":          malformed("paths do not climb", "/clusters/../api"),
		"DotDotSegment":   malformed("paths do not climb", "/clusters/root:../api"),
		"Dot":             malformed("a dot is no name", "/clusters/./api"),
		"EscapedSlash":    malformed("an escaped slash separates nothing and is in no name", "/clusters/root%2fx/api"),
		"EscapedDots":     malformed("escaping does not make it a name", "/clusters/%2e%2e/api"),
		"EscapedLetters":  malformed("a name needs no escapes; with two spellings there were two ways to a key", "/clusters/%72oot/api"),
		"NUL":             malformed("NUL is in no name", "/clusters/root%00/api"),
		"Newline":         malformed("a line feed must not hide what comes behind it from a regex", "/clusters/root%0a/api"),
		"Space":           malformed("no spaces", "/clusters/root%20/api"),
		"NotUTF8":         malformed("no bytes that are no text", "/clusters/root%ff/api"),
		"Unicode":         malformed("letters beyond ASCII may look like others", "/clusters/r%C3%B6%C3%B6t/api"),
		"OneLetter":       malformed("a cluster has a name of at least two characters", "/clusters/x/api"),
		"LongSegment":     malformed("63 characters at most", "/clusters/"+strings.Repeat("a", 64)+"/api"),
		"LongPath":        malformed("paths are bounded", "/clusters/root"+strings.Repeat(":a", 2000)+"/api"),
		"StarInPath":      malformed("the wildcard is no segment", "/clusters/root:*/api"),
		"TwoStars":        malformed("the wildcard is one star", "/clusters/**/api"),
		"SystemWithoutID": malformed("a system cluster has a name", "/clusters/system:/api"),
		"SystemDotDot":    malformed("system clusters do not climb either", "/clusters/system:../api"),

		"UnknownPath": {
			reason: "a path that leads nowhere is named, and nothing else",
			path:   "/clusters/root:nowhere/api/v1/configmaps", code: http.StatusNotFound, status: metav1.StatusReasonNotFound,
			message: `workspaces.tenancy.kcp.io \"root:nowhere\" not found`,
		},
		"UnknownBelow": {
			reason: "also below a workspace that exists",
			path:   mine + ":nowhere:deeper/api", code: http.StatusNotFound, status: metav1.StatusReasonNotFound,
			message: `workspaces.tenancy.kcp.io \"root:mine:nowhere:deeper\" not found`,
		},
		"UnknownTop": {
			reason: "whose first segment is no cluster",
			path:   "/clusters/nowhere:deeper/api", code: http.StatusNotFound, status: metav1.StatusReasonNotFound,
		},
		"UnknownCluster": {
			reason: "a single name is not looked up: that nothing is there looks as if it were forbidden",
			path:   "/clusters/abcdefgh1234/api/v1/namespaces", code: http.StatusForbidden, status: metav1.StatusReasonForbidden, message: "access denied",
		},
		"UnknownClusterDiscovery": {
			reason: "discovery is as closed as the rest",
			path:   "/clusters/abcdefgh1234/apis", code: http.StatusForbidden, status: metav1.StatusReasonForbidden, message: "access denied",
		},
		"ForeignByPath": {
			reason: "a workspace one may not enter",
			path:   other + "/api/v1/configmaps", code: http.StatusForbidden, status: metav1.StatusReasonForbidden, message: "access denied",
		},
		"ForeignByName": {
			reason: "by its name as well",
			path:   "/clusters/" + s.foreign + "/api/v1/configmaps", code: http.StatusForbidden, status: metav1.StatusReasonForbidden, message: "access denied",
		},
		"ForeignMissing": {
			reason: "and what is not there is forbidden in the same way",
			path:   other + "/api/v1/namespaces/nowhere/configmaps/x", code: http.StatusForbidden, status: metav1.StatusReasonForbidden, message: "access denied",
		},
		"ForeignVersion": {
			reason: "even the version",
			path:   other + "/version", code: http.StatusForbidden, status: metav1.StatusReasonForbidden, message: "access denied",
		},
		"SystemCluster": {
			reason: "system clusters are for privileged callers",
			path:   "/clusters/system:admin/apis/rbac.authorization.k8s.io/v1/clusterroles", code: http.StatusForbidden, status: metav1.StatusReasonForbidden,
		},
		"Wildcard": {
			reason: "so is the wildcard",
			path:   "/clusters/*/api/v1/configmaps", code: http.StatusForbidden, status: metav1.StatusReasonForbidden,
		},
		"WildcardWatch": {
			reason: "for watches, too",
			path:   "/clusters/*/api/v1/configmaps?watch=true", code: http.StatusForbidden, status: metav1.StatusReasonForbidden,
		},
		"WildcardDiscovery": {
			reason: "and for discovery",
			path:   "/clusters/*/apis", code: http.StatusForbidden, status: metav1.StatusReasonForbidden,
		},
		"WildcardCreate": {
			reason: "not even privileged callers write to all clusters at once",
			token:  privileged, method: http.MethodPost, path: "/clusters/*/api/v1/namespaces", contentType: asJSON, body: `{"metadata":{"name":"x"}}`,
			code: http.StatusMethodNotAllowed, status: metav1.StatusReasonMethodNotAllowed, message: "in the `*` logical cluster",
		},
		"WildcardGet": {
			reason: "or get one object out of all",
			token:  privileged, path: "/clusters/*/api/v1/namespaces/default",
			code: http.StatusMethodNotAllowed, status: metav1.StatusReasonMethodNotAllowed, message: "in the `*` logical cluster",
		},
		"WildcardDeleteCollection": {
			reason: "or delete everything",
			token:  privileged, method: http.MethodDelete, path: "/clusters/*/api/v1/configmaps",
			code: http.StatusMethodNotAllowed, status: metav1.StatusReasonMethodNotAllowed,
		},
		"DoubledPrefix": {
			reason: "one prefix is taken off",
			path:   mine + mine + "/api", code: http.StatusNotFound, plain: true,
		},
		"DoubledPrefixToForeign": {
			reason: "what is behind it does not count",
			path:   mine + other + "/api/v1/configmaps", code: http.StatusNotFound, plain: true,
		},
		"ClimbingOut": {
			reason: "dots behind the prefix do not lead to another workspace",
			path:   mine + "/../root:other/api/v1/configmaps", code: http.StatusNotFound, plain: true,
		},
		"ClimbingToUnprefixed": {
			reason: "or out of all workspaces",
			path:   mine + "/../../api/v1/configmaps", code: http.StatusNotFound, plain: true,
		},
		"Metrics": {
			reason: "what the process measures is nobody's workspace",
			path:   mine + "/metrics", code: http.StatusNotImplemented, plain: true, message: "shard-level endpoint not available at workspace scope",
		},
		"MetricsPrivileged": {
			reason: "for nobody",
			token:  privileged, path: mine + "/metrics", code: http.StatusNotImplemented, plain: true,
		},

		"Unprefixed": {
			reason: "without a workspace there is nothing to be allowed",
			path:   "/api/v1/configmaps", code: http.StatusForbidden, status: metav1.StatusReasonForbidden,
		},
		"UnprefixedDiscovery": {
			reason: "not even discovery",
			path:   "/apis", code: http.StatusForbidden, status: metav1.StatusReasonForbidden,
		},
		"UnprefixedVersion": {
			reason: "or the version",
			path:   "/version", code: http.StatusForbidden, status: metav1.StatusReasonForbidden,
		},
		"UnprefixedPrivileged": {
			reason: "privileged callers are told what is missing",
			token:  privileged, path: "/api/v1/configmaps", code: http.StatusBadRequest, status: metav1.StatusReasonBadRequest, message: "names no logical cluster",
		},
		"UnprefixedWrite": {
			reason: "and cannot write to nowhere",
			token:  privileged, method: http.MethodPost, path: "/api/v1/namespaces", contentType: asJSON, body: `{"metadata":{"name":"x"}}`,
			code: http.StatusBadRequest, status: metav1.StatusReasonBadRequest,
		},
		"HealthDetails": {
			reason: "details of health are not public",
			token:  nobody, path: "/livez/ping", code: http.StatusForbidden, status: metav1.StatusReasonForbidden,
		},
		"Profiles": {
			reason: "profiles neither",
			path:   "/debug/pprof/heap", code: http.StatusForbidden, status: metav1.StatusReasonForbidden,
		},
		"ClusterHeader": {
			reason: "no header selects a cluster",
			path:   "/api/v1/configmaps", header: map[string]string{"X-Kubernetes-Cluster": "root:mine"},
			code: http.StatusForbidden, status: metav1.StatusReasonForbidden,
		},
	})
}

// names are about the parts of the URL behind the workspace.
func (s *suite) names(t *testing.T) {
	bad := func(reason, path, message string) request {
		return request{reason: reason, path: mine + path, code: http.StatusBadRequest, status: metav1.StatusReasonBadRequest, message: message}
	}
	missing := func(reason, path string) request {
		return request{reason: reason, path: mine + path, code: http.StatusNotFound, status: metav1.StatusReasonNotFound}
	}
	gone := func(reason, path string) request {
		return request{reason: reason, path: mine + path, code: http.StatusNotFound, plain: true}
	}
	s.table(t, map[string]request{
		"NameDotDot":             bad("a name is no step in a path", "/api/v1/namespaces/default/configmaps/..", "may not be '..'"),
		"NameDot":                bad("a name is no step in a path", "/api/v1/namespaces/default/configmaps/.", "may not be '.'"),
		"NameEscapedDots":        bad("escaped or not", "/api/v1/namespaces/default/configmaps/%2e%2e", "may not be '..'"),
		"CustomNameDotDot":       bad("nor that of a custom object", "/apis/tenancy.kcp.io/v1alpha1/workspaces/..", "may not be '..'"),
		"NamePercent":            bad("a percent sign could be taken for an escape", "/api/v1/namespaces/default/configmaps/a%25b", "may not contain '%'"),
		"NamespaceDotDot":        bad("a namespace is no step in a path", "/api/v1/namespaces/../configmaps", "invalid key"),
		"NamespaceDot":           bad("a namespace is no step in a path", "/api/v1/namespaces/./configmaps", "invalid key"),
		"NamespaceDotDotAndName": bad("with a name behind it", "/api/v1/namespaces/../configmaps/x", ""),
		"NameNUL":                missing("nothing has such a name", "/api/v1/namespaces/default/configmaps/a%00b"),
		"NameEscapedSlash":       missing("an escaped slash is a slash to upstream", "/api/v1/namespaces/default/configmaps/..%2f..%2fx"),
		"NamespaceEscapedSlash":  missing("an escaped slash is a slash to upstream", "/api/v1/namespaces/..%2f"+s.foreign+"/configmaps"),
		"NamespaceForeign":       missing("the name of another cluster is no namespace here", "/api/v1/namespaces/"+s.foreign+"/configmaps/one-other"),
		"ForeignObject":          missing("objects of others are not here", "/api/v1/namespaces/default/configmaps/one-other"),
		"UnknownGroup":           missing("a group that is not served", "/apis/nothing.example.dev"),
		"UnknownVersion":         missing("a version that is not served", "/apis/tenancy.kcp.io/v7"),
		"UnknownResource":        gone("a resource that is not served", "/apis/tenancy.kcp.io/v1alpha1/nothing"),
		"UnknownCoreResource":    missing("nodes there are none", "/api/v1/pods"),
		"UnknownSubresource":     missing("a subresource that is not served", "/api/v1/namespaces/default/nothing"),
		"NamespacedClusterScope": gone("a workspace is in no namespace", "/apis/tenancy.kcp.io/v1alpha1/namespaces/default/workspaces"),
		"Home":                   missing("a home is asked for in root", "/apis/tenancy.kcp.io/v1alpha1/workspaces/~"),
	})
}
