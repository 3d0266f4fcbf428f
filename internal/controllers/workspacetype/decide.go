package workspacetype

import (
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/forkless/kcp/pkg/apis/conditions"
	corev1alpha1 "github.com/forkless/kcp/pkg/apis/core/v1alpha1"
	tenancyv1alpha1 "github.com/forkless/kcp/pkg/apis/tenancy/v1alpha1"
	"github.com/forkless/kcp/pkg/tenancy"
)

// kinds are the kinds of hooks in the order of their addresses.
var kinds = []tenancy.HookKind{tenancy.Initializing, tenancy.Terminating}

// Decide returns the object of a type as it should be with these shards. Neither is
// changed.
func Decide(of tenancy.Type, shards []corev1alpha1.Shard) *tenancyv1alpha1.WorkspaceType {
	wanted := of.Object.DeepCopy()
	addresses, err := addresses(of, shards)
	if err != nil {
		// Those that were known may still be good.
		conditions.MarkFalse(wanted, tenancyv1alpha1.VirtualWorkspaceURLsReady, tenancyv1alpha1.ReasonErrorGeneratingURLs,
			conditions.SeverityError, "%v", err)
	} else {
		wanted.Status.VirtualWorkspaces = addresses
		conditions.MarkTrue(wanted, tenancyv1alpha1.VirtualWorkspaceURLsReady)
	}
	conditions.Summarize(wanted, tenancyv1alpha1.VirtualWorkspaceURLsReady)
	return wanted
}

func addresses(of tenancy.Type, shards []corev1alpha1.Shard) ([]tenancyv1alpha1.VirtualWorkspace, error) {
	sorted := slices.SortedFunc(slices.Values(shards), func(a, b corev1alpha1.Shard) int { return strings.Compare(a.Name, b.Name) })
	var all []tenancyv1alpha1.VirtualWorkspace
	for i := range sorted {
		address := sorted[i].Spec.VirtualWorkspaceURL
		if address == "" {
			continue
		}
		if parsed, err := url.Parse(address); err != nil || parsed.Scheme == "" || parsed.Host == "" {
			return nil, fmt.Errorf("spec.virtualWorkspaceURL of shard %s is no URL: %q", sorted[i].Name, address)
		}
		for _, kind := range kinds {
			all = append(all, tenancyv1alpha1.VirtualWorkspace{
				URL:  of.Hook(kind).URL(address),
				Type: tenancyv1alpha1.VirtualWorkspaceKind(kind),
			})
		}
	}
	return all, nil
}
