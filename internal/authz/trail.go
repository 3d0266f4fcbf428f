package authz

import (
	"context"

	"k8s.io/apiserver/pkg/audit"
	"k8s.io/apiserver/pkg/authorization/authorizer"
)

// domain is what the audit annotations of steps start with.
type domain string

const (
	// silent requests leave no annotations. They come from inside the server, several
	// to one request of a client, whose own trail must remain readable.
	silent         domain = ""
	requestDomain  domain = "request.auth.kcp.io/"
	reviewedDomain domain = "sar.auth.kcp.io/"
)

// trail writes to the audit event what each step of the chain said. A nil trail writes
// nothing.
type trail struct {
	event  *audit.AuditContext
	ctx    context.Context
	domain domain
	gates  []passedGate
}

type passedGate struct{ name, reason string }

// newTrail returns nil if nobody would read the trail.
func (c *rbacChain) newTrail(ctx context.Context, in domain) *trail {
	if !c.audited || in == silent {
		return nil
	}
	event := audit.AuditContextFrom(ctx)
	if !event.Enabled() {
		return nil
	}
	return &trail{event: event, ctx: ctx, domain: in}
}

// passed notes a gate that sent the request on. Its decision is that of whoever
// decides in the end.
func (t *trail) passed(gate string, result outcome) {
	if t != nil {
		t.gates = append(t.gates, passedGate{gate, "delegating due to " + result.reason})
	}
}

// decided writes what a step decided itself.
func (t *trail) decided(step string, result outcome) {
	if t != nil {
		t.write(step, result.decision, result.reason)
	}
}

// close writes the gates that were passed and returns result.
func (t *trail) close(result outcome) outcome {
	if t != nil {
		for _, gate := range t.gates {
			t.write(gate.name, result.decision, gate.reason)
		}
	}
	return result
}

// write annotates the event once: the first decision in a request is the one about
// the request, and events refuse others loudly.
func (t *trail) write(step string, decision authorizer.Decision, reason string) {
	key := string(t.domain) + step
	if _, written := t.event.GetEventAnnotation(key + "-decision"); written {
		return
	}
	audit.AddAuditAnnotations(t.ctx, key+"-decision", decisionName(decision), key+"-reason", reason)
}

func decisionName(decision authorizer.Decision) string {
	switch decision {
	case authorizer.DecisionAllow:
		return "Allowed"
	case authorizer.DecisionDeny:
		return "Denied"
	default:
		return "NoOpinion"
	}
}
