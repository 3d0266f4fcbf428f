package options

import (
	"errors"

	"github.com/spf13/pflag"
)

// ControllerOptions say what runs beside the API.
type ControllerOptions struct {
	// Run makes the server run its controllers.
	Run bool
	// Only are the controllers to run, for tests; empty means all.
	Only []string
	// RunVirtualWorkspaces makes the server serve virtual workspaces itself.
	RunVirtualWorkspaces bool
	// LeaderElection says whether one of several servers is to run the controllers.
	LeaderElection                              bool
	LeaderElectionNamespace, LeaderElectionName string
}

func newControllerOptions() ControllerOptions {
	return ControllerOptions{
		Run:                     true,
		RunVirtualWorkspaces:    true,
		LeaderElectionNamespace: "kube-system",
		LeaderElectionName:      "kcp-controllers",
	}
}

// AddFlags adds the flags of the group to fs.
func (o *ControllerOptions) AddFlags(fs *pflag.FlagSet) {
	fs.BoolVar(&o.Run, "run-controllers", o.Run, "Run the controllers in this process.")
	fs.StringSliceVar(&o.Only, "unsupported-run-individual-controllers", o.Only,
		"Run these controllers only. For tests of controllers.")
	fs.Lookup("unsupported-run-individual-controllers").Hidden = true
	fs.BoolVar(&o.RunVirtualWorkspaces, "run-virtual-workspaces", o.RunVirtualWorkspaces,
		"Serve virtual workspaces in this process.")
	fs.BoolVar(&o.LeaderElection, "enable-leader-election", o.LeaderElection,
		"Run the controllers only while holding a lease.")
	fs.StringVar(&o.LeaderElectionNamespace, "leader-election-namespace", o.LeaderElectionNamespace,
		"Namespace of the lease, in system:admin.")
	fs.StringVar(&o.LeaderElectionName, "leader-election-name", o.LeaderElectionName, "Name of the lease.")
}

// Validate says what is wrong with the options.
func (o *ControllerOptions) Validate() []error {
	if o.LeaderElection && (o.LeaderElectionNamespace == "" || o.LeaderElectionName == "") {
		return []error{errors.New("--enable-leader-election needs --leader-election-namespace and --leader-election-name")}
	}
	return nil
}
