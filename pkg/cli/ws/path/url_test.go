package path

import "testing"

func TestSplitURL(t *testing.T) {
	cases := map[string]struct {
		reason, server, base, path string
	}{
		"Workspace":     {"the ordinary form", "https://host:6443/clusters/root:a", "https://host:6443", "root:a"},
		"Prefix":        {"the base keeps its path", "https://host/kcp/clusters/root", "https://host/kcp", "root"},
		"TrailingSlash": {"a slash at the end is not part of the path", "https://host/clusters/root/", "https://host", "root"},
		"Rest":          {"what follows the path is dropped", "https://host/clusters/root/api/v1?x=y#z", "https://host", "root"},
		"Wildcard":      {"the wildcard is a path", "https://host/clusters/*", "https://host", "*"},
		"Escaped":       {"an escaped colon is a colon", "https://host/clusters/root%3Aa", "https://host", "root:a"},
		"Last":          {"a proxy may have clusters of its own", "https://proxy/clusters/c-1/clusters/root", "https://proxy/clusters/c-1", "root"},
		"Virtual":       {"virtual workspaces end in a cluster", "https://host/services/apiexport/root/x/clusters/root:a", "https://host/services/apiexport/root/x", "root:a"},
		"NoWorkspace":   {"other servers have no path", "https://host:6443/", "https://host:6443", ""},
		"Invalid":       {"what is no path makes no cluster URL", "https://host/clusters/Root", "https://host/clusters/Root", ""},
		"Empty":         {"neither does nothing", "https://host/clusters/", "https://host/clusters", ""},
		"Unparseable":   {"what is no URL is left alone", "https://ho st\x7f/", "https://ho st\x7f", ""},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			base, p, ok := SplitURL(tc.server)
			if base != tc.base || p.String() != tc.path || ok != (tc.path != "") {
				t.Errorf("%s: got %q, %q, %v; want %q, %q", tc.reason, base, p, ok, tc.base, tc.path)
			}
		})
	}
}

func TestSameServer(t *testing.T) {
	cases := map[string]struct {
		reason, a, b string
		want         bool
	}{
		"Equal":  {"the same is the same", "https://kcp:6443/base", "https://kcp:6443/base", true},
		"Case":   {"names of machines have no case", "https://KCP:6443", "HTTPS://kcp:6443", true},
		"Port":   {"a port may be left out", "https://kcp:443", "https://kcp/", true},
		"Scheme": {"another protocol is another server", "http://kcp", "https://kcp", false},
		"Prefix": {"so is another prefix", "https://kcp/a", "https://kcp/b", false},
		"Host":   {"and another machine", "https://a", "https://b", false},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got := SameServer(tc.a, tc.b); got != tc.want {
				t.Errorf("%s: got %v", tc.reason, got)
			}
		})
	}
}
