package workspace

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/forkless/kcp/pkg/apis/conditions"
	corev1alpha1 "github.com/forkless/kcp/pkg/apis/core/v1alpha1"
	"github.com/forkless/kcp/pkg/cli/diagnosis"
	"github.com/forkless/kcp/pkg/cli/diagnosis/finalizer"
	"github.com/forkless/kcp/pkg/cli/diagnosis/hook"
	"github.com/forkless/kcp/pkg/logicalcluster"
)

// die looks at a workspace that is to go. Nested workspaces are first: all else in it stays
// until they are gone, and what holds them is what holds it.
func (j *judge) die() {
	j.nested()
	j.hooks(hook.Terminator)
	j.content()
	j.holders()
	if len(j.Blockers) == 0 {
		j.Add(diagnosis.Check{Name: "deletion", State: diagnosis.Waiting, Message: "nothing that could be seen holds it, the server is at it"})
	}
}

// nested names the workspaces that are still in it, and what blocks them.
func (j *judge) nested() {
	if len(j.Nested) == 0 {
		return
	}
	check := diagnosis.Check{Name: "workspaces in it", State: diagnosis.Waiting, Message: fmt.Sprintf("%d left", len(j.Nested))}
	for _, nested := range j.Nested {
		check.Details = append(check.Details, diagnosis.Detail{
			State: diagnosis.Waiting, Name: nested.Subject, Phase: nested.Phase, Message: nested.Phase, Since: nested.Since,
		})
		for _, blocker := range nested.Blockers {
			message := blocker.Message
			if !strings.HasPrefix(message, nestedPrefix) {
				message = nestedPrefix + nested.Subject + ": " + message
			}
			j.Block(message, blocker.Next...)
		}
	}
	j.Add(check)
}

// nestedPrefix begins what blocks a nested workspace, however deep it is.
const nestedPrefix = "nested workspace "

// content says what finalizers hold in the workspace, and who has set them.
func (j *judge) content() {
	check := diagnosis.Check{Name: "content", State: diagnosis.OK, Message: "gone"}
	c, known := j.condition(corev1alpha1.WorkspaceContentDeleted)
	switch {
	case len(j.Left) > 0:
		check.State, check.Message = diagnosis.Waiting, finalizer.Count(j.Left)
	case len(j.Nested) > 0:
		check.State, check.Message = diagnosis.Waiting, "stays until the workspaces in it are gone"
	case known && c.Status == corev1.ConditionFalse:
		check.State, check.Message = diagnosis.Waiting, says(c)
	case !known:
		check.State, check.Message = diagnosis.Waiting, "nobody has looked at it yet"
	}
	check.Details = finalizer.Details(j.Left, j.Now)
	if len(j.Unread) > 0 {
		check.Details = append(check.Details, diagnosis.Detail{
			State: diagnosis.Unknown, Name: strings.Join(j.Unread, ", "), Message: "may not be read",
		})
	}
	j.Add(check)
	finalizer.Block(j.Diagnosis, j.Commands, j.Path, j.Left)
	if c.Severity == conditions.SeverityError && c.Status == corev1.ConditionFalse {
		j.Block("content cannot be deleted: " + says(c))
	}
}

func (j *judge) condition(t conditions.Type) (conditions.Condition, bool) {
	for _, object := range j.objects() {
		if c, ok := conditions.Get(object, t); ok {
			return c, true
		}
	}
	return conditions.Condition{}, false
}

// holders names the finalizers of others on the Workspace and on the LogicalCluster.
func (j *judge) holders() {
	if j.Workspace != nil {
		j.held(parentOf(j.Path), "workspace", "the Workspace", j.Workspace)
	}
	if j.Cluster != nil {
		j.held(j.Path, "logicalcluster", "the LogicalCluster", j.Cluster)
	}
}

func (j *judge) held(in logicalcluster.Path, resource, what string, object metav1.Object) {
	finalizers := finalizer.Foreign(object.GetFinalizers())
	if len(finalizers) == 0 {
		return
	}
	check := diagnosis.Check{Name: "finalizers", State: diagnosis.Waiting, Message: "on " + what}
	for _, one := range finalizers {
		check.Details = append(check.Details, diagnosis.Detail{State: diagnosis.Waiting, Name: one, Message: finalizer.SetBy(object, one, j.Now)})
	}
	j.Add(check)
	finalizer.BlockOne(j.Diagnosis, j.Commands, in, resource, what, object)
}
