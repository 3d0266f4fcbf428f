package workspace

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/forkless/kcp/pkg/apis/conditions"
	corev1alpha1 "github.com/forkless/kcp/pkg/apis/core/v1alpha1"
	tenancyv1alpha1 "github.com/forkless/kcp/pkg/apis/tenancy/v1alpha1"
	"github.com/forkless/kcp/pkg/cli/diagnosis"
	"github.com/forkless/kcp/pkg/cli/diagnosis/hook"
)

// hooks says which initializers or terminators have finished, and what there is to know
// of the others.
func (j *judge) hooks(kind hook.Kind) {
	waiting := pending(j.Findings, kind)
	all := waiting
	if j.Cluster != nil {
		all = union(kind.All(j.Cluster), waiting)
	}
	if len(all) == 0 {
		return
	}
	check := diagnosis.Check{Name: string(kind) + "s", State: diagnosis.OK, Message: count(len(all)-len(waiting), len(all)) + " removed"}
	if j.Cluster == nil {
		check.Message = fmt.Sprintf("%d left", len(waiting))
	}
	if len(waiting) > 0 {
		check.State = diagnosis.Waiting
	}
	for _, id := range all {
		known := j.Hooks[id]
		name := id
		if known.Name != "" {
			name = known.Name
		}
		if !slices.Contains(waiting, id) {
			check.Details = append(check.Details, diagnosis.Detail{State: diagnosis.Done, Name: name})
			continue
		}
		detail := diagnosis.Detail{State: diagnosis.Waiting, Name: name, Message: known.Text()}
		if id == string(corev1alpha1.InitializerAPIBindings) {
			detail.Message = j.defaultBindings()
		} else if note := j.writers(kind, id); note != "" {
			detail.Notes = []string{note}
		}
		check.Details = append(check.Details, detail)
		j.blockHook(kind, id, name, known)
	}
	j.Add(check)
}

// union returns what is in either, in order.
func union(a, b []string) []string {
	all := slices.Clone(a)
	for _, one := range b {
		if !slices.Contains(all, one) {
			all = append(all, one)
		}
	}
	return all
}

// writers says who has written to the workspace: as the hook, or at all.
func (j *judge) writers(kind hook.Kind, id string) string {
	if j.Cluster == nil {
		return ""
	}
	if last, ok := kind.LastWrite(j.Cluster, id); ok {
		return fmt.Sprintf("last written as this %s %s ago by %s", kind, diagnosis.Age(j.Now, last.At.Time), last.By)
	}
	if last, ok := hook.LastStatusWrite(j.Cluster); ok {
		return fmt.Sprintf("status last written %s ago by %s, never as this %s", diagnosis.Age(j.Now, last.At.Time), last.By, kind)
	}
	return fmt.Sprintf("nobody has written to it as this %s", kind)
}

// blockHook says why a hook is still waited for.
func (j *judge) blockHook(kind hook.Kind, id, name string, known hook.Described) {
	next := "kubectl kcp debug " + string(kind) + " " + name
	switch {
	case id == string(corev1alpha1.InitializerAPIBindings):
		j.Block("default bindings: "+j.defaultBindings(), j.bindingSteps()...)
	case hook.IsSystem(id):
		j.Block(fmt.Sprintf("%s %s: the server has not finished", kind, name))
	case known.Gone():
		j.Block(fmt.Sprintf("%s %s: its WorkspaceType is gone, so no controller can finish it", kind, name), next+" --done :"+j.Path.String())
	case j.Cluster == nil:
		j.Block(fmt.Sprintf("%s %s: nothing has removed it", kind, name), next)
	default:
		if last, ok := kind.LastWrite(j.Cluster, id); ok {
			j.Block(fmt.Sprintf("%s %s: %s has written as it, but not removed it", kind, name, last.By), next)
			return
		}
		j.Block(fmt.Sprintf("%s %s: nothing has removed it, no client has touched it", kind, name), next)
	}
}

// defaultBindings says what the bindings of the type wait for.
func (j *judge) defaultBindings() string {
	for _, object := range j.objects() {
		if c, ok := conditions.Get(object, corev1alpha1.APIBindingsInitialized); ok && c.Status == corev1.ConditionFalse {
			return says(c)
		}
	}
	return "not all are bound yet"
}

// objects are what has conditions, the logical cluster first.
func (j *judge) objects() []conditions.Getter {
	var all []conditions.Getter
	if j.Cluster != nil {
		all = append(all, j.Cluster)
	}
	if j.Workspace != nil {
		all = append(all, j.Workspace)
	}
	return all
}

var (
	// namedExport is how conditions name an export that is missing, unbindable how they
	// name one that may not be bound.
	namedExport = regexp.MustCompile(`([a-z0-9:-]+)\|([a-z0-9.-]*[a-z0-9])`)
	unbindable  = regexp.MustCompile(`no permission to bind to export ([a-z0-9:-]+):([a-z0-9.-]*[a-z0-9])`)
)

// bindingSteps are where to look when default bindings are missing: at the bindings that
// are not bound, and at the exports that cannot be. Bindings are made for the creator of
// the workspace, so it is him who has to be permitted.
func (j *judge) bindingSteps() []string {
	var steps []string
	add := func(step string) {
		if !slices.Contains(steps, step) {
			steps = append(steps, step)
		}
	}
	for i := range j.Bindings {
		if !conditions.IsTrue(&j.Bindings[i], conditions.Ready) {
			add(j.Commands.Plugin(j.Path, "kcp", "debug", "binding", j.Bindings[i].Name))
		}
	}
	message := j.defaultBindings()
	for _, match := range unbindable.FindAllStringSubmatch(message, -1) {
		for _, step := range diagnosis.PermitBind(j.Commands, match[1], match[2], j.creator()) {
			add(step)
		}
	}
	for _, match := range namedExport.FindAllStringSubmatch(message, -1) {
		add(j.Commands.Plugin(j.Path, "kcp", "debug", "binding", match[1]+":"+match[2]))
	}
	return steps
}

// creator is who created the workspace, as every workspace knows him; USER if that is not
// known.
func (j *judge) creator() string {
	if j.Cluster != nil && j.Cluster.Spec.CreatedBy != nil {
		return diagnosis.KnownAs(*j.Cluster.Spec.CreatedBy)
	}
	for _, object := range j.annotated() {
		var owner authenticationv1.UserInfo
		if err := json.Unmarshal([]byte(object.GetAnnotations()[tenancyv1alpha1.OwnerAnnotationKey]), &owner); err == nil && owner.Username != "" {
			return diagnosis.KnownAs(owner)
		}
	}
	return "USER"
}

func (j *judge) annotated() []metav1.Object {
	var all []metav1.Object
	if j.Cluster != nil {
		all = append(all, j.Cluster)
	}
	if j.Workspace != nil {
		all = append(all, j.Workspace)
	}
	return all
}

func count(some, all int) string { return fmt.Sprintf("%d of %d", some, all) }
