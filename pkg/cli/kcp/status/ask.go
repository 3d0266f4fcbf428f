package status

import (
	"context"
	"io"
	"time"

	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/clientcmd/api"

	"github.com/forkless/kcp/internal/authn/admin"
	"github.com/forkless/kcp/pkg/cli/client"
	"github.com/forkless/kcp/pkg/cli/kcp/running"
)

// askTimeout bounds how long a server may take to answer: one that hangs is to be shown,
// too.
const askTimeout = 10 * time.Second

// answer is what a server says about itself.
type answer struct {
	// ready says that it answers, and is ready.
	ready bool
	// memory is how many bytes it has, nil if it does not say.
	memory *int64
	// workspaces is how many there are, nil if it does not say.
	workspaces *int64
}

// ask asks a server. What it does not answer is missing.
func ask(ctx context.Context, server running.Server) (a answer) {
	if server.URL == "" || server.Kubeconfig == "" {
		return a
	}
	config, err := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(
		&clientcmd.ClientConfigLoadingRules{ExplicitPath: server.Kubeconfig},
		&clientcmd.ConfigOverrides{CurrentContext: admin.ShardBaseContext, ClusterInfo: api.Cluster{}}).ClientConfig()
	if err != nil {
		return a
	}
	config.Timeout = askTimeout
	c, err := client.New(config, server.URL, io.Discard)
	if err != nil {
		return a
	}
	if a.ready = c.Ready(ctx) == nil; !a.ready {
		return a
	}
	if memory, err := c.Memory(ctx); err == nil {
		a.memory = &memory
	}
	if count, err := c.CountWorkspaces(ctx); err == nil {
		a.workspaces = &count
	}
	return a
}
