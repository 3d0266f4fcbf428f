package switching

import (
	"fmt"
	"io"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/forkless/kcp/pkg/cli/client"
	"github.com/forkless/kcp/pkg/cli/run"
)

// warn writes what the API bindings of a workspace lack. A workspace whose bindings
// may not be read, or that knows no bindings, is nothing to talk about.
func warn(w io.Writer, list bindingList) {
	switch {
	case apierrors.IsForbidden(list.err), apierrors.IsNotFound(list.err):
	case list.err != nil:
		_, _ = fmt.Fprintf(w, "error checking APIBindings: %s\n", run.Message(list.err))
	default:
		for _, binding := range list.items {
			for _, warning := range openClaims(binding) {
				_, _ = fmt.Fprintf(w, "Warning: %s\n", warning)
			}
		}
	}
}

// openClaims returns a sentence for each claim of the export that the binding does
// not answer, or answers differently.
func openClaims(binding client.APIBinding) []string {
	var sentences []string
	for _, claim := range binding.Status.ExportPermissionClaims {
		i := slices.IndexFunc(binding.Spec.PermissionClaims, func(answer client.AnsweredClaim) bool {
			return answer.SameObjects(claim)
		})
		if i < 0 {
			sentences = append(sentences, fmt.Sprintf("claim %s of APIBinding %s is not in spec.permissionClaims; add it there to answer it", claim, binding.Name))
			continue
		}
		answer := binding.Spec.PermissionClaims[i]
		if answer.State == "" {
			sentences = append(sentences, fmt.Sprintf("claim %s of APIBinding %s is not accepted or rejected", claim, binding.Name))
		}
		if !sameVerbs(answer.Verbs, claim.Verbs) {
			sentences = append(sentences, fmt.Sprintf("claim %s of APIBinding %s is answered for the verbs %s, but the export asks for %s",
				claim, binding.Name, formatVerbs(answer.Verbs), formatVerbs(claim.Verbs)))
		}
	}
	return sentences
}

func sameVerbs(a, b []string) bool {
	return slices.Equal(sortedVerbs(a), sortedVerbs(b))
}

func sortedVerbs(verbs []string) []string {
	return slices.Compact(slices.Sorted(slices.Values(verbs)))
}

func formatVerbs(verbs []string) string {
	return "[" + strings.Join(sortedVerbs(verbs), " ") + "]"
}
