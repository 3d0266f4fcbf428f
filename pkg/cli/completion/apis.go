package completion

import (
	"context"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	apisv1alpha2 "github.com/forkless/kcp/pkg/apis/apis/v1alpha2"
	"github.com/forkless/kcp/pkg/cli/claim"
	"github.com/forkless/kcp/pkg/cli/client"
	"github.com/forkless/kcp/pkg/logicalcluster"
)

// exports completes the path of an export: workspaces as long as typing has to go on, and
// the exports in the workspace that has been typed.
func (c *completer) exports(ctx context.Context, q question) ([]cobra.Completion, cobra.ShellCompDirective, error) {
	at := split(q.typed)
	if at.absolute || !strings.Contains(at.before, ":") {
		// The first segment; the path of an export is always absolute.
		return candidates(c.tops(), strings.TrimSuffix(at.before, "/"), at.typed), path, nil
	}
	workspace := ":" + strings.TrimPrefix(at.workspace, ":")
	exports, err := c.names(ctx, "exports", workspace, findExports)
	if err != nil {
		exports = nil
	}
	found := candidates(exports, at.before, at.typed)
	below, err := c.names(ctx, "workspaces", workspace, findWorkspaces)
	if err != nil && len(found) == 0 {
		return nil, words, err
	}
	inside := candidates(below, at.before, at.typed)
	if len(inside) == 0 {
		return found, words, nil
	}
	return append(found, inside...), path, nil
}

func findExports(ctx context.Context, c *client.Client, p logicalcluster.Path) ([]name, error) {
	apis, err := c.APIs(ctx, p)
	if err != nil {
		return nil, err
	}
	exports, err := apis.Exports(ctx)
	if err != nil {
		return nil, err
	}
	var names []name
	for i := range exports {
		var resources []string
		for _, r := range exports[i].Spec.Resources {
			resources = append(resources, r.Name)
		}
		names = append(names, name{Name: exports[i].Name, Description: "export of " + strings.Join(resources, ", ")})
	}
	return names, nil
}

// bindings completes the name of a binding.
func (c *completer) bindings(ctx context.Context, q question) ([]cobra.Completion, cobra.ShellCompDirective, error) {
	names, err := c.names(ctx, "bindings", q.flag("workspace"), find(apisv1alpha2.GroupVersion.WithResource("apibindings")))
	return candidates(names, "", q.typed), words, err
}

// claims completes the resource of a claim that has no answer yet, of the binding that is
// the first argument.
func (c *completer) claims(ctx context.Context, q question) ([]cobra.Completion, cobra.ShellCompDirective, error) {
	if len(q.args) == 0 {
		return nil, words, nil
	}
	names, err := c.names(ctx, "claims of "+q.args[0], q.flag("workspace"), func(ctx context.Context, c *client.Client, p logicalcluster.Path) ([]name, error) {
		bindings, err := c.Bindings(ctx, p)
		if err != nil {
			return nil, err
		}
		i := slices.IndexFunc(bindings, func(b client.Binding) bool { return b.Name == q.args[0] })
		if i < 0 {
			return nil, nil
		}
		var names []name
		for _, open := range claim.Open(&bindings[i].APIBinding) {
			names = append(names, name{Name: claim.Resource(open), Description: claim.FormatVerbs(open.Verbs)})
		}
		return names, nil
	})
	return candidates(names, "", q.typed), words, err
}

// contexts completes the name of a context in the kubeconfig.
func (c *completer) contexts(_ context.Context, q question) ([]cobra.Completion, cobra.ShellCompDirective, error) {
	snapshot, err := c.finder.Flags.Load()
	if err != nil {
		return nil, words, err
	}
	return withPrefix(snapshot.Contexts(), q.typed), words, nil
}

// clusters completes the name of a cluster in the kubeconfig.
func (c *completer) clusters(_ context.Context, q question) ([]cobra.Completion, cobra.ShellCompDirective, error) {
	snapshot, err := c.finder.Flags.Load()
	if err != nil {
		return nil, words, err
	}
	return withPrefix(snapshot.Clusters(), q.typed), words, nil
}

// users completes the name of a user in the kubeconfig.
func (c *completer) users(_ context.Context, q question) ([]cobra.Completion, cobra.ShellCompDirective, error) {
	snapshot, err := c.finder.Flags.Load()
	if err != nil {
		return nil, words, err
	}
	return withPrefix(snapshot.Users(), q.typed), words, nil
}
