package workspace

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/forkless/kcp/pkg/apis/conditions"
	corev1alpha1 "github.com/forkless/kcp/pkg/apis/core/v1alpha1"
	"github.com/forkless/kcp/pkg/cli/diagnosis"
	"github.com/forkless/kcp/pkg/cli/diagnosis/hook"
	"github.com/forkless/kcp/pkg/logicalcluster"
)

const (
	// mostBlockers is how many objects are blockers of their own, with a command for each.
	mostBlockers = 3
	// mostNotes is how many objects of a resource are named.
	mostNotes = 5
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
		check.Details = append(check.Details, diagnosis.Detail{State: diagnosis.Waiting, Name: nested.Subject, Phase: nested.Phase, Message: nested.Phase, Since: nested.Since})
		for _, blocker := range nested.Blockers {
			message := blocker.Message
			if !strings.HasPrefix(message, "workspace ") {
				message = fmt.Sprintf("workspace %s in it: %s", nested.Subject, message)
			}
			j.Block(message, blocker.Next...)
		}
	}
	j.Add(check)
}

// content says what finalizers hold in the workspace, and who has set them.
func (j *judge) content() {
	check := diagnosis.Check{Name: "content", State: diagnosis.OK, Message: "gone"}
	c, known := j.condition(corev1alpha1.WorkspaceContentDeleted)
	if known && c.Status == corev1.ConditionFalse {
		check.State, check.Message = diagnosis.Waiting, says(c)
	}
	if len(j.Left) > 0 {
		check.State, check.Message = diagnosis.Waiting, held(j.Left)
	}
	if !known && len(j.Left) == 0 {
		check.State, check.Message = diagnosis.Waiting, "nobody has looked at it yet"
	}
	for _, left := range j.Left {
		check.Details = append(check.Details, detailOf(j, left))
	}
	if len(j.Unread) > 0 {
		check.Details = append(check.Details, diagnosis.Detail{
			State: diagnosis.Unknown, Name: strings.Join(j.Unread, ", "), Message: "may not be read",
		})
	}
	j.Add(check)
	j.blockContent(c)
}

func (j *judge) condition(t conditions.Type) (conditions.Condition, bool) {
	for _, object := range j.objects() {
		if c, ok := conditions.Get(object, t); ok {
			return c, true
		}
	}
	return conditions.Condition{}, false
}

// held counts what is left.
func held(all []Left) string {
	objects := 0
	for _, left := range all {
		objects += len(left.Objects)
	}
	return fmt.Sprintf("finalizers hold %s of %s", plural(objects, "object"), plural(len(all), "resource"))
}

func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

func detailOf(j *judge, left Left) diagnosis.Detail {
	detail := diagnosis.Detail{State: diagnosis.Waiting, Name: left.Resource.String(), Message: plural(len(left.Objects), "object")}
	for i := range left.Objects[:min(len(left.Objects), mostNotes)] {
		object := &left.Objects[i]
		for _, finalizer := range foreign(object.Finalizers) {
			detail.Notes = append(detail.Notes, fmt.Sprintf("%s: finalizer %s, %s", nameOf(object), finalizer, j.setBy(object, finalizer)))
		}
	}
	if more := len(left.Objects) - mostNotes; more > 0 {
		detail.Notes = append(detail.Notes, fmt.Sprintf("and %d more", more))
	}
	return detail
}

func nameOf(object metav1.Object) string {
	if object.GetNamespace() == "" {
		return object.GetName()
	}
	return object.GetNamespace() + "/" + object.GetName()
}

// setBy says which manager has set a finalizer.
func (j *judge) setBy(object metav1.Object, finalizer string) string {
	for _, entry := range object.GetManagedFields() {
		if entry.FieldsV1 == nil || !sets(entry.FieldsV1.Raw, finalizer) {
			continue
		}
		if entry.Time == nil {
			return "set by " + entry.Manager
		}
		return fmt.Sprintf("set by %s %s ago", entry.Manager, diagnosis.Age(j.Now, entry.Time.Time))
	}
	return "nobody knows who has set it"
}

// sets says whether managed fields have a finalizer in them.
func sets(fields []byte, finalizer string) bool {
	return strings.Contains(string(fields), fmt.Sprintf(`"v:\"%s\""`, finalizer))
}

