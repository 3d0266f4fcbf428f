package authz

// bootstrapPolicy grants what the policy of system:admin grants in every workspace.
func bootstrapPolicy(r *request) outcome {
	result := judge(r.ctx, r.bootstrap, r.identities, r.attributes, r.explain)
	if r.explain {
		result.reason = "bootstrap policy: " + result.reason
	}
	return result.outcome()
}

// workspacePolicy grants what the bindings of the workspace grant. If they could not be
// read, nobody is told that they do not.
func workspacePolicy(r *request) outcome {
	result := judge(r.ctx, r.local, r.identities, r.attributes, r.explain)
	if !result.allowed && r.policy.unread != nil {
		return failed(r.policy.unread)
	}
	if r.explain {
		result.reason = `local cluster "` + r.cluster.String() + `" policy: ` + result.reason
	}
	return result.outcome()
}

// outcome is that of a policy: it never denies, since another one may allow.
func (r ruling) outcome() outcome {
	if r.allowed {
		return allow(r.reason)
	}
	return noOpinion(r.reason)
}
