package binding

import (
	"cmp"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	apisv1alpha1 "github.com/forkless/kcp/pkg/apis/apis/v1alpha1"
	apisv1alpha2 "github.com/forkless/kcp/pkg/apis/apis/v1alpha2"
	"github.com/forkless/kcp/pkg/apis/conditions"
	"github.com/forkless/kcp/pkg/cli/client"
	"github.com/forkless/kcp/pkg/cli/diagnosis"
	"github.com/forkless/kcp/pkg/cli/diagnosis/finalizer"
	"github.com/forkless/kcp/pkg/cli/near"
)

// Judge says what is wrong with a binding. It makes no requests.
func Judge(f *Findings) *diagnosis.Diagnosis {
	j := &judge{Findings: f, Diagnosis: diagnosis.New(diagnosis.Binding, f.ExportName, f.Now)}
	j.In = f.Consumer.String()
	j.Facts = []string{"export " + f.reference()}
	if f.Binding != nil {
		j.Subject = f.Binding.Name
		j.Phase = cmp.Or(string(f.Binding.Status.Phase), "new")
		j.Since = since(f.Binding)
	}
	if f.Binding != nil && f.Binding.DeletionTimestamp != nil {
		j.deletion()
		return j.Diagnosis
	}
	j.permission()
	found := j.export()
	if found {
		j.resources()
	}
	if f.Binding != nil {
		j.claims()
		j.rest()
	} else if len(j.Blockers) == 0 {
		j.Checks[len(j.Checks)-1].Next = []string{f.Commands.Plugin(f.Consumer, "kcp", "bind", "apiexport", f.reference())}
	}
	return j.Diagnosis
}

// judge is a diagnosis being made.
type judge struct {
	*Findings
	*diagnosis.Diagnosis
}

// reference names the export as bindings do.
func (f *Findings) reference() string { return f.Provider.String() + ":" + f.ExportName }

// isBound says whether the binding has been bound once, so that its APIs are served.
func (f *Findings) isBound() bool {
	return f.Binding != nil && f.Binding.Status.Phase == apisv1alpha2.APIBindingPhaseBound
}

// since is when the binding came into its phase.
func since(b *client.Binding) *metav1.Time {
	if b.DeletionTimestamp != nil {
		return b.DeletionTimestamp
	}
	if c, ok := conditions.Get(b, apisv1alpha1.InitialBindingCompleted); ok && c.Status == corev1.ConditionTrue {
		return &c.LastTransitionTime
	}
	created := b.CreationTimestamp
	return &created
}

// condition returns what a condition of the binding says if it is False.
func (f *Findings) condition(t conditions.Type) (conditions.Condition, bool) {
	if f.Binding == nil {
		return conditions.Condition{}, false
	}
	c, ok := conditions.Get(f.Binding, t)
	return c, ok && c.Status == corev1.ConditionFalse
}

func says(c conditions.Condition) string {
	return cmp.Or(c.Message, c.Reason, string(c.Type)+" is False")
}

// obstacle returns what the binding says about why its resources are not bound.
func obstacle(f *Findings) string {
	for _, t := range []conditions.Type{apisv1alpha1.InitialBindingCompleted, apisv1alpha1.BindingUpToDate} {
		if c, ok := f.condition(t); ok && c.Reason != apisv1alpha1.ReasonWaitingForEstablished {
			return says(c)
		}
	}
	return ""
}

// export says what is known of the export, and whether there is any sense in looking at what
// it offers.
func (j *judge) export() bool {
	c, invalid := j.condition(apisv1alpha1.APIExportValid)
	switch {
	case invalid && c.Reason == apisv1alpha1.ReasonAPIExportInvalidReference && j.Export != nil:
		j.stranger(c)
		return false
	case j.Export == nil && apierrors.IsNotFound(j.ExportErr), invalid && c.Reason == apisv1alpha1.ReasonAPIExportNotFound:
		j.noExport()
		return j.isBound()
	case j.Export == nil:
		return j.unreadExport(c, invalid)
	case j.Export.Status.IdentityHash == "":
		j.noIdentity()
		return false
	}
	check := diagnosis.Check{Name: "export", State: diagnosis.OK, Message: "found, identity " + short(j.Export.Status.IdentityHash)}
	j.endpoints(&check)
	j.Add(check)
	return true
}

// unreadExport is about an export that one may not read: the binding knows whether it is
// valid.
func (j *judge) unreadExport(c conditions.Condition, invalid bool) bool {
	check := diagnosis.Check{Name: "export", State: diagnosis.Unknown, Message: "you may not read it"}
	if invalid {
		check.State, check.Message = diagnosis.Failed, says(c)
	}
	j.Add(check)
	if invalid {
		j.Block("the export cannot be bound: "+says(c),
			diagnosis.Step(j.Commands.Kubectl(j.Provider, "get", "apiexport", j.ExportName, "-o", "yaml"), "to be run by its provider"))
	}
	return !invalid && j.Binding != nil
}

