package discovery

import (
	"strings"
	"testing"
)

// FuzzParse looks for paths that are taken for a document and are not: what follows is
// authorized as the path says, not as its parts are read.
func FuzzParse(f *testing.F) {
	for _, path := range []string{"/api", "/apis/", "/apis/x.io/v1", "/apis//v1", "//apis", "/api/v1/namespaces", "/", ""} {
		f.Add(path)
	}
	f.Fuzz(func(t *testing.T, path string) {
		target, ok := parse(path)
		if !ok {
			return
		}
		rebuilt := "/" + target.prefix
		for _, segment := range []string{target.group, target.version} {
			if segment != "" {
				rebuilt += "/" + segment
			}
			if strings.Contains(segment, "/") {
				t.Errorf("%q: segment %q has a slash", path, segment)
			}
		}
		if path != rebuilt && path != rebuilt+"/" {
			t.Errorf("%q is read as %q", path, rebuilt)
		}
		if target.prefix != "api" && target.prefix != "apis" {
			t.Errorf("%q has the prefix %q", path, target.prefix)
		}
	})
}
