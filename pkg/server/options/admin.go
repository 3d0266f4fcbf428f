package options

import "github.com/spf13/pflag"

// AdminOptions say where the admin battery keeps its files.
type AdminOptions struct {
	// KubeconfigPath is the kubeconfig to write; admin.kubeconfig in the root directory
	// if empty.
	KubeconfigPath string
	// TokenHashPath is the file with the hash of the shard-admin token;
	// .admin-token-store in the root directory if empty.
	TokenHashPath string
}

// AddFlags adds the flags of the group to fs.
func (o *AdminOptions) AddFlags(fs *pflag.FlagSet) {
	fs.StringVar(&o.KubeconfigPath, "kubeconfig-path", o.KubeconfigPath,
		"Where to write the kubeconfig of the admin battery. (default <root-directory>/admin.kubeconfig)")
	fs.StringVar(&o.TokenHashPath, "authentication-admin-token-path", o.TokenHashPath,
		"Where to keep the hash of the shard-admin token. (default <root-directory>/.admin-token-store)")
}

// Admin is where the admin battery keeps its files.
type Admin struct {
	// KubeconfigPath is the kubeconfig to write.
	KubeconfigPath string
	// TokenHashPath is the file with the hash of the shard-admin token.
	TokenHashPath string
}
