package binding

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	apischema "k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/forkless/kcp/internal/apihash"
	"github.com/forkless/kcp/internal/schema"
	apisv1alpha1 "github.com/forkless/kcp/pkg/apis/apis/v1alpha1"
	apisv1alpha2 "github.com/forkless/kcp/pkg/apis/apis/v1alpha2"
	"github.com/forkless/kcp/pkg/apis/conditions"
	"github.com/forkless/kcp/pkg/logicalcluster"
)

// Input is what Decide decides on. Nothing in it is changed.
type Input struct {
	// Cluster is the workspace that binds.
	Cluster logicalcluster.Name
	// Binding is the APIBinding. It is not being deleted.
	Binding *apisv1alpha2.APIBinding
	// Export is what it refers to; nil if there is no such export.
	Export *Export
	// Bound are the definitions by which resources of the binding are served now.
	Bound map[apischema.GroupResource]*schema.Definition
	// Rivals are all others that have resources or names in the workspace, if Claims says
	// that they matter.
	Rivals []Rival
	// ClusterGone says that the workspace has no LogicalCluster.
	ClusterGone bool
	// Now is the time of conditions that change.
	Now metav1.Time
}

// Export is an APIExport with what it offers.
type Export struct {
	// Cluster is where the export is.
	Cluster logicalcluster.Name
	// Object is the APIExport.
	Object *apisv1alpha2.APIExport
	// Offers are its resources, in its order.
	Offers []Offer
}

// Offer is a resource of an export.
type Offer struct {
	Resource apischema.GroupResource
	// Schema is the name of the APIResourceSchema, and UID its UID; empty if there is none
	// of that name.
	Schema string
	UID    types.UID
	// Definition is what the schema is served by; nil if it cannot be, which Err says why.
	Definition *schema.Definition
	Err        error
	// Virtual says that the objects are not stored in the workspaces that bind.
	Virtual bool
	// Reserved says that the resource is one of the system's own and the export is not.
	Reserved bool
}

// Plan is what has to be written.
type Plan struct {
	// Binding is what the APIBinding has to be; the one of the input if it is that already.
	Binding *apisv1alpha2.APIBinding
	// Claims says that resources or names are taken: the LogicalCluster has to be as it was
	// when the rivals were looked at, and to say what Locks says.
	Claims bool
	Locks  Locks
	// Waits says that others have what the binding wants.
	Waits bool
}

// Decide returns what an APIBinding has to be.
func Decide(in Input) Plan {
	d := &decision{Input: in, wanted: in.Binding.DeepCopy()}
	d.begin()
	if d.exportValid() {
		d.metadata()
		d.resources()
		d.conclude()
	}
	conditions.Summarize(d.wanted, apisv1alpha1.InitialBindingCompleted)

	plan := Plan{Binding: d.wanted, Claims: d.claims, Waits: len(d.taken)+len(d.clashes) > 0}
	if d.claims {
		plan.Locks = d.locks()
	}
	if equality.Semantic.DeepEqual(in.Binding, d.wanted) {
		plan.Binding = in.Binding
	}
	return plan
}

// Claims says whether resources or names would be taken that the binding does not have
// yet, so that Decide has to know the rivals.
func Claims(in Input) bool {
	if in.Export == nil {
		return false
	}
	return slices.ContainsFunc(in.Export.Offers, func(o Offer) bool { return o.Definition != nil && !settled(in, o) })
}

// settled says whether the binding has the resource of an offer and its names already.
func settled(in Input, o Offer) bool {
	if find(in.Binding.Status.BoundResources, o.Resource) < 0 {
		return false
	}
	bound := in.Bound[o.Resource]
	return bound != nil && o.Definition != nil &&
		equality.Semantic.DeepEqual(bound.CRD.Status.AcceptedNames, o.Definition.CRD.Status.AcceptedNames)
}

// decision is a decision being taken.
type decision struct {
	Input
	wanted *apisv1alpha2.APIBinding
	claims bool
	// taken, clashes and broken are why offers are not bound: others have the resource,
	// others have a name of it, or it cannot be served.
	taken, clashes, broken, unsupported []string
}

// begin takes the first step.
func (d *decision) begin() {
	if d.wanted.Status.Phase == apisv1alpha2.APIBindingPhaseNone {
		d.wanted.Status.Phase = apisv1alpha2.APIBindingPhaseBinding
	}
	if !conditions.Has(d.wanted, apisv1alpha1.InitialBindingCompleted) {
		d.isFalse(apisv1alpha1.InitialBindingCompleted, apisv1alpha1.ReasonWaitingForEstablished, conditions.SeverityInfo,
			"Waiting for API(s) to be established")
	}
	if !slices.Contains(d.wanted.Finalizers, apisv1alpha1.APIBindingFinalizer) {
		d.wanted.Finalizers = append(d.wanted.Finalizers, apisv1alpha1.APIBindingFinalizer)
	}
}

