package workspace

import (
	"cmp"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/forkless/kcp/pkg/apis/conditions"
	corev1alpha1 "github.com/forkless/kcp/pkg/apis/core/v1alpha1"
	tenancyv1alpha1 "github.com/forkless/kcp/pkg/apis/tenancy/v1alpha1"
	"github.com/forkless/kcp/pkg/cli/diagnosis"
	"github.com/forkless/kcp/pkg/cli/diagnosis/hook"
	"github.com/forkless/kcp/pkg/logicalcluster"
)

// Judge says what blocks a workspace. It makes no requests.
func Judge(f *Findings) *diagnosis.Diagnosis {
	j := &judge{Findings: f, Diagnosis: diagnosis.New(diagnosis.Workspace, f.Path.String(), f.Now)}
	j.identify()
	switch {
	case !f.Missing.Empty():
		j.missing()
	case f.Workspace == nil && f.Cluster == nil:
		j.denied()
	case f.Workspace != nil && f.Workspace.Spec.Mount != nil:
		j.mount()
	case deleted(f):
		j.die()
	default:
		j.live()
	}
	return j.Diagnosis
}

// judge is a diagnosis being made.
type judge struct {
	*Findings
	*diagnosis.Diagnosis
}

// deleted says whether the workspace is being deleted.
func deleted(f *Findings) bool {
	return f.Workspace != nil && f.Workspace.DeletionTimestamp != nil || f.Cluster != nil && f.Cluster.DeletionTimestamp != nil
}

// kindOf returns which hooks matter, none if the workspace waits for neither.
func kindOf(f *Findings) hook.Kind {
	switch {
	case deleted(f):
		return hook.Terminator
	case phaseOf(f) == corev1alpha1.PhaseInitializing:
		return hook.Initializer
	default:
		return ""
	}
}

// pending returns the hooks that have not finished: those of the logical cluster, which is
// ahead, or of the Workspace.
func pending(f *Findings, kind hook.Kind) []string {
	switch {
	case f.Cluster != nil:
		return kind.Pending(f.Cluster)
	case f.Workspace != nil:
		return kind.PendingOn(f.Workspace)
	default:
		return nil
	}
}

// phaseOf returns the phase. That it was taken offline only the logical cluster says.
func phaseOf(f *Findings) corev1alpha1.Phase {
	switch {
	case f.Cluster != nil && (f.Workspace == nil || f.Cluster.Status.Phase == corev1alpha1.PhaseInactive):
		return f.Cluster.Status.Phase
	case f.Workspace != nil:
		return cmp.Or(f.Workspace.Status.Phase, corev1alpha1.PhaseScheduling)
	default:
		return ""
	}
}

// identify says what the workspace is, where, and how far.
func (j *judge) identify() {
	j.Phase = string(phaseOf(j.Findings))
	j.Since = since(j.Findings)
	ws, lc := j.Workspace, j.Cluster
	if ws != nil && ws.Spec.Type != nil {
		j.Facts = append(j.Facts, j.typeName())
	} else if lc != nil && lc.Annotations[tenancyv1alpha1.TypeAnnotationKey] != "" {
		j.Facts = append(j.Facts, lc.Annotations[tenancyv1alpha1.TypeAnnotationKey])
	}
	cluster, shard := "", ""
	if ws != nil {
		cluster, shard = ws.Spec.Cluster, ws.Annotations[corev1alpha1.ShardAnnotationKey]
	}
	if lc != nil {
		cluster = cmp.Or(cluster, logicalcluster.FromAnnotations(lc.Annotations).String())
		shard = cmp.Or(lc.Annotations[corev1alpha1.ShardAnnotationKey], shard)
	}
	if cluster != "" {
		j.Facts = append(j.Facts, "cluster "+cluster)
	}
	if shard != "" {
		j.Facts = append(j.Facts, "shard "+shard)
	}
}

func (j *judge) typeName() string {
	reference := j.Workspace.Spec.Type
	if reference.Path == "" {
		return reference.Name
	}
	return reference.Path + ":" + reference.Name
}

