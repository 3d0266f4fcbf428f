package route

import (
	"fmt"
	"net/url"
	"strings"

	"github.com/forkless/kcp/pkg/logicalcluster"
)

const (
	clustersPrefix = "/clusters/"

	// escapedWildcard is how net/url, and with it client-go, spells the wildcard. It is
	// the one name with an escape in it.
	escapedWildcard = "%2A"
)

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
	name := segment
	if strings.EqualFold(segment, escapedWildcard) {
		name = logicalcluster.Wildcard.String()
	}
	path, err = logicalcluster.ParsePath(name)
	if err != nil {
		return logicalcluster.Path{}, nil, true, fmt.Errorf("invalid cluster: %w", err)
	}
	if _, isName := path.Name(); !isName && len(path.Segments()) == 1 {
		return logicalcluster.Path{}, nil, true, fmt.Errorf("invalid cluster: %q is too short to be the name of a logical cluster", segment)
	}
	rest = new(url.URL)
	*rest = *u
	rest.Path = orSlash(u.Path[len(clustersPrefix)+len(name):])
	if u.RawPath != "" {
		rest.RawPath = orSlash(u.RawPath[len(clustersPrefix)+len(segment):])
	}
	return path, rest, true, nil
}

func orSlash(path string) string {
	if path == "" {
		return "/"
	}
	return path
}
