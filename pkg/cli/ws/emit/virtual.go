package emit

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	tenancyv1alpha1 "github.com/forkless/kcp/pkg/apis/tenancy/v1alpha1"
	"github.com/forkless/kcp/pkg/cli/client"
	"github.com/forkless/kcp/pkg/cli/run"
	"github.com/forkless/kcp/pkg/logicalcluster"
)

// The kinds of virtual workspaces that a kubeconfig can be made for.
const (
	ofExport     = "apiexport"
	initializing = string(tenancyv1alpha1.VirtualWorkspaceInitializing)
	terminating  = string(tenancyv1alpha1.VirtualWorkspaceTerminating)
)

// virtual names a virtual workspace.
type virtual struct {
	kind, name string
}

// parseVirtual reads KIND/NAME.
func parseVirtual(s string) (virtual, error) {
	kind, name, _ := strings.Cut(s, "/")
	if !slices.Contains([]string{ofExport, initializing, terminating}, kind) || name == "" {
		return virtual{}, fmt.Errorf("--virtual %q is none of apiexport/NAME, initializing/TYPE, terminating/TYPE", s)
	}
	return virtual{kind: kind, name: name}, nil
}

// endpoint is an address of a virtual workspace and the shard that it is about, if that
// is known.
type endpoint struct{ url, shard string }

// find returns the addresses of the virtual workspace that belongs to something in p.
func (v virtual) find(ctx context.Context, c *client.Client, p logicalcluster.Path) ([]endpoint, error) {
	urls, err := v.urls(ctx, c, p)
	if err != nil {
		return nil, err
	}
	endpoints := make([]endpoint, 0, len(urls))
	for _, url := range urls {
		// Requests about all logical clusters at once are what these addresses are for.
		endpoints = append(endpoints, endpoint{url: strings.TrimRight(url, "/") + "/clusters/" + logicalcluster.Wildcard.String()})
	}
	return endpoints, nil
}

func (v virtual) urls(ctx context.Context, c *client.Client, p logicalcluster.Path) ([]string, error) {
	if v.kind == ofExport {
		urls, err := c.ExportEndpoints(ctx, p, v.name)
		switch {
		case err != nil:
			return nil, c.Explain(ctx, p, err)
		case len(urls) == 0:
			return nil, run.Hint(fmt.Errorf("the APIExport %s in %s has no endpoints: it is not there, or nobody has bound it", v.name, p),
				"kubectl kcp exports :"+p.String()+" lists what is there")
		}
		return urls, nil
	}
	t, err := c.WorkspaceType(ctx, p, v.name)
	if apierrors.IsNotFound(err) {
		return nil, run.Hint(c.Explain(ctx, p, err), "kubectl get workspacetypes shows those there are; -w or PATH names their workspace")
	}
	if err != nil {
		return nil, err
	}
	var urls []string
	for _, w := range t.Status.VirtualWorkspaces {
		if string(w.Type) == v.kind {
			urls = append(urls, w.URL)
		}
	}
	if len(urls) == 0 {
		return nil, fmt.Errorf("the WorkspaceType %s in %s has no address for %s workspaces", v.name, p, v.kind)
	}
	return urls, nil
}

// locate says which shard each endpoint is about, as far as the caller may know.
func locate(endpoints []endpoint, shards map[string]string) {
	for i := range endpoints {
		for name, url := range shards {
			if url != "" && strings.HasPrefix(endpoints[i].url, strings.TrimRight(url, "/")+"/") {
				endpoints[i].shard = name
			}
		}
	}
}

// choose returns the endpoint about a shard.
func choose(endpoints []endpoint, shard string) ([]endpoint, error) {
	var known []string
	for _, e := range endpoints {
		if e.shard == shard {
			return []endpoint{e}, nil
		}
		if e.shard != "" {
			known = append(known, e.shard)
		}
	}
	if len(known) == 0 {
		return nil, errors.New("--shard: which shards the endpoints are about may not be read, or is not known")
	}
	slices.Sort(known)
	return nil, fmt.Errorf("--shard: there is no endpoint for shard %q, there are some for %s", shard, strings.Join(known, ", "))
}
