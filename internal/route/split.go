package route

import (
	"fmt"
	"net/url"
	"strings"

	"github.com/forkless/kcp/pkg/logicalcluster"
)

const clustersPrefix = "/clusters/"

// Split takes a path of the form /clusters/<path>/<rest> apart. ok is false if u has
// no such prefix. The rest begins with a slash. The error says what is wrong with the
// cluster path.
func Split(u *url.URL) (path logicalcluster.Path, rest *url.URL, ok bool, err error) {
	// The escaped form is looked at: an escaped slash must not end the segment, and
	// nothing that needs escaping may be part of a cluster path.
	escaped := u.EscapedPath()
	remainder, ok := strings.CutPrefix(escaped, clustersPrefix)
	if !ok {
		return logicalcluster.Path{}, nil, false, nil
	}
	segment, _, _ := strings.Cut(remainder, "/")
	path, err = logicalcluster.ParsePath(segment)
	if err != nil {
		return logicalcluster.Path{}, nil, true, fmt.Errorf("invalid cluster: %w", err)
	}
	if _, isName := path.Name(); !isName && len(path.Segments()) == 1 {
		return logicalcluster.Path{}, nil, true, fmt.Errorf("invalid cluster: %q is too short to be the name of a logical cluster", segment)
	}
	rest = new(url.URL)
	*rest = *u
	// The segment has no escapes, so it is as long in both forms.
	prefix := len(clustersPrefix) + len(segment)
	rest.Path = orSlash(u.Path[prefix:])
	if u.RawPath != "" {
		rest.RawPath = orSlash(u.RawPath[prefix:])
	}
	return path, rest, true, nil
}

func orSlash(path string) string {
	if path == "" {
		return "/"
	}
	return path
}
