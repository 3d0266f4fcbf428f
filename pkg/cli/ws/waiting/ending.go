package waiting

import (
	"cmp"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/forkless/kcp/pkg/apis/conditions"
	corev1alpha1 "github.com/forkless/kcp/pkg/apis/core/v1alpha1"
)

// holds says what keeps a workspace that is being deleted.
func (s State) holds() string {
	var parts []string
	if len(s.Terminators) > 0 {
		parts = append(parts, "waiting for "+counted("terminator", s.Terminators))
	}
	for _, name := range []conditions.Type{corev1alpha1.WorkspaceContentDeleted, corev1alpha1.WorkspaceReleased} {
		if message := s.against(name); message != "" {
			parts = append(parts, left(message))
		}
	}
	if len(parts) == 0 {
		return "its objects are being deleted"
	}
	return strings.Join(parts, "; ")
}

// against returns what a condition says that is false, "" if it is not.
func (s State) against(name conditions.Type) string {
	for _, c := range s.Conditions {
		if c.Type == name && c.Status == corev1.ConditionFalse {
			return cmp.Or(c.Message, c.Reason)
		}
	}
	return ""
}

var (
	remainingObjects    = regexp.MustCompile(`([^\s,:]+) has (\d+) resource instances`)
	remainingFinalizers = regexp.MustCompile(`([^\s,:]+) in (\d+) resource instances`)
	remainingNested     = regexp.MustCompile(`^Nested workspaces are remaining: (.*)$`)
)

// left shortens what the server says about what is left: it has no fields for that, only
// a sentence. A sentence of another kind is quoted.
func left(message string) string {
	var parts []string
	for part := range strings.SplitSeq(message, "; ") {
		switch {
		case remainingNested.MatchString(part):
			parts = append(parts, "workspaces left: "+remainingNested.FindStringSubmatch(part)[1])
		case remainingObjects.MatchString(part):
			parts = append(parts, objects(remainingObjects.FindAllStringSubmatch(part, -1)))
		case remainingFinalizers.MatchString(part):
			for _, m := range remainingFinalizers.FindAllStringSubmatch(part, -1) {
				parts = append(parts, "finalizer "+m[1]+" in "+m[2])
			}
		default:
			parts = append(parts, part)
		}
	}
	return strings.Join(parts, ", ")
}

// objects sums up how many objects of which resources are left.
func objects(matches [][]string) string {
	total := 0
	var resources []string
	for _, m := range matches {
		n, err := strconv.Atoi(m[2])
		if err != nil {
			continue
		}
		total += n
		resources = append(resources, m[1])
	}
	noun := "objects"
	if total == 1 {
		noun = "object"
	}
	return fmt.Sprintf("%d %s left (%s)", total, noun, strings.Join(resources, ", "))
}
