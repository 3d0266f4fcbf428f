package authz

import (
	"slices"
	"strings"

	"github.com/forkless/kcp/internal/authn/identity"
)

// processPaths are served by the process as a whole: profiles and heaps hold what all
// workspaces have in memory, and the verbosity of the log is one for all.
var processPaths = []string{"/debug", "/logs", "/configz", "/flagz", "/statusz"}

// isProcessPath says whether path is, or is below, one of processPaths.
func isProcessPath(path string) bool {
	return slices.ContainsFunc(processPaths, func(p string) bool {
		rest, ok := strings.CutPrefix(path, p)
		return ok && (rest == "" || rest[0] == '/')
	})
}

// reachesOutOfWorkspace says whether the request is for the process, by somebody whose
// power may be over one workspace only.
func reachesOutOfWorkspace(r *request) bool {
	return !r.attributes.IsResourceRequest() && isProcessPath(r.attributes.GetPath()) && !r.inGroup(identity.Admin)
}