// noExport is about an export that is not there. What is bound stays bound.
func (j *judge) noExport() {
	message := fmt.Sprintf("there is no APIExport %s in %s", j.ExportName, j.Provider)
	var names []string
	for i := range j.Exports {
		names = append(names, j.Exports[i].Name)
	}
	meant := near.Names(j.ExportName, names)
	var steps []string
	switch {
	case j.isBound():
		// Unbinding would delete all objects: nothing that is suggested in passing.
		message += "; what was bound is served as it was"
		steps = []string{diagnosis.Step(j.Commands.Kubectl(j.Provider, "get", "apiexports"), "its provider has to bring it back, with the same identity")}
	case len(meant) > 0 && j.Binding != nil:
		steps = []string{
			diagnosis.Step(j.Commands.Plugin(j.Consumer, "kcp", "unbind", j.Binding.Name), "nothing is bound by it"),
			j.Commands.Plugin(j.Consumer, "kcp", "bind", "apiexport", j.Provider.String()+":"+meant[0], "--name", j.Binding.Name),
		}
	case len(meant) > 0:
		steps = []string{j.Commands.Plugin(j.Consumer, "kcp", "bind", "apiexport", j.Provider.String()+":"+meant[0])}
	default:
		steps = []string{diagnosis.Step("kubectl kcp exports :"+j.Provider.String(), "says what there is")}
	}
	check := diagnosis.Check{Name: "export", State: diagnosis.Failed, Message: "not found"}
	if len(meant) > 0 {
		check.Message += ", there is " + strings.Join(meant, ", ")
	}
	j.Add(check)
	j.Block(message, steps...)
}

// stranger is about an export that took the place of the one that was bound.
func (j *judge) stranger(c conditions.Condition) {
	j.Add(diagnosis.Check{Name: "export", State: diagnosis.Failed, Message: "it is another one than what was bound, identity " + short(j.Export.Status.IdentityHash), Since: &c.LastTransitionTime})
	j.Block("the export was made anew, and its identity is another one",
		diagnosis.Step(j.Commands.Kubectl(j.Consumer, "label", "apibinding", j.Binding.Name, "cli.kcp.io/rebound="+short(j.Export.Status.IdentityHash), "--overwrite"),
			"binds the new one, whose objects are other ones"))
}

// noIdentity is about an export that is not ready to be bound.
func (j *judge) noIdentity() {
	why := "nobody has looked at it yet"
	if c, ok := conditions.Get(j.Export, apisv1alpha1.APIExportIdentityValid); ok && c.Status == corev1.ConditionFalse {
		why = says(c)
	}
	j.Add(diagnosis.Check{Name: "export", State: diagnosis.Failed, Message: "it has no identity: " + why})
	j.Block("the export has no identity: "+why,
		diagnosis.Step(j.Commands.Kubectl(j.Provider, "describe", "apiexport", j.ExportName), "its provider has to bring the secret of its identity back"))
}

// endpoints says where the provider finds the objects of its consumers.
func (j *judge) endpoints(check *diagnosis.Check) {
	if j.SlicesErr != nil {
		return
	}
	endpoints := 0
	for i := range j.Slices {
		endpoints = max(endpoints, len(j.Slices[i].Status.APIExportEndpoints))
	}
	switch {
	case endpoints == 0 && j.isBound():
		check.State = diagnosis.Warning
		check.Message += ", but no endpoint slice has an address for its controller"
		check.Next = append(check.Next, j.Commands.Kubectl(j.Provider, "get", "apiexportendpointslices", "-o", "yaml"))
	case endpoints > 0 && j.Shards > 0:
		check.Message += fmt.Sprintf(", endpoints on %d of %d shards", endpoints, j.Shards)
	case endpoints > 0:
		check.Message += fmt.Sprintf(", %d endpoints", endpoints)
	}
}

// identityCells is how much of an identity people compare.
const identityCells = 12

func short(identity string) string { return identity[:min(len(identity), identityCells)] }

// deletion says what holds a binding that is to go.
func (j *judge) deletion() {
	check := diagnosis.Check{Name: "deletion", State: diagnosis.Waiting, Message: "its objects are being deleted", Details: finalizer.Details(j.Held, j.Now)}
	if c, ok := j.condition(apisv1alpha1.BindingResourceDeleteSuccess); ok {
		check.Message, check.Since = says(c), &c.LastTransitionTime
	}
	if len(j.Held) > 0 {
		check.Message = finalizer.Count(j.Held)
	}
	if len(j.Unread) > 0 {
		check.Details = append(check.Details, diagnosis.Detail{State: diagnosis.Unknown, Name: strings.Join(j.Unread, ", "), Message: "may not be read"})
	}
	j.Add(check)
	finalizer.Block(j.Diagnosis, j.Commands, j.Consumer, j.Held)
	finalizer.BlockOne(j.Diagnosis, j.Commands, j.Consumer, "apibinding", "the APIBinding", j.Binding)
}

// rest names conditions that are False and that nothing else explains.
func (j *judge) rest() {
	if c, ok := j.condition(apisv1alpha1.PermissionClaimsApplied); ok {
		j.Add(diagnosis.Check{Name: "claims in force", State: diagnosis.Failed, Message: says(c), Since: &c.LastTransitionTime})
	}
	if len(j.Blockers) > 0 {
		return
	}
	if message := obstacle(j.Findings); message != "" {
		j.Block(message, j.Commands.Kubectl(j.Consumer, "get", "apibinding", j.Binding.Name, "-o", "yaml"))
		return
	}
	if !j.isBound() {
		j.Block("nothing on the server has bound it yet", j.Commands.Kubectl(j.Consumer, "get", "apibinding", j.Binding.Name, "-o", "yaml"))
	}
}
