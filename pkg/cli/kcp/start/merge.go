package start

import (
	"context"
	"errors"
	"fmt"
	"time"

	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/clientcmd/api"

	"github.com/forkless/kcp/internal/authn/admin"
	"github.com/forkless/kcp/pkg/cli/kcp/running"
	"github.com/forkless/kcp/pkg/cli/kubeconfig"
	"github.com/forkless/kcp/pkg/cli/run"
	"github.com/forkless/kcp/pkg/server/options"
)

const (
	// mergedName is what the entries in the kubeconfig of the user are called unless
	// --merge-kubeconfig says otherwise.
	mergedName = "kcp"
	// unmergeTimeout bounds how long the end of a server waits for a locked kubeconfig.
	unmergeTimeout = 10 * time.Second
)

// checkMerge says, before anything is started, that the kubeconfig of the user cannot
// take the entries of the server.
func (o *Options) checkMerge(completed *options.Completed) error {
	if o.MergeName == "" {
		return nil
	}
	if completed.RootDirectory == "" || !completed.Batteries.Has(options.AdminBattery) {
		return errors.New("--merge-kubeconfig needs a root directory and the admin battery")
	}
	snapshot, err := (&kubeconfig.Flags{}).Load()
	if err != nil {
		return fmt.Errorf("--merge-kubeconfig: %w", err)
	}
	return mergeHint(snapshot.CheckMerge(o.MergeName, completed.RootDirectory, runs))
}

// mergeHint adds to an error what can be done about it.
func mergeHint(err error) error {
	if _, taken := errors.AsType[*kubeconfig.TakenError](err); taken {
		return run.Hint(fmt.Errorf("--merge-kubeconfig: %w", err), "--merge-kubeconfig=NAME takes another name")
	}
	return err
}

// merge puts the server into the kubeconfig of the user, and returns what takes it out
// again.
func (o *Options) merge(ctx context.Context, completed *options.Completed) (undo func() error, err error) {
	merged, err := mergedFrom(completed.Admin.KubeconfigPath)
	if err != nil {
		return nil, err
	}
	merged.Name, merged.RootDirectory = o.MergeName, completed.RootDirectory
	store := (&kubeconfig.Flags{}).Store()
	if err := store.Create(ctx, func(config *api.Config) error { return kubeconfig.Merge(config, merged, runs) }); err != nil {
		return nil, err
	}
	return func() error {
		// ctx has ended, perhaps.
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), unmergeTimeout)
		defer cancel()
		return store.Edit(ctx, func(config *api.Config) error {
			kubeconfig.Unmerge(config, func(root string) bool { return root == merged.RootDirectory })
			return nil
		})
	}, nil
}

// mergedFrom returns the entries of a server by the kubeconfig of its admins.
func mergedFrom(path string) (kubeconfig.Merged, error) {
	config, err := clientcmd.LoadFromFile(path)
	if err != nil {
		return kubeconfig.Merged{}, fmt.Errorf("reading the kubeconfig of the server: %w", err)
	}
	merged := kubeconfig.Merged{Cluster: config.Clusters[admin.RootContext], User: config.AuthInfos[admin.AdminUser]}
	if merged.Cluster == nil || merged.User == nil {
		return kubeconfig.Merged{}, fmt.Errorf("%s has no %s in %s", path, admin.AdminUser, admin.RootContext)
	}
	return merged, nil
}

// runs says whether there is a server in a root directory. In doubt there is.
func runs(rootDirectory string) bool {
	_, found, err := running.In(rootDirectory)
	return found || err != nil
}
