package completion

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/forkless/kcp/pkg/cli/client"
	"github.com/forkless/kcp/pkg/cli/diagnosis/hook"
	"github.com/forkless/kcp/pkg/cli/ws/target"
	"github.com/forkless/kcp/pkg/logicalcluster"
)

// completer finds candidates for the commands of one program.
type completer struct {
	finder   *target.Finder
	cache    *cache
	patience time.Duration
}

// arguments are the sources by what usage lines call their arguments.
func (c *completer) arguments() map[string]source {
	return map[string]source{
		"PATH":        c.workspaces,
		"WORKSPACE":   c.workspaces,
		"PATH:EXPORT": c.exports,
		"BINDING":     c.bindings,
		"APIBINDING":  c.bindings,
		"TYPE":        c.types,
		"INITIALIZER": c.hooks(hook.Initializer),
		"TERMINATOR":  c.hooks(hook.Terminator),
		"CONTEXT":     c.contexts,
	}
}

// flags are the sources by the names of flags, which mean the same with every command.
func (c *completer) flags() map[string]source {
	return map[string]source{
		"workspace":         c.workspaces,
		"type":              c.types,
		"parent-type":       c.types,
		"extend":            c.types,
		"default-child":     c.types,
		"allow-child":       c.types,
		"allow-parent":      c.types,
		"bind":              c.exports,
		"bind-lifecycle":    fixed("InitializeOnly", "Maintain"),
		"under":             c.workspaces,
		"resource":          c.claims,
		"location-selector": c.shards,
		"context":           c.contexts,
		"cluster":           c.clusters,
		"user":              c.users,
		"color":             fixed("auto", "always", "never"),
		"dry-run":           fixed("none", "client", "server"),
		"for":               fixed("ready", "deleted", "phase=Ready", "phase=Initializing", "phase=Terminating", "condition="),
		"phase":             fixed("Scheduling", "Initializing", "Ready", "Unavailable", "Inactive", "Terminating", "Deleting"),
		"output":            formats,
		"shell":             fixed("bash", "zsh", "fish", "powershell"),
	}
}

// fixed is a source that knows all candidates. After one that ends with "=" typing goes
// on.
func fixed(candidates ...string) source {
	return func(_ context.Context, q question) ([]cobra.Completion, cobra.ShellCompDirective, error) {
		found := withPrefix(candidates, q.typed)
		if len(found) > 0 && !slices.ContainsFunc(found, func(word string) bool { return !strings.HasSuffix(word, "=") }) {
			return found, path, nil
		}
		return found, words, nil
	}
}

// formats completes the output format, of those that the help of the flag names.
func formats(ctx context.Context, q question) ([]cobra.Completion, cobra.ShellCompDirective, error) {
	f := q.cmd.Flag("output")
	if f == nil {
		return nil, words, nil
	}
	_, listed, _ := strings.Cut(f.Usage, ": ")
	return fixed(strings.Split(strings.ReplaceAll(listed, "...", ""), ", ")...)(ctx, q)
}

func withPrefix(candidates []string, typed string) []string {
	var found []string
	for _, candidate := range candidates {
		if strings.HasPrefix(candidate, typed) {
			found = append(found, candidate)
		}
	}
	return found
}

// name is something with a name, and what is said about it.
type name struct {
	Name        string `json:"name"`
	Description string `json:"description,omitempty"`
}

// candidates returns those of names that begin with typed, with before in front of them.
func candidates(names []name, before, typed string) []cobra.Completion {
	var found []cobra.Completion
	for _, n := range names {
		if strings.HasPrefix(n.Name, typed) {
			found = append(found, cobra.CompletionWithDesc(before+n.Name, n.Description))
		}
	}
	return found
}

// finds makes the requests that find names in the workspace p.
type finds func(ctx context.Context, c *client.Client, p logicalcluster.Path) ([]name, error)

// names returns what find finds in the workspace that arg names, or what it found a moment
// ago. kind tells apart what is looked for.
func (c *completer) names(ctx context.Context, kind, arg string, find finds) ([]name, error) {
	origin, err := c.finder.Origin()
	if err != nil {
		return nil, err
	}
	user, stored := c.userOf(origin)
	key := cacheKey(kind, origin.Base, origin.Path.String(), arg, user)
	if names, ok := c.cache.get(key); ok && stored {
		return names, nil
	}
	p, err := origin.Workspace(ctx, arg)
	if err != nil {
		return nil, err
	}
	server, err := origin.Client()
	if err != nil {
		return nil, err
	}
	names, err := find(ctx, server, p)
	if err == nil && stored {
		c.cache.put(key, names)
	}
	return names, err
}

// userOf returns who asks. Credentials of the command line are no name, so that nothing
// is kept of what they may see.
func (c *completer) userOf(origin *target.Origin) (user string, stored bool) {
	o := c.finder.Flags.Overrides
	if o.AuthInfo.Token != "" || o.AuthInfo.Password != "" || o.AuthInfo.ClientCertificate != "" {
		return "", false
	}
	who := append([]string{c.finder.Flags.Path, origin.Context(), o.Context.AuthInfo, o.AuthInfo.Impersonate, o.AuthInfo.ImpersonateUID},
		o.AuthInfo.ImpersonateGroups...)
	return strings.Join(who, "\n"), true
}
