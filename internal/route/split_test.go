package route

import (
	"net/url"
	"strings"
	"testing"

	"github.com/forkless/kcp/pkg/logicalcluster"
)

func TestSplit(t *testing.T) {
	for name, tc := range map[string]struct {
		reason  string
		url     string
		path    string
		rest    string
		without bool
		invalid bool
	}{
		"Path":            {reason: "the prefix is taken off", url: "/clusters/root:org/api/v1?limit=1", path: "root:org", rest: "/api/v1?limit=1"},
		"Name":            {reason: "an id is a path of one segment", url: "/clusters/2z6nn3obxq6p2v84/api", path: "2z6nn3obxq6p2v84", rest: "/api"},
		"System":          {reason: "a system cluster is one segment", url: "/clusters/system:admin/api", path: "system:admin", rest: "/api"},
		"Wildcard":        {reason: "the wildcard is a path", url: "/clusters/*/api", path: "*", rest: "/api"},
		"EscapedWildcard": {reason: "client-go escapes the wildcard", url: "/clusters/%2A/api/v1/configmaps", path: "*", rest: "/api/v1/configmaps"},
		"EscapedBoth":     {reason: "with more escapes behind it", url: "/clusters/%2a/api/v1/namespaces/a%2Fb", path: "*", rest: "/api/v1/namespaces/a%2Fb"},
		"EscapedInPath":   {reason: "in a path it is as wrong as without escape", url: "/clusters/root:%2A/api", invalid: true},
		"NoRest":          {reason: "without a rest the root of the workspace is meant", url: "/clusters/root", path: "root", rest: "/"},
		"Twice":           {reason: "only one prefix is taken off", url: "/clusters/root/clusters/root/api", path: "root", rest: "/clusters/root/api"},
		"EscapedRest":     {reason: "what follows keeps its escapes", url: "/clusters/root/api/v1/namespaces/a%2Fb", path: "root", rest: "/api/v1/namespaces/a%2Fb"},
		"Unprefixed":      {reason: "other URLs are not looked at", url: "/api/v1", without: true},
		"PrefixOfAWord":   {reason: "clusters must be a whole segment", url: "/clustersx/root/api", without: true},
		"Uppercase":       {reason: "names are lower case", url: "/clusters/Root/api", invalid: true},
		"EmptySegment":    {reason: "a path has no empty segments", url: "/clusters/root::x/api", invalid: true},
		"Empty":           {reason: "there must be a name", url: "/clusters//api", invalid: true},
		"EscapedSlash":    {reason: "an escaped slash does not end the name", url: "/clusters/root%2fapi", invalid: true},
		"EscapedColon":    {reason: "nothing in a path needs an escape", url: "/clusters/root%3aorg/api", invalid: true},
		"NUL":             {reason: "nor is there such a character", url: "/clusters/root%00/api", invalid: true},
		"Dots":            {reason: "dots are no names", url: "/clusters/../api", invalid: true},
		"OneCharacter":    {reason: "a cluster name has two characters or more", url: "/clusters/a/api", invalid: true},
		"LongSegment":     {reason: "63 characters are the most", url: "/clusters/root:" + strings.Repeat("a", 64) + "/api", invalid: true},
		"SystemTraversal": {reason: "a system name is no way out", url: "/clusters/system:..%2f/api", invalid: true},
	} {
		t.Run(name, func(t *testing.T) {
			u, err := url.Parse(tc.url)
			if err != nil {
				t.Fatal(err)
			}
			path, rest, ok, err := Split(u)
			switch {
			case tc.without:
				if ok {
					t.Errorf("%s: took %q off", tc.reason, path)
				}
			case tc.invalid:
				if !ok || err == nil {
					t.Errorf("%s: got %q, %v", tc.reason, path, err)
				}
			case err != nil || path.String() != tc.path || rest.RequestURI() != tc.rest:
				t.Errorf("%s: got %q, %v, %v", tc.reason, path, rest, err)
			}
		})
	}
}

func FuzzSplit(f *testing.F) {
	for _, seed := range []string{"/clusters/root/api", "/clusters/root:a/x%2Fy", "/clusters/system:admin", "/clusters/*/", "/clusters/%2e%2e/"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, raw string) {
		u, err := url.Parse(raw)
		if err != nil {
			return
		}
		path, rest, ok, err := Split(u)
		if !ok || err != nil {
			return
		}
		if !strings.HasPrefix(rest.Path, "/") {
			t.Errorf("the rest of %q is %q", raw, rest.Path)
		}
		if again, err := logicalcluster.ParsePath(path.String()); err != nil || again != path {
			t.Errorf("%q does not parse to itself: %v", path, err)
		}
		if strings.ContainsAny(path.String(), "/%.\x00") && !path.IsSystem() {
			t.Errorf("path %q of %q has characters that mean something in keys", path, raw)
		}
	})
}
