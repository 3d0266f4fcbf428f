package mount

import (
	"strings"
	"testing"
)

func TestCheck(t *testing.T) {
	policy, err := NewPolicy(
		[]string{"https://kcp.example.com:6443", "https://outside.example.com/kcp/"},
		[]string{"api.example.com:6443", "*.clusters.example.com", "http://plain.example.com", "10.0.0.1", "[2001:db8::1]:443"},
	)
	if err != nil {
		t.Fatal(err)
	}
	for name, tc := range map[string]struct {
		reason  string
		address string
		local   string
		remote  string
		refused string
	}{
		"Own":            {reason: "another workspace is served in process", address: "https://kcp.example.com:6443/clusters/root:a", local: "/clusters/root:a"},
		"OwnCase":        {reason: "names of hosts have no case", address: "https://KCP.example.com:6443/clusters/root:a/", local: "/clusters/root:a"},
		"OwnVirtual":     {reason: "so is a virtual workspace", address: "https://kcp.example.com:6443/services/apiexport/a/b/clusters/c", local: "/services/apiexport/a/b/clusters/c"},
		"OwnBelow":       {reason: "what a proxy in front takes off is taken off", address: "https://outside.example.com:443/kcp/clusters/a", local: "/clusters/a"},
		"OwnPrefix":      {reason: "a path that only begins like it is another", address: "https://outside.example.com/kcpx/clusters/a", refused: "may lead to"},
		"OwnProcess":     {reason: "the process is no workspace", address: "https://kcp.example.com:6443/metrics", refused: "in no workspace"},
		"OwnNothing":     {reason: "nor is its root", address: "https://kcp.example.com:6443", refused: "in no workspace"},
		"OwnClusters":    {reason: "nor are all clusters, whose names would be chosen by the rest of the path", address: "https://kcp.example.com:6443/clusters/", refused: "in no workspace"},
		"OwnOtherPort":   {reason: "what else listens there is not this server", address: "https://kcp.example.com:2379/clusters/a", refused: "may lead to"},
		"Allowed":        {reason: "a named host and port", address: "https://api.example.com:6443/base/", remote: "https://api.example.com:6443/base"},
		"AllowedPort":    {reason: "other ports were not named", address: "https://api.example.com/", refused: "may lead to"},
		"AllowedScheme":  {reason: "tokens are not sent in the clear", address: "http://api.example.com:6443", refused: "may lead to"},
		"Subdomain":      {reason: "a whole domain", address: "https://a.b.clusters.example.com:1234", remote: "https://a.b.clusters.example.com:1234"},
		"Domain":         {reason: "but not its parent", address: "https://clusters.example.com", refused: "may lead to"},
		"Lookalike":      {reason: "nor what ends like it", address: "https://evilclusters.example.com", refused: "may lead to"},
		"Plain":          {reason: "where it was asked for", address: "http://plain.example.com:8080", remote: "http://plain.example.com:8080"},
		"PlainOnly":      {reason: "and only that", address: "https://plain.example.com", refused: "may lead to"},
		"IP":             {reason: "an address is a host", address: "https://10.0.0.1:6443", remote: "https://10.0.0.1:6443"},
		"IPv6":           {reason: "of any sort", address: "https://[2001:db8::1]", remote: "https://[2001:db8::1]"},
		"Loopback":       {reason: "what listens on this machine is nobody's to mount", address: "http://127.0.0.1:2379", refused: "may lead to"},
		"Metadata":       {reason: "nor is what a cloud tells its machines", address: "http://169.254.169.254/latest", refused: "may lead to"},
		"OtherSpelling":  {reason: "another spelling of an address is another name", address: "https://167772161:6443", refused: "may lead to"},
		"Password":       {reason: "secrets in addresses are neither used nor repeated", address: "https://me:secret@api.example.com:6443", refused: "a user in it"},
		"Query":          {reason: "what is behind would be lost", address: "https://api.example.com:6443/?a=b", refused: "more than a host"},
		"Dots":           {reason: "a path that leads up leads elsewhere", address: "https://kcp.example.com:6443/clusters/a/../b", refused: "not a plain one"},
		"EscapedSlashes": {reason: "so may one with escapes", address: "https://kcp.example.com:6443/clusters/a%2f..%2fb", refused: "not a plain one"},
		"Empty":          {reason: "nothing is no address", address: "", refused: "not of the form"},
		"NoHost":         {reason: "nor is a path", address: "/clusters/a", refused: "not of the form"},
		"File":           {reason: "only API servers are mounted", address: "file:///etc/passwd", refused: "not of the form"},
		"Garbage":        {reason: "what cannot be read is no address", address: "https://a b", refused: "not a URL"},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := policy.Check(tc.address)
			if tc.refused != "" {
				if err == nil || !strings.Contains(err.Error(), tc.refused) {
					t.Fatalf("%s: got %+v, %v", tc.reason, got, err)
				}
				if strings.Contains(err.Error(), "secret") {
					t.Errorf("%s: the message repeats the password: %v", tc.reason, err)
				}
				return
			}
			if err != nil {
				t.Fatalf("%s: %v", tc.reason, err)
			}
			if got.Local != (tc.local != "") || got.LocalPath != tc.local || tc.remote != "" && got.URL.String() != tc.remote {
				t.Errorf("%s: got %+v", tc.reason, got)
			}
		})
	}
}

func TestParseHost(t *testing.T) {
	for s, good := range map[string]bool{
		"api.example.com": true, "api.example.com:6443": true, "http://localhost:8080": true, "*": true, "*:6443": true, "http://*": true,
		"*.example.com": true, "*.example.com:6443": true, "10.0.0.1": true, "[::1]:6443": true,
		"": false, "ftp://a": false, "https://": false, "a/b": false, "a?b": false, "u@a": false, "a b": false,
		"a.*.com": false, "*a.com": false, "*.*.com": false, "a*": false, "a:port": false,
	} {
		if err := ParseHost(s); (err == nil) != good {
			t.Errorf("%q: %v", s, err)
		}
	}
	everything, err := NewPolicy(nil, []string{"*:6443"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := everything.Check("https://anything.example.com:6443"); err != nil {
		t.Error(err)
	}
	if _, err := everything.Check("https://anything.example.com:443"); err == nil {
		t.Error("another port is allowed as well")
	}
}

func TestHasDots(t *testing.T) {
	for path, want := range map[string]bool{
		"/api/v1": false, "/a..b/c.": false, "": false, "/..": true, "/a/./b": true, `/a/..\b`: true, "..": true,
	} {
		if got := HasDots(path); got != want {
			t.Errorf("%q: got %t", path, got)
		}
	}
}
