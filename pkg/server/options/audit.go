package options

import genericoptions "k8s.io/apiserver/pkg/server/options"

// Rotation of the audit log, unless told otherwise: at 100 MB, 100 files, for a year.
const (
	auditLogMaxSize    = 100
	auditLogMaxBackups = 100
	auditLogMaxAge     = 366
)

// newAuditOptions returns upstream's audit options with our rotation. Audit is off
// until there is a policy and somewhere to write to.
func newAuditOptions() *genericoptions.AuditOptions {
	audit := genericoptions.NewAuditOptions()
	audit.LogOptions.MaxSize = auditLogMaxSize
	audit.LogOptions.MaxBackups = auditLogMaxBackups
	audit.LogOptions.MaxAge = auditLogMaxAge
	return audit
}
