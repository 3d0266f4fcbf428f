package list

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/labels"

	corev1alpha1 "github.com/forkless/kcp/pkg/apis/core/v1alpha1"
	"github.com/forkless/kcp/pkg/cli/ws/listing"
)

// selection says which workspaces are wanted.
type selection struct {
	labels labels.Selector
	// workspaceType is a name, or a path and a name.
	workspaceType string
	phase         corev1alpha1.Phase
}

// selectionOf reads what the flags say.
func selectionOf(selector, workspaceType, phase string) (selection, error) {
	s := selection{labels: labels.Everything(), workspaceType: strings.TrimPrefix(workspaceType, ":")}
	if selector != "" {
		parsed, err := labels.Parse(selector)
		if err != nil {
			return s, fmt.Errorf("--selector %q: %w", selector, err)
		}
		s.labels = parsed
	}
	if phase == "" {
		return s, nil
	}
	phases := corev1alpha1.Phases()
	i := slices.IndexFunc(phases, func(p corev1alpha1.Phase) bool { return strings.EqualFold(string(p), phase) })
	if i < 0 {
		return s, fmt.Errorf("unknown phase %q, known are %s", phase, joined(phases))
	}
	s.phase = phases[i]
	return s, nil
}

func joined(phases []corev1alpha1.Phase) string {
	names := make([]string, 0, len(phases))
	for _, p := range phases {
		names = append(names, string(p))
	}
	return strings.Join(names, ", ")
}

// everything says whether nothing is left out.
func (s selection) everything() bool {
	return s.labels.Empty() && s.workspaceType == "" && s.phase == ""
}

// wants says whether the workspace is wanted.
func (s selection) wants(item listing.Item) bool {
	switch {
	case !s.labels.Matches(labels.Set(item.Labels)):
		return false
	case s.phase != "" && item.Phase != s.phase:
		return false
	case s.workspaceType == "":
		return true
	case strings.Contains(s.workspaceType, ":"):
		return item.Type == s.workspaceType
	default:
		return item.Type[strings.LastIndex(item.Type, ":")+1:] == s.workspaceType
	}
}
