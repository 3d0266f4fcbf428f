package path

import (
	"regexp"
	"strings"

	"github.com/forkless/kcp/pkg/logicalcluster"
)

// idRegexp is what the names of logical clusters look like that the server makes up: 16
// characters, up to 13 for home workspaces, some of them digits.
var idRegexp = regexp.MustCompile(`^[a-z0-9]{11,16}$`)

// ClusterID returns the logical cluster that r may name besides a workspace below the
// current one: identifiers are valid names of workspaces, so that only the server knows
// which of the two there is. ok is false if r does not begin like an identifier.
func (r Reference) ClusterID() (p logicalcluster.Path, ok bool) {
	if r.Kind != Relative || len(r.segments) == 0 {
		return logicalcluster.Path{}, false
	}
	id := r.segments[0]
	if !idRegexp.MatchString(id) || !strings.ContainsAny(id, "0123456789") {
		return logicalcluster.Path{}, false
	}
	p, err := r.walk(nil)
	return p, err == nil
}
