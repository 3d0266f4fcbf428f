package path

import (
	"net/url"
	"strings"

	"github.com/forkless/kcp/pkg/logicalcluster"
)

const clustersSegment = "/clusters/"

// SplitURL takes the URL of a server apart. If it is a cluster URL, one that
// contains "/clusters/<path>", base is what stands before that and p the path;
// whatever follows the path is dropped. Otherwise ok is false and base is the URL
// itself. A base has no slash at its end, no query and no fragment.
func SplitURL(server string) (base string, p logicalcluster.Path, ok bool) {
	u, err := url.Parse(server)
	if err != nil {
		return strings.TrimRight(server, "/"), logicalcluster.Path{}, false
	}
	u.RawQuery, u.Fragment, u.RawFragment = "", "", ""

	// The last one counts: a proxy in front may have a "/clusters/" of its own.
	if i := strings.LastIndex(u.Path, clustersSegment); i >= 0 {
		segment, _, _ := strings.Cut(u.Path[i+len(clustersSegment):], "/")
		if parsed, err := logicalcluster.ParsePath(segment); err == nil {
			p, ok = parsed, true
			u.Path = u.Path[:i]
		}
	}
	u.Path = strings.TrimRight(u.Path, "/")
	u.RawPath = ""
	return u.String(), p, ok
}

// JoinURL returns the cluster URL of the workspace p on the server base.
func JoinURL(base string, p logicalcluster.Path) string {
	return base + clustersSegment + p.String()
}

// SameServer says whether two addresses without workspaces are those of one server.
func SameServer(a, b string) bool { return normalize(a) == normalize(b) }

// normalize returns base in the one form that all its spellings have.
func normalize(base string) string {
	u, err := url.Parse(base)
	if err != nil {
		return base
	}
	u.Scheme, u.Host = strings.ToLower(u.Scheme), strings.ToLower(u.Host)
	if port := u.Port(); port == "443" && u.Scheme == "https" || port == "80" && u.Scheme == "http" {
		u.Host = strings.TrimSuffix(u.Host, ":"+port)
	}
	u.Path = strings.TrimRight(u.Path, "/")
	return u.String()
}
