package binding

import (
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"

	apisv1alpha1 "github.com/forkless/kcp/pkg/apis/apis/v1alpha1"
	apisv1alpha2 "github.com/forkless/kcp/pkg/apis/apis/v1alpha2"
	"github.com/forkless/kcp/pkg/cli/claim"
	"github.com/forkless/kcp/pkg/cli/diagnosis"
)

// claims says what became of the claims of the export. Open ones are a blocker only where
// nothing else is: first there has to be something to bind.
func (j *judge) claims() {
	asked := j.Binding.Status.ExportPermissionClaims
	if len(asked) == 0 {
		return
	}
	check := diagnosis.Check{Name: "claims", State: diagnosis.OK}
	open := 0
	var blockers []diagnosis.Blocker
	for index, c := range asked {
		detail, blocker := j.claim(index, c)
		check.Details = append(check.Details, detail)
		if detail.State == diagnosis.Open {
			open++
		}
		if blocker.Message != "" {
			check.State = diagnosis.Warning
			blockers = append(blockers, blocker)
		}
	}
	check.Message = fmt.Sprintf("%d of %d open", open, len(asked))
	if c, ok := j.condition(apisv1alpha1.PermissionClaimsValid); ok {
		check.State = diagnosis.Warning
		if len(blockers) == 0 {
			check.Message += "; " + says(c)
			check.Next = append(check.Next, j.Commands.Plugin(j.Consumer, "kcp", "claims", "get", "apibinding", j.Binding.Name, "--wide"))
		}
	}
	if len(j.Blockers) == 0 {
		j.Blockers = append(j.Blockers, blockers...)
	} else {
		for _, blocker := range blockers {
			check.Next = append(check.Next, blocker.Next...)
		}
	}
	j.Add(check)
}

// claim says what became of one claim of the export, and what is to be done about it.
func (j *judge) claim(index int, c apisv1alpha2.PermissionClaim) (diagnosis.Detail, diagnosis.Blocker) {
	name := claim.Resource(c)
	detail := diagnosis.Detail{State: diagnosis.Open, Name: name}
	i := j.answer(c)
	switch {
	case i >= 0 && j.Binding.Spec.PermissionClaims[i].State == apisv1alpha2.ClaimRejected:
		// Somebody does not want it, so nothing about it is wrong.
		detail.State = diagnosis.Rejected
		return detail, diagnosis.Blocker{}
	case i >= 0 && j.Binding.Spec.PermissionClaims[i].State == apisv1alpha2.ClaimAccepted:
		detail.State = diagnosis.Accepted
	}
	if c.IdentityHash != "" {
		if found, blocker := j.identity(index, c, &detail); found {
			return detail, blocker
		}
	}
	if detail.State != diagnosis.Open {
		return detail, diagnosis.Blocker{}
	}
	answer := j.Commands.Plugin(j.Consumer, "kcp", "claims", "accept", j.Binding.Name, "--resource", name)
	return detail, diagnosis.Blocker{
		Message: fmt.Sprintf("claim %s is open: %s gets nothing of it before you answer", name, j.ExportName),
		Next:    []string{diagnosis.Step(answer, "gives it verbs %s; there is reject as well", claim.FormatVerbs(c.Verbs))},
	}
}

// identity compares the identity that a claim is about with what is bound here. found says
// that they differ.
func (j *judge) identity(index int, c apisv1alpha2.PermissionClaim, detail *diagnosis.Detail) (found bool, blocker diagnosis.Blocker) {
	resource := schema.GroupResource{Group: c.Group, Resource: c.Resource}
	here, by := j.boundHere(resource)
	switch here {
	case c.IdentityHash:
		return false, blocker
	case "":
		detail.Message = "identity " + short(c.IdentityHash) + ", of which nothing is bound here"
		return false, blocker
	}
	detail.State = diagnosis.Mismatch
	detail.Message = fmt.Sprintf("%s claimed, %s bound here", short(c.IdentityHash), short(here))
	blocker.Message = fmt.Sprintf("claim %s is about identity %s, but APIBinding %s has bound identity %s here", resource, short(c.IdentityHash), by, short(here))
	if j.MayPatchExport {
		patch := replaceIdentity(index, c.IdentityHash, here)
		blocker.Next = []string{
			diagnosis.Step(j.Commands.Kubectl(j.Provider, "patch", "apiexport", j.ExportName, "--type=json", "-p", patch), "claims what is bound here"),
			j.answerWith(c, here),
		}
		return true, blocker
	}
	for i := range j.Exports {
		if other := &j.Exports[i]; other.Status.IdentityHash == c.IdentityHash {
			blocker.Next = []string{
				j.unbind(by),
				j.Commands.Plugin(j.Consumer, "kcp", "bind", "apiexport", j.Provider.String()+":"+other.Name),
			}
			return true, blocker
		}
	}
	blocker.Next = []string{diagnosis.Step(j.Commands.Plugin(j.Consumer, "kcp", "claims", "get", "apibinding", j.Binding.Name, "--wide"),
		"the provider has to claim identity %s, or you bind %s from who has the other one", short(here), resource)}
	return true, blocker
}

// replaceIdentity is a JSON patch of an export, or of a binding, whose claims are in the same
// place.
func replaceIdentity(index int, before, after string) string {
	pointer := fmt.Sprintf("/spec/permissionClaims/%d/identityHash", index)
	return fmt.Sprintf(`[{"op":"test","path":%[1]q,"value":%[2]q},{"op":"replace","path":%[1]q,"value":%[3]q}]`, pointer, before, after)
}

// answerWith is the command that accepts a claim that is about another identity now. What was
// accepted before would stay as an answer to nothing.
func (j *judge) answerWith(c apisv1alpha2.PermissionClaim, identity string) string {
	i := j.answer(c)
	if i < 0 {
		return j.Commands.Plugin(j.Consumer, "kcp", "claims", "accept", j.Binding.Name, "--identity-hash", identity)
	}
	return diagnosis.Step(j.Commands.Kubectl(j.Consumer, "patch", "apibinding", j.Binding.Name, "--type=json", "-p", replaceIdentity(i, c.IdentityHash, identity)),
		"accepts that")
}

// answer returns the index of the answer to a claim, -1 if there is none.
func (j *judge) answer(c apisv1alpha2.PermissionClaim) int {
	return slices.IndexFunc(j.Binding.Spec.PermissionClaims, func(a apisv1alpha2.AcceptablePermissionClaim) bool {
		return claim.SameObjects(a.PermissionClaim, c)
	})
}

// boundHere returns the identity of a resource that is bound in the workspace, and the
// binding that has it.
func (j *judge) boundHere(resource schema.GroupResource) (identity, by string) {
	if b := find(j.Binding.Status.BoundResources, resource); b != nil {
		return b.Schema.IdentityHash, j.Binding.Name
	}
	for i := range j.Others {
		if b := find(j.Others[i].Status.BoundResources, resource); b != nil {
			return b.Schema.IdentityHash, j.Others[i].Name
		}
	}
	return "", ""
}