// since returns when the phase began, nil if that is not known.
func since(f *Findings) *metav1.Time {
	var object metav1.Object
	switch {
	case f.Workspace != nil:
		object = f.Workspace
	case f.Cluster != nil:
		object = f.Cluster
	default:
		return nil
	}
	switch phaseOf(f) {
	case corev1alpha1.PhaseScheduling, corev1alpha1.PhaseInitializing:
		created := object.GetCreationTimestamp()
		return &created
	case corev1alpha1.PhaseTerminating, corev1alpha1.PhaseDeleting:
		return object.GetDeletionTimestamp()
	case corev1alpha1.PhaseUnavailable:
		if c, ok := unavailable(f.Workspace); ok {
			return &c.LastTransitionTime
		}
	case corev1alpha1.PhaseReady:
		return readySince(f)
	}
	return nil
}

func readySince(f *Findings) *metav1.Time {
	objects := []conditions.Getter{}
	if f.Cluster != nil {
		objects = append(objects, f.Cluster)
	}
	if f.Workspace != nil {
		objects = append(objects, f.Workspace)
	}
	for _, object := range objects {
		if c, ok := conditions.Get(object, corev1alpha1.WorkspaceInitialized); ok && c.Status == corev1.ConditionTrue {
			return &c.LastTransitionTime
		}
	}
	return nil
}

// unavailable returns the condition that makes a workspace unavailable.
func unavailable(ws *tenancyv1alpha1.Workspace) (conditions.Condition, bool) {
	for _, t := range []conditions.Type{tenancyv1alpha1.WorkspaceScheduled, tenancyv1alpha1.WorkspaceMountReady} {
		if c, ok := conditions.Get(ws, t); ok && c.Status == corev1.ConditionFalse {
			return c, true
		}
	}
	i := slices.IndexFunc(ws.Status.Conditions, func(c conditions.Condition) bool { return c.Status == corev1.ConditionFalse })
	if i < 0 {
		return conditions.Condition{}, false
	}
	return ws.Status.Conditions[i], true
}

// live looks at a workspace that is to be used.
func (j *judge) live() {
	if !j.scheduled() || !j.entered() {
		return
	}
	if phaseOf(j.Findings) == corev1alpha1.PhaseInitializing {
		j.hooks(hook.Initializer)
	}
	j.bindings()
	if phaseOf(j.Findings) == corev1alpha1.PhaseInactive && j.Cluster != nil {
		j.inactive()
	}
}

// scheduled says whether the workspace has a place.
func (j *judge) scheduled() bool {
	ws := j.Workspace
	if ws == nil {
		return true
	}
	c, _ := conditions.Get(ws, tenancyv1alpha1.WorkspaceScheduled)
	parent, _ := j.Path.Parent()
	switch {
	case c.Status == corev1.ConditionFalse:
		j.Add(diagnosis.Check{Name: "scheduled", State: diagnosis.Failed, Message: says(c), Since: &c.LastTransitionTime})
		next := j.Commands.Kubectl(logicalcluster.Root.Path(), "get", "shards", "--show-labels")
		if location := ws.Spec.Location; location != nil && location.Selector != nil && ws.Spec.Cluster == "" {
			next = diagnosis.Step(j.Commands.Kubectl(parent, "patch", "workspace", ws.Name, "--type=merge", "-p", `{"spec":{"location":null}}`), "any shard will do")
		}
		j.Block("no shard takes the workspace: "+says(c), next)
		return false
	case ws.Spec.Cluster == "":
		j.Add(diagnosis.Check{Name: "scheduled", State: diagnosis.Waiting, Message: "no shard has been chosen yet"})
		j.Block("no shard has been chosen yet", j.Commands.Kubectl(parent, "get", "workspace", ws.Name, "-o", "yaml"))
		return false
	}
	j.Add(diagnosis.Check{Name: "scheduled", State: diagnosis.OK})
	return true
}

