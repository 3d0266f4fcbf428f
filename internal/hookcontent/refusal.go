package hookcontent

import (
	"fmt"
	"net/http"

	"k8s.io/apiserver/pkg/audit"
)

// refusal is why a hook may not reach something, and what its controller is told.
type refusal struct {
	code int
	// why is for the audit log; empty if there is nothing to say.
	why string
	// text is the body of the answer.
	text string
}

// refuse returns a refusal with a formatted text.
func refuse(code int, why, format string, args ...any) error {
	return &refusal{code: code, why: why, text: fmt.Sprintf(format, args...)}
}

// Error implements error.
func (r *refusal) Error() string { return r.text }

// answer writes the answer.
func (r *refusal) answer(w http.ResponseWriter, req *http.Request) {
	if r.why != "" {
		audit.AddAuditAnnotation(req.Context(), refusalAnnotation, r.why)
	}
	http.Error(w, r.text, r.code)
}
