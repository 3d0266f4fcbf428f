package hookcontent

import (
	"maps"
	"net/http"
	"strings"

	"k8s.io/apiserver/pkg/audit"
	"k8s.io/apiserver/pkg/endpoints/request"

	"github.com/forkless/kcp/internal/authz"
	"github.com/forkless/kcp/internal/route"
)

// Annotations of audit events. The user of an event is who sent the request.
const (
	hookAnnotation = "hook.auth.kcp.io/hook"
	modeAnnotation = "hook.auth.kcp.io/mode"
	// refusalAnnotation says why the hook may not do this.
	refusalAnnotation = "hook.auth.kcp.io/refusal"
)

// takeOver returns req as a request to the workspace by the user whose turn it is.
func (t *turn) takeOver(req *http.Request) *http.Request {
	t.audit(req)
	ctx := route.WithoutVirtual(req.Context())
	ctx = request.WithUser(ctx, t.user)
	if t.mandate != nil {
		ctx = authz.WithMandate(ctx, t.mandate)
	}
	acting := req.WithContext(ctx)
	// Nobody behind this reads them, and nobody is to: they have had their say.
	acting.Header = req.Header.Clone()
	acting.Header.Del("Authorization")
	acting.Header.Del(authz.DeepReviewHeader)
	maps.DeleteFunc(acting.Header, func(name string, _ []string) bool { return strings.HasPrefix(name, "Impersonate-") })
	return acting
}

// audit says in the audit event for which hook the request is, and as whom it is served.
func (t *turn) audit(req *http.Request) {
	ctx := req.Context()
	if event := audit.AuditContextFrom(ctx); event == nil || !event.Enabled() {
		return
	}
	mode := "permissions"
	if t.mandate == nil {
		mode = "creator"
		audit.LogImpersonatedUser(ctx, t.user, "")
	}
	audit.AddAuditAnnotations(ctx, hookAnnotation, nounOf(t.hook.Kind)+" "+t.hook.ID, modeAnnotation, mode)
}
