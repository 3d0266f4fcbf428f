package workspace

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/forkless/kcp/pkg/apis/conditions"
	tenancyv1alpha1 "github.com/forkless/kcp/pkg/apis/tenancy/v1alpha1"
	"github.com/forkless/kcp/pkg/cli/diagnosis"
	"github.com/forkless/kcp/pkg/cli/near"
)

// missing says what of the path is not there.
func (j *judge) missing() {
	parent, below := j.Missing.Parent()
	if !below {
		j.Add(diagnosis.Check{Name: "found", State: diagnosis.Failed, Message: "there is no " + j.Missing.String()})
		j.Block("there is no workspace "+j.Missing.String(), "kubectl ws .")
		return
	}
	j.Add(diagnosis.Check{Name: "found", State: diagnosis.Failed, Message: fmt.Sprintf("there is no %s in %s", j.Missing.Base(), parent)})
	var steps []string
	for _, name := range near.Names(j.Missing.Base(), j.Siblings) {
		meant := parent.Join(name).String() + strings.TrimPrefix(j.Path.String(), j.Missing.String())
		steps = append(steps, "kubectl ws why :"+meant)
	}
	if len(steps) == 0 {
		steps = append(steps, j.Commands.Plugin(parent, "create", "workspace", j.Missing.Base()))
	}
	j.Block(fmt.Sprintf("there is no workspace %s in %s", j.Missing.Base(), parent), steps...)
}

// denied says that nothing could be read. Whether the workspace exists is not known then.
func (j *judge) denied() {
	parent, below := j.Path.Parent()
	if below {
		j.Add(diagnosis.Check{Name: "workspace", State: unread(j.WorkspaceErr), Message: "in " + parent.String() + ": " + reasonOf(j.WorkspaceErr)})
	}
	j.Add(diagnosis.Check{Name: "logical cluster", State: unread(j.ClusterErr), Message: reasonOf(j.ClusterErr)})
	if j.Inside {
		// It is there, and open: nothing that can be seen is wrong.
		j.Add(diagnosis.Check{Name: "access", State: diagnosis.OK})
		return
	}
	if apierrors.IsNotFound(j.ClusterErr) {
		j.Block(fmt.Sprintf("there is no workspace %s", j.Path), "kubectl ws .")
		return
	}
	if !apierrors.IsForbidden(j.ClusterErr) {
		j.Block(fmt.Sprintf("%s does not answer: %v", j.Path, j.ClusterErr))
		return
	}
	j.Block(fmt.Sprintf("you may not look at %s, and it may not exist", j.Path), j.admission())
}

// unread says what it means that something could not be read.
func unread(err error) diagnosis.State {
	if apierrors.IsForbidden(err) {
		return diagnosis.Unknown
	}
	return diagnosis.Failed
}

func reasonOf(err error) string {
	switch {
	case err == nil:
		return ""
	case apierrors.IsForbidden(err):
		return "you may not read it"
	case apierrors.IsNotFound(err):
		return "it is not there"
	default:
		return err.Error()
	}
}

// noAccess says that the workspace is there, but not for the one who asks.
func (j *judge) noAccess() {
	j.Add(diagnosis.Check{Name: "access", State: diagnosis.Failed, Message: "you may not look into it"})
	j.Block("you have no access: verb access on / is not granted to you in "+j.Path.String(), j.admission())
}

// admission is how an administrator lets somebody in.
func (j *judge) admission() string {
	if j.User == "" {
		return diagnosis.Step("kubectl auth whoami", "an administrator of the workspace can let you in")
	}
	return diagnosis.Step(diagnosis.PermitAccess(j.Commands.Elsewhere(), j.Path, "--user="+j.User, j.User), "to be run by an administrator of it")
}

// mount looks at a workspace that shows something else.
func (j *judge) mount() {
	ref := j.Workspace.Spec.Mount.Reference
	what := ref.Kind + " " + ref.Name
	if ref.Namespace != "" {
		what = ref.Kind + " " + ref.Namespace + "/" + ref.Name
	}
	j.Facts = append(j.Facts, "mounts "+what)
	c, known := conditions.Get(j.Workspace, tenancyv1alpha1.WorkspaceMountReady)
	parent := parentOf(j.Path)
	args := []string{"get", resourceArgument(ref.APIVersion, ref.Kind), ref.Name, "-o", "yaml"}
	if ref.Namespace != "" {
		args = append(args, "-n", ref.Namespace)
	}
	look := diagnosis.Step(j.Commands.Kubectl(parent, args...), "its status.phase has to be Ready, and status.URL has to lead somewhere")
	switch {
	case known && c.Status == corev1.ConditionTrue:
		j.Add(diagnosis.Check{Name: "mount", State: diagnosis.OK, Message: what + " is ready"})
	case !known:
		j.Add(diagnosis.Check{Name: "mount", State: diagnosis.Waiting, Message: "nobody has looked at " + what + " yet"})
		j.Block("nobody on the server has looked at "+what+" yet", look)
	case c.Reason == tenancyv1alpha1.ReasonMountObjectNotFound:
		j.Add(diagnosis.Check{Name: "mount", State: diagnosis.Failed, Message: says(c), Since: &c.LastTransitionTime})
		j.Block("what the workspace mounts is not there: "+says(c), look)
	default:
		j.Add(diagnosis.Check{Name: "mount", State: diagnosis.Failed, Message: says(c), Since: &c.LastTransitionTime})
		j.Block("what the workspace mounts cannot be used: "+says(c), look)
	}
}

// resourceArgument returns what kubectl takes for a kind: <kind>.<version>.<group>.
func resourceArgument(apiVersion, kind string) string {
	group, version, found := strings.Cut(apiVersion, "/")
	if !found {
		return kind
	}
	return kind + "." + version + "." + group
}
