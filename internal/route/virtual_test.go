package route

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/client-go/kubernetes/scheme"

	corev1alpha1 "github.com/forkless/kcp/pkg/apis/core/v1alpha1"
	"github.com/forkless/kcp/pkg/logicalcluster"
)

// kinds are virtual workspaces with as many segments as they ask for.
func kinds(name string) (VirtualForm, bool) {
	form, ok := map[string]VirtualForm{
		"apiexport": {Segments: 2}, "schemas": {Segments: 1}, "bare": {}, "hooks": {Segments: 1, Home: beforeColon},
	}[name]
	return form, ok
}

// beforeColon returns what stands before the last colon of an identifier.
func beforeColon(id string) logicalcluster.Name {
	name, _ := logicalcluster.ParseName(id[:max(strings.LastIndex(id, ":"), 0)])
	return name
}

func TestSplitVirtual(t *testing.T) {
	for name, tc := range map[string]struct {
		reason   string
		url      string
		segments []string
		path     string
		rest     string
		none     bool
	}{
		"Name":          {reason: "names are what is published", url: "/services/apiexport/abc/wild.west/clusters/def/api/v1?limit=1", segments: []string{"abc", "wild.west"}, path: "def", rest: "/api/v1?limit=1"},
		"Path":          {reason: "paths are taken as well", url: "/services/apiexport/root:a/x/clusters/root:b/apis", segments: []string{"root:a", "x"}, path: "root:b", rest: "/apis"},
		"Wildcard":      {reason: "all clusters", url: "/services/apiexport/root/x/clusters/*/api", segments: []string{"root", "x"}, path: "*", rest: "/api"},
		"Escaped":       {reason: "client-go escapes the wildcard", url: "/services/apiexport/root/x/clusters/%2A/api/v1/namespaces/a%2Fb", segments: []string{"root", "x"}, path: "*", rest: "/api/v1/namespaces/a%2Fb"},
		"EscapedRest":   {reason: "what follows keeps its escapes", url: "/services/schemas/root/clusters/root/api/a%2Fb", segments: []string{"root"}, path: "root", rest: "/api/a%2Fb"},
		"NoRest":        {reason: "the root of the workspace is meant", url: "/services/apiexport/root/x/clusters/root", segments: []string{"root", "x"}, path: "root", rest: "/"},
		"NoSegments":    {reason: "a kind need not ask for any", url: "/services/bare/clusters/root/api", path: "root", rest: "/api"},
		"Nested":        {reason: "only one cluster is taken off", url: "/services/bare/clusters/root/clusters/other/api", path: "root", rest: "/clusters/other/api"},
		"System":        {reason: "a system cluster is a name", url: "/services/apiexport/system:admin/x/clusters/system:shard/api", segments: []string{"system:admin", "x"}, path: "system:shard", rest: "/api"},
		"Elsewhere":     {reason: "other URLs are not looked at", url: "/clusters/root/api", none: true},
		"Unknown":       {reason: "there is no such kind", url: "/services/initializing/root/x/clusters/*/api", none: true},
		"TooFew":        {reason: "a segment is missing", url: "/services/apiexport/root/clusters/root/api", none: true},
		"TooMany":       {reason: "there is one too many", url: "/services/apiexport/root/x/y/clusters/root/api", none: true},
		"EmptySegment":  {reason: "a segment has a content", url: "/services/apiexport//x/clusters/root/api", none: true},
		"NoCluster":     {reason: "a cluster has to be named", url: "/services/apiexport/root/x", none: true},
		"NoClusterName": {reason: "with a name", url: "/services/apiexport/root/x/clusters/", none: true},
		"BadCluster":    {reason: "that is one", url: "/services/apiexport/root/x/clusters/Root/api", none: true},
		"EscapedPrefix": {reason: "nothing before the cluster needs an escape", url: "/services/apiexport/root/%78/clusters/root/api", none: true},
		"EscapedSlash":  {reason: "an escaped slash is none", url: "/services/apiexport/root%2Fx/clusters/root/api", none: true},
		"EscapedColon":  {reason: "nor does an identifier", url: "/services/hooks/root%3Ax/clusters/root/api", none: true},
		"Dots":          {reason: "dots lead nowhere", url: "/services/apiexport/root/x/../clusters/root/api", none: true},
	} {
		t.Run(name, func(t *testing.T) {
			u, err := url.Parse(tc.url)
			if err != nil {
				t.Fatal(err)
			}
			workspace, path, rest, ok := SplitVirtual(u, kinds)
			if ok == tc.none {
				t.Fatalf("%s: got %+v, %t", tc.reason, workspace, ok)
			}
			if tc.none {
				return
			}
			if diff := cmp.Diff(tc.segments, workspace.Segments); diff != "" || path.String() != tc.path || rest.RequestURI() != tc.rest {
				t.Errorf("%s: got %v, %s, %s", tc.reason, workspace.Segments, path, rest.RequestURI())
			}
		})
	}
}

func FuzzSplitVirtual(f *testing.F) {
	for _, seed := range []string{
		"/services/apiexport/root/x/clusters/root/api", "/services/apiexport/root/x/clusters/%2A/api/a%2Fb",
		"/services/bare/clusters/root:a", "/services/schemas/%2e%2e/clusters/*/", "/services//clusters/root",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, raw string) {
		u, err := url.Parse(raw)
		if err != nil {
			return
		}
		workspace, path, rest, ok := SplitVirtual(u, kinds)
		if !ok {
			return
		}
		if !strings.HasPrefix(rest.Path, "/") {
			t.Errorf("the rest of %q is %q", raw, rest.Path)
		}
		if again, err := logicalcluster.ParsePath(path.String()); err != nil || again != path {
			t.Errorf("%q does not parse to itself: %v", path, err)
		}
		for _, segment := range workspace.Segments {
			if segment == "" || strings.ContainsAny(segment, "/%\x00") {
				t.Errorf("segment %q of %q has characters that mean something in URLs", segment, raw)
			}
		}
	})
}