// blockContent makes a blocker of what finalizers hold.
func (j *judge) blockContent(c conditions.Condition) {
	blocked := 0
	for _, left := range j.Left {
		for i := range left.Objects {
			object := &left.Objects[i]
			if blocked++; blocked > mostBlockers {
				continue
			}
			finalizers := foreign(object.Finalizers)
			j.Block(fmt.Sprintf("%s %s has finalizer %s, %s", left.Resource, nameOf(object), strings.Join(finalizers, " and "), managers(j, object, finalizers)),
				j.removals(j.Path, left.Resource, object)...)
		}
	}
	if blocked > mostBlockers {
		j.Block(fmt.Sprintf("finalizers hold %d more objects", blocked-mostBlockers))
	}
	if c.Severity == conditions.SeverityError && c.Status == corev1.ConditionFalse {
		j.Block("content cannot be deleted: " + says(c))
	}
}

// managers names who has set finalizers, without saying when: what blocks is the same a
// minute later.
func managers(j *judge, object metav1.Object, finalizers []string) string {
	var names []string
	for _, finalizer := range finalizers {
		text, _, _ := strings.Cut(strings.TrimPrefix(j.setBy(object, finalizer), "set by "), " ")
		if !slices.Contains(names, text) && strings.HasPrefix(j.setBy(object, finalizer), "set by ") {
			names = append(names, text)
		}
	}
	if len(names) == 0 {
		return "which nobody has removed"
	}
	return "which " + strings.Join(names, " and ") + " set and nobody has removed"
}

// removals are the commands that take finalizers off an object. Indices count down, so that
// each is right when its turn comes.
func (j *judge) removals(in logicalcluster.Path, resource schema.GroupResource, object *metav1.PartialObjectMetadata) []string {
	var steps []string
	for i := len(object.Finalizers) - 1; i >= 0; i-- {
		finalizer := object.Finalizers[i]
		if slices.Contains(ours, finalizer) {
			continue
		}
		args := []string{"patch", resource.String(), object.Name}
		if object.Namespace != "" {
			args = append(args, "-n", object.Namespace)
		}
		args = append(args, "--type=json", "-p", diagnosis.RemoveEntry("/metadata/finalizers", i, finalizer))
		steps = append(steps, diagnosis.Step(j.Commands.Kubectl(in, args...), "skips what %s would have done", finalizer))
	}
	return steps
}

// holders names the finalizers of others on the Workspace and on the LogicalCluster.
func (j *judge) holders() {
	parent, _ := j.Path.Parent()
	if j.Workspace != nil {
		j.held(parent, schema.GroupResource{Resource: "workspace"}, "the Workspace", &j.Workspace.ObjectMeta)
	}
	if j.Cluster != nil {
		j.held(j.Path, schema.GroupResource{Resource: "logicalcluster"}, "the LogicalCluster", &j.Cluster.ObjectMeta)
	}
}

func (j *judge) held(in logicalcluster.Path, resource schema.GroupResource, what string, object *metav1.ObjectMeta) {
	finalizers := foreign(object.Finalizers)
	if len(finalizers) == 0 {
		return
	}
	check := diagnosis.Check{Name: "finalizers", State: diagnosis.Waiting, Message: "on " + what}
	for _, finalizer := range finalizers {
		check.Details = append(check.Details, diagnosis.Detail{State: diagnosis.Waiting, Name: finalizer, Message: j.setBy(object, finalizer)})
	}
	j.Add(check)
	partial := &metav1.PartialObjectMetadata{ObjectMeta: *object}
	partial.Namespace = ""
	steps := j.removals(in, resource, partial)
	j.Block(fmt.Sprintf("%s has finalizer %s, %s", what, strings.Join(finalizers, " and "), managers(j, object, finalizers)), steps...)
}

// add notes an object that finalizers of others hold.
func (f *Findings) add(resource schema.GroupResource, object metav1.PartialObjectMetadata) {
	if len(foreign(object.Finalizers)) == 0 {
		return
	}
	i := slices.IndexFunc(f.Left, func(left Left) bool { return left.Resource == resource })
	if i < 0 {
		i = len(f.Left)
		f.Left = append(f.Left, Left{Resource: resource})
	}
	f.Left[i].Objects = append(f.Left[i].Objects, object)
}

// sort puts what was found at the same time in an order.
func (f *Findings) sort() {
	slices.SortFunc(f.Left, func(a, b Left) int { return cmp.Compare(a.Resource.String(), b.Resource.String()) })
	for _, left := range f.Left {
		slices.SortFunc(left.Objects, func(a, b metav1.PartialObjectMetadata) int { return cmp.Compare(nameOf(&a), nameOf(&b)) })
	}
	slices.Sort(f.Unread)
}
