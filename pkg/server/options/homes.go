package options

import "github.com/spf13/pflag"

// HomeOptions are about the workspaces that people get for themselves.
type HomeOptions struct {
	// Enabled lets people have home workspaces.
	Enabled bool
	// CreatorGroups are the groups whose members may have one.
	CreatorGroups []string
}

func newHomeOptions() HomeOptions {
	return HomeOptions{Enabled: true, CreatorGroups: []string{"system:authenticated"}}
}

// AddFlags adds the flags of the group to fs.
func (o *HomeOptions) AddFlags(fs *pflag.FlagSet) {
	fs.BoolVar(&o.Enabled, "enable-home-workspaces", o.Enabled,
		"Give each user a workspace, created when it is first asked for.")
	fs.StringSliceVar(&o.CreatorGroups, "home-workspaces-home-creator-groups", o.CreatorGroups,
		"Groups whose members may have a home workspace.")
}