// says returns what a condition says, for there is always something.
func says(c conditions.Condition) string {
	return cmp.Or(c.Message, c.Reason, string(c.Type)+" is False")
}

// entered says whether the logical cluster could be looked into.
func (j *judge) entered() bool {
	const name = "logical cluster"
	err := j.ClusterErr
	disappeared := j.Workspace != nil && conditions.Reason(j.Workspace, corev1alpha1.WorkspaceInitialized) == corev1alpha1.ReasonWorkspaceDisappeared
	switch {
	case err == nil:
		j.Add(diagnosis.Check{Name: name, State: diagnosis.OK})
		return true
	case apierrors.IsNotFound(err) || disappeared:
		j.Add(diagnosis.Check{Name: name, State: diagnosis.Failed, Message: "it is not there"})
		j.Block("the logical cluster of the workspace is not there: what was in it is gone",
			diagnosis.Step(j.Commands.Plugin(parentOf(j.Path), "ws", "delete", j.Path.Base()), "and create it anew"))
	case apierrors.IsForbidden(err) && j.Inside:
		j.Add(diagnosis.Check{Name: "access", State: diagnosis.OK})
		j.Add(diagnosis.Check{Name: name, State: diagnosis.Unknown, Message: reasonOf(err)})
		return true
	case apierrors.IsForbidden(err) && phaseOf(j.Findings) == corev1alpha1.PhaseInitializing:
		// Who may not look inside is told outside what is waited for.
		j.Add(diagnosis.Check{Name: name, State: diagnosis.Unknown, Message: "you may not look into it"})
		return true
	case apierrors.IsForbidden(err):
		j.noAccess()
	default:
		j.Add(diagnosis.Check{Name: name, State: diagnosis.Failed, Message: err.Error()})
		j.Block(j.shard()+" does not answer for the workspace: "+err.Error(),
			j.Commands.Kubectl(logicalcluster.Root.Path(), "get", "shards", "-o", "wide"))
	}
	return false
}

func parentOf(p logicalcluster.Path) logicalcluster.Path {
	parent, _ := p.Parent()
	return parent
}

func (j *judge) shard() string {
	if name := j.Workspace.Annotations[corev1alpha1.ShardAnnotationKey]; name != "" {
		return "shard " + name
	}
	return "its shard"
}

// bindings says how many APIs are bound.
func (j *judge) bindings() {
	const name = "bindings"
	if j.Cluster == nil {
		return
	}
	if j.BindingsErr != nil {
		j.Add(diagnosis.Check{Name: name, State: diagnosis.Unknown, Message: j.BindingsErr.Error()})
		return
	}
	check := diagnosis.Check{Name: name, State: diagnosis.OK}
	bound := 0
	for i := range j.Bindings {
		b := &j.Bindings[i]
		c, known := conditions.Get(b, conditions.Ready)
		if known && c.Status == corev1.ConditionTrue {
			bound++
			continue
		}
		check.State = diagnosis.Warning
		check.Details = append(check.Details, diagnosis.Detail{State: diagnosis.Failed, Name: b.Name, Message: says(c)})
		check.Next = append(check.Next, j.Commands.Plugin(j.Path, "kcp", "debug", "binding", b.Name))
	}
	check.Message = count(bound, len(j.Bindings)) + " bound"
	j.Add(check)
}

// inactive says how a workspace that was taken offline comes back.
func (j *judge) inactive() {
	j.Add(diagnosis.Check{Name: "online", State: diagnosis.Failed, Message: "it was taken offline"})
	var steps []string
	for _, key := range []string{corev1alpha1.InactiveAnnotationKey, corev1alpha1.LegacyInactiveAnnotationKey} {
		if j.Cluster.Annotations[key] == corev1alpha1.InactiveAnnotationValue {
			steps = append(steps, diagnosis.Step(j.Commands.Kubectl(j.Path, "annotate", "logicalcluster", "cluster", key+"-"), "brings it back"))
		}
	}
	j.Block("the workspace was taken offline: requests to it are turned away", steps...)
}
