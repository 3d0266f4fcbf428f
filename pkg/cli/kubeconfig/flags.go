package kubeconfig

import (
	"github.com/spf13/pflag"
	"k8s.io/client-go/tools/clientcmd"
)

// Flags are the connection flags of a command: where the kubeconfig is and what to
// use instead of what it says. The zero value stands for no flags.
type Flags struct {
	// Path is the one file to read and write, "" for those that the environment
	// variable KUBECONFIG lists, or the one in the home directory.
	Path string
	// Overrides take precedence over the kubeconfig, for this call only.
	Overrides clientcmd.ConfigOverrides
	// Unattended says that nobody can be asked for credentials: a program that the
	// kubeconfig names for getting them is told so.
	Unattended bool
}

// AddFlags adds the connection flags to flags.
func (f *Flags) AddFlags(flags *pflag.FlagSet) {
	flags.StringVar(&f.Path, clientcmd.RecommendedConfigPathFlag, f.Path, "Path to the kubeconfig file to use")

	names := clientcmd.RecommendedConfigOverrideFlags("")
	names.ClusterOverrideFlags.APIServer.ShortName = "s"
	clientcmd.BindOverrideFlags(&f.Overrides, flags, names)
}

// Store returns the files that the flags and the environment name.
func (f *Flags) Store() *Store {
	options := clientcmd.NewDefaultPathOptions()
	options.LoadingRules.ExplicitPath = f.Path
	return newStore(options)
}

// Load reads the kubeconfig. The result is a snapshot.
func (f *Flags) Load() (*Snapshot, error) {
	store := f.Store()
	config, err := store.read()
	if err != nil {
		return nil, err
	}
	return &Snapshot{config: config, overrides: f.Overrides, access: store.access, unattended: f.Unattended}, nil
}
