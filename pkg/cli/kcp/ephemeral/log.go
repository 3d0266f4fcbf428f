package ephemeral

import (
	"slices"
	"strings"
)

// The logs in the directory of a run.
const (
	logFile   = "kcp.log"
	auditFile = "audit.log"
)

// auditPolicy logs who has asked for what and what came of it, but no content: there are
// secrets in that.
const auditPolicy = `apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived]
rules:
- level: Metadata
`

// audits says whether the server writes an audit log: if it may be kept, unless it was told
// something else.
func (o *Options) audits() bool {
	return o.Keep != keepNever && !slices.ContainsFunc(o.ServerArgs, func(arg string) bool {
		return strings.HasPrefix(strings.TrimLeft(arg, "-"), "audit-")
	})
}
