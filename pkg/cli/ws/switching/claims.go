package switching

import (
	"fmt"
	"io"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	apisv1alpha2 "github.com/forkless/kcp/pkg/apis/apis/v1alpha2"
	"github.com/forkless/kcp/pkg/cli/claim"
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
func openClaims(binding client.Binding) []string {
	var sentences []string
	for _, c := range binding.Status.ExportPermissionClaims {
		i := slices.IndexFunc(binding.Spec.PermissionClaims, func(answer apisv1alpha2.AcceptablePermissionClaim) bool {
			return claim.SameObjects(answer.PermissionClaim, c)
		})
		if i < 0 {
			sentences = append(sentences, fmt.Sprintf("claim %s of APIBinding %s is not in spec.permissionClaims; add it there, or %s", claim.Format(c), binding.Name, how(binding, c)))
			continue
		}
		answer := binding.Spec.PermissionClaims[i]
		if answer.State == "" {
			sentences = append(sentences, fmt.Sprintf("claim %s of APIBinding %s is not accepted or rejected; %s", claim.Format(c), binding.Name, how(binding, c)))
		}
		if !claim.SameVerbs(answer.Verbs, c.Verbs) {
			sentences = append(sentences, fmt.Sprintf("claim %s of APIBinding %s is answered for the verbs %s, but the export asks for %s",
				claim.Format(c), binding.Name, formatVerbs(answer.Verbs), formatVerbs(c.Verbs)))
		}
	}
	return sentences
}

// how says how to answer a claim.
func how(binding client.Binding, c apisv1alpha2.PermissionClaim) string {
	return fmt.Sprintf("answer with: kubectl kcp claims accept %s --resource %s", binding.Name, claim.Format(c))
}

func formatVerbs(verbs []string) string {
	return "[" + strings.Join(slices.Compact(slices.Sorted(slices.Values(verbs))), " ") + "]"
}
