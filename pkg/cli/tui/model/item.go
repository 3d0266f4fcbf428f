package model

import (
	"time"

	"github.com/forkless/kcp/pkg/logicalcluster"
)

// Item is what the tree shows of a workspace. It is small: there may be tens of
// thousands.
type Item struct {
	Name string
	// Path is where the workspace is, zero if it has no place yet.
	Path logicalcluster.Path
	// Type is "<path>:<name>", or less of it.
	Type string
	// Phase is that of the Workspace, PhaseTerminating while it is being deleted.
	Phase string
	// Since is when the phase began, as far as that is known.
	Since time.Time
	// Reason says in a line what a workspace waits for that is not ready.
	Reason  string
	Created time.Time
	Cluster string
	// Mount is "<kind>/<name>" of what is mounted, empty for ordinary workspaces.
	Mount string
	// Away is a mount that leads to no workspace, so that nobody can go there.
	Away bool
}

// The phases that the tree tells apart.
const (
	phaseScheduling   = "Scheduling"
	phaseInitializing = "Initializing"
	phaseReady        = "Ready"
	phaseUnavailable  = "Unavailable"
	phaseInactive     = "Inactive"
	// PhaseTerminating is the phase of workspaces that are being deleted.
	PhaseTerminating = "Terminating"
	phaseDeleting    = "Deleting"
)

// leaving says whether the workspace is being deleted.
func (i *Item) leaving() bool { return i.Phase == PhaseTerminating || i.Phase == phaseDeleting }

// settled says whether there is nothing to wait for.
func (i *Item) settled() bool { return i.Phase == phaseReady || i.Phase == "" }