func TestWithVirtualWorkspaces(t *testing.T) {
	resolver := NewResolver(tree{
		"root/provider":    workspace("providercluster", corev1alpha1.PhaseReady),
		"root/consumer":    workspace("consumercluster", corev1alpha1.PhaseReady),
		"root/unavailable": workspace("gone", corev1alpha1.PhaseUnavailable),
	}, NewTrees())
	for name, tc := range map[string]struct {
		reason        string
		url           string
		kind          string
		home, cluster string
		path          string
		elsewhere     bool
	}{
		"Names":       {reason: "names are taken as they are", url: "/services/apiexport/abc/x/clusters/def/api", kind: "apiexport", home: "abc", cluster: "def", path: "/api"},
		"Paths":       {reason: "paths are walked", url: "/services/apiexport/root:provider/x/clusters/root:consumer/api", kind: "apiexport", home: "providercluster", cluster: "consumercluster", path: "/api"},
		"Wildcard":    {reason: "all clusters are one target", url: "/services/apiexport/abc/x/clusters/*/api", kind: "apiexport", home: "abc", cluster: "*", path: "/api"},
		"Nowhere":     {reason: "nobody is told that a path leads nowhere", url: "/services/apiexport/abc/x/clusters/root:none/api", kind: "apiexport", home: "abc", path: "/api"},
		"Unavailable": {reason: "nor that it does not at present", url: "/services/apiexport/abc/x/clusters/root:unavailable/api", kind: "apiexport", home: "abc", path: "/api"},
		"Homeless":    {reason: "nor that there is no home", url: "/services/apiexport/root:none/x/clusters/abc/api", kind: "apiexport", cluster: "abc", path: "/api"},
		"AllHomes":    {reason: "all clusters are nobody's home", url: "/services/apiexport/*/x/clusters/abc/api", kind: "apiexport", cluster: "abc", path: "/api"},
		"OddHome":     {reason: "nor is what is no name", url: "/services/apiexport/Root/x/clusters/abc/api", kind: "apiexport", cluster: "abc", path: "/api"},
		"Malformed":   {reason: "what cannot be taken apart stays whole", url: "/services/apiexport/clusters/abc/api", path: "/services/apiexport/clusters/abc/api"},
		"Hook":        {reason: "an identifier belongs in the cluster before its last colon", url: "/services/hooks/abc:x/clusters/def/api", kind: "hooks", home: "abc", cluster: "def", path: "/api"},
		"HookOfPath":  {reason: "which is no path", url: "/services/hooks/root:provider:x/clusters/def/api", kind: "hooks", cluster: "def", path: "/api"},
		"HookInPath":  {reason: "and is to a cluster, not to a path", url: "/services/hooks/abc:x/clusters/root:consumer/api", kind: "hooks", home: "abc", path: "/api"},
		"HookInAll":   {reason: "or to all", url: "/services/hooks/abc:x/clusters/*/api", kind: "hooks", home: "abc", cluster: "*", path: "/api"},
		"Elsewhere":   {reason: "other requests go elsewhere", url: "/clusters/abc/services/apiexport/abc/x/clusters/def/api", elsewhere: true, path: "/clusters/abc/services/apiexport/abc/x/clusters/def/api"},
	} {
		t.Run(name, func(t *testing.T) {
			var seen *http.Request
			virtual := http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { seen = r })
			wentElsewhere := false
			next := http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { seen, wentElsewhere = r, true })
			handler := WithVirtualWorkspaces(next, virtual, resolver, kinds, scheme.Codecs)
			handler.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, tc.url, nil))
			if seen == nil {
				t.Fatalf("%s: the request was answered", tc.reason)
			}
			found, isVirtual := VirtualFrom(seen.Context())
			cluster, _ := logicalcluster.FromContext(seen.Context())
			if wentElsewhere != tc.elsewhere || isVirtual == tc.elsewhere {
				t.Errorf("%s: went elsewhere: %t", tc.reason, wentElsewhere)
			}
			if found.Name != tc.kind || found.Home.String() != tc.home || cluster.String() != tc.cluster || seen.URL.Path != tc.path {
				t.Errorf("%s: got %+v, cluster %q, path %q", tc.reason, found, cluster, seen.URL.Path)
			}
		})
	}
}

func TestAtHome(t *testing.T) {
	home, target := logicalcluster.MustParseName("provider"), logicalcluster.MustParseName("consumer")
	for name, tc := range map[string]struct {
		reason      string
		virtual     bool
		target      logicalcluster.Name
		want, after logicalcluster.Name
	}{
		"Virtual":  {reason: "is at home in between", virtual: true, target: target, want: home, after: target},
		"Nowhere":  {reason: "also if it leads nowhere", virtual: true, want: home},
		"Ordinary": {reason: "stays where it is", target: target, want: target, after: target},
	} {
		t.Run(name, func(t *testing.T) {
			var between, after logicalcluster.Name
			last := http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { after, _ = logicalcluster.FromContext(r.Context()) })
			handler := AtHome(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				between, _ = logicalcluster.FromContext(r.Context())
				AtTarget(last).ServeHTTP(w, r)
			}))
			ctx := logicalcluster.NewContext(t.Context(), tc.target)
			if tc.virtual {
				ctx = NewVirtualContext(ctx, VirtualWorkspace{Name: "apiexport", Home: home})
			}
			handler.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, "/", nil).WithContext(ctx))
			if between != tc.want || after != tc.after {
				t.Errorf("%s: at %q, then at %q", tc.reason, between, after)
			}
		})
	}
}
