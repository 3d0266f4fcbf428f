package v1alpha1

// Phase is the stage of life of a logical cluster and of its workspace.
// +kubebuilder:validation:Enum=Scheduling;Initializing;Ready;Unavailable;Inactive;Terminating;Deleting
type Phase string

// The phases. The usual way is Scheduling, Initializing, Ready, and when deleted
// Terminating, Deleting.
const (
	// PhaseScheduling is that of what has no place yet.
	PhaseScheduling Phase = "Scheduling"
	// PhaseInitializing lasts until the last initializer has removed itself.
	PhaseInitializing Phase = "Initializing"
	// PhaseReady is that of what may be used.
	PhaseReady Phase = "Ready"
	// PhaseUnavailable is that of a workspace that cannot be reached. Logical
	// clusters are never in it.
	PhaseUnavailable Phase = "Unavailable"
	// PhaseInactive is that of a logical cluster that was taken offline. It is not
	// mirrored to the workspace.
	PhaseInactive Phase = "Inactive"
	// PhaseTerminating is that of what is being deleted while terminators are left.
	PhaseTerminating Phase = "Terminating"
	// PhaseDeleting is that of what is being deleted with no terminators left.
	PhaseDeleting Phase = "Deleting"
)

// Phases returns all phases, in the order in which they usually come.
func Phases() []Phase {
	return []Phase{
		PhaseScheduling, PhaseInitializing, PhaseReady, PhaseUnavailable, PhaseInactive, PhaseTerminating, PhaseDeleting,
	}
}

// Initializer identifies someone who works on a logical cluster before it is ready:
// "<cluster of the workspace type>:<its name>", or "system:<x>" for our own.
// +kubebuilder:validation:Pattern=`^([a-z0-9]([-a-z0-9]*[a-z0-9])?(:[a-z0-9]([-a-z0-9]*[a-z0-9])?)*(:[a-z0-9][a-z0-9]([-a-z0-9]*[a-z0-9])?))|(system:.+)$`
type Initializer string

// InitializerAPIBindings is the initializer that makes the default API bindings of
// the workspace type.
const InitializerAPIBindings Initializer = "system:apibindings"

// Terminator identifies someone who works on a logical cluster while it is being
// deleted. It is spelled as an Initializer is.
// +kubebuilder:validation:Pattern=`^([a-z0-9]([-a-z0-9]*[a-z0-9])?(:[a-z0-9]([-a-z0-9]*[a-z0-9])?)*(:[a-z0-9][a-z0-9]([-a-z0-9]*[a-z0-9])?))|(system:.+)$`
type Terminator string