// exportValid says whether there is an export that can be bound, in a condition too.
func (d *decision) exportValid() bool {
	invalid := func(reason string, severity conditions.Severity, format string, args ...any) bool {
		d.isFalse(apisv1alpha1.APIExportValid, reason, severity, format, args...)
		return false
	}
	reference := d.Binding.Spec.Reference.Export
	switch {
	case reference == nil || reference.Name == "":
		return invalid(apisv1alpha1.ReasonAPIExportInvalidReference, conditions.SeverityError, "Missing APIExport reference")
	case d.Export == nil:
		mirrorExtras(d.wanted, nil)
		return invalid(apisv1alpha1.ReasonAPIExportNotFound, conditions.SeverityError, "APIExport %s|%s not found", d.pathOf(reference), reference.Name)
	}
	if d.isStranger() {
		return invalid(apisv1alpha1.ReasonAPIExportInvalidReference, conditions.SeverityError,
			"APIExport %s|%s is another one than what was bound: its workspace is new, and so is its identity. "+
				"Change the binding, a label for instance, to bind this one", d.pathOf(reference), reference.Name)
	}
	d.wanted.Status.APIExportClusterName = d.Export.Cluster.String()
	if d.Export.Object.Status.IdentityHash == "" {
		return invalid(apisv1alpha1.ReasonMissingIdentityHash, conditions.SeverityWarning, "APIExport %s|%s is missing status.identityHash",
			d.pathOf(reference), reference.Name)
	}
	for _, offer := range d.Export.Offers {
		if offer.UID == "" {
			return invalid(apisv1alpha1.ReasonInternalError, conditions.SeverityError,
				"Invalid APIExport. Please contact the APIExport owner to resolve: APIResourceSchema %q not found", offer.Schema)
		}
	}
	d.isTrue(apisv1alpha1.APIExportValid)
	return true
}

// isStranger says whether what the reference leads to is an export that nobody who may bind
// it has asked for: somebody has made a workspace where the one was that the binding is
// labelled with. Admission puts that label on, having asked for permission. An export
// that has moved with its identity is no stranger.
func (d *decision) isStranger() bool {
	asked, ok := d.Binding.Labels[apisv1alpha1.InternalAPIBindingExportLabelKey]
	if !ok || asked == apihash.Export(d.Export.Cluster, d.Export.Object.Name) {
		return false
	}
	bound := d.Binding.Status.BoundResources
	return len(bound) == 0 || slices.ContainsFunc(bound, func(b apisv1alpha2.BoundAPIResource) bool {
		return b.Schema.IdentityHash != d.Export.Object.Status.IdentityHash
	})
}

// pathOf returns how messages call the place of an export: as the binding does.
func (d *decision) pathOf(reference *apisv1alpha2.ExportBindingReference) string {
	if reference.Path == "" {
		return d.Cluster.String()
	}
	return reference.Path
}

// conclude says what has come of it, and whether the binding is bound.
func (d *decision) conclude() {
	reason, message := d.obstacle()
	for _, t := range []conditions.Type{apisv1alpha1.InitialBindingCompleted, apisv1alpha1.BindingUpToDate} {
		switch {
		case reason == "":
			d.isTrue(t)
		case t == apisv1alpha1.InitialBindingCompleted && conditions.IsTrue(d.wanted, t):
			// Once completed, for good.
		default:
			d.isFalse(t, reason, conditions.SeverityError, "%s", message)
		}
	}
	if reason == "" {
		d.wanted.Status.Phase = apisv1alpha2.APIBindingPhaseBound
	}
}

// obstacle returns why not all is bound; the reason is empty if all is.
func (d *decision) obstacle() (reason, message string) {
	switch {
	case d.ClusterGone:
		return apisv1alpha1.ReasonLogicalClusterNotFound, "LogicalCluster not found"
	case len(d.taken) > 0:
		return apisv1alpha1.ReasonNamingConflicts,
			"Unable to bind APIs because they are bound by other APIBindings or CRDs: " + joined(append(d.taken, d.clashes...))
	case len(d.clashes) > 0:
		return apisv1alpha1.ReasonNamingConflicts, "Unable to bind APIs: " + joined(d.clashes)
	case len(d.broken) > 0:
		return apisv1alpha1.ReasonAPIResourceSchemaInvalid,
			"Invalid APIExport. Please contact the APIExport owner to resolve: " + joined(d.broken)
	case len(d.unsupported) > 0:
		return apisv1alpha1.ReasonInternalError, "Unable to bind APIs: " + joined(d.unsupported)
	default:
		return "", ""
	}
}

func (d *decision) isTrue(t conditions.Type) {
	conditions.Set(d.wanted, conditions.Condition{Type: t, Status: corev1.ConditionTrue, LastTransitionTime: d.Now})
}

func (d *decision) isFalse(t conditions.Type, reason string, severity conditions.Severity, format string, args ...any) {
	conditions.Set(d.wanted, conditions.Condition{
		Type: t, Status: corev1.ConditionFalse, Severity: severity, Reason: reason,
		Message: fmt.Sprintf(format, args...), LastTransitionTime: d.Now,
	})
}
