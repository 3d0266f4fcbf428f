package completion

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	tenancyv1alpha1 "github.com/forkless/kcp/pkg/apis/tenancy/v1alpha1"
	"github.com/forkless/kcp/pkg/cli/client"
	"github.com/forkless/kcp/pkg/logicalcluster"
)

// pin begins the name of a workspace that the user has given it.
const pin = "@"

// place is a path that is being typed: the workspace to look in, as an argument that
// names it, and what stands before the segment that is not finished.
type place struct {
	workspace string
	before    string
	typed     string
	// absolute says that the segment is the first one of an absolute path, and so one
	// that no workspace lists.
	absolute bool
}

// split takes a path apart that is being typed.
func split(typed string) place {
	switch typed {
	case "..", "~":
		// These are workspaces already; what comes next is below them.
		return place{workspace: typed, before: typed + ":"}
	}
	i := strings.LastIndexAny(typed, ":/")
	switch {
	case i < 0:
		return place{workspace: ".", typed: typed}
	case i == 0:
		return place{before: typed[:1], typed: typed[1:], absolute: true}
	default:
		return place{workspace: typed[:i], before: typed[:i+1], typed: typed[i+1:]}
	}
}

// workspaces completes a path, a segment at a time.
func (c *completer) workspaces(ctx context.Context, q question) ([]cobra.Completion, cobra.ShellCompDirective, error) {
	at := split(q.typed)
	switch {
	case at.absolute:
		return candidates(c.tops(), at.before, at.typed), path, nil
	case at.before == "" && strings.HasPrefix(at.typed, pin):
		return candidates(c.pins(), pin, strings.TrimPrefix(at.typed, pin)), path, nil
	}
	names, err := c.names(ctx, "workspaces", at.workspace, findWorkspaces)
	return candidates(names, at.before, at.typed), path, err
}

// tops returns the first segments of absolute paths that are known without asking.
func (c *completer) tops() []name {
	tops := []name{{Name: logicalcluster.Root.String()}}
	origin, err := c.finder.Origin()
	if err != nil {
		return tops
	}
	if top, _, _ := strings.Cut(origin.Path.String(), ":"); top != "" && top != tops[0].Name {
		tops = append(tops, name{Name: top})
	}
	return tops
}

// pins returns the names that the user has given to workspaces of this server.
func (c *completer) pins() []name {
	snapshot, err := c.finder.Flags.Load()
	if err != nil {
		return nil
	}
	place, err := snapshot.Place()
	if err != nil {
		return nil
	}
	var names []name
	for _, p := range snapshot.Pins() {
		if p.Base == place.Base {
			names = append(names, name{Name: p.Name, Description: p.Path.String()})
		}
	}
	return names
}

func findWorkspaces(ctx context.Context, c *client.Client, p logicalcluster.Path) ([]name, error) {
	table, err := c.Table(ctx, p, tenancyv1alpha1.GroupVersion.WithResource("workspaces"))
	if err != nil {
		return nil, err
	}
	return namesOf(table, "Type", "Phase"), nil
}

// namesOf returns the names in a table, described by the columns that are called so.
func namesOf(table *metav1.Table, describing ...string) []name {
	column := map[string]int{}
	for i, definition := range table.ColumnDefinitions {
		column[definition.Name] = i
	}
	var names []name
	for _, row := range table.Rows {
		cell := func(title string) string {
			i, ok := column[title]
			if !ok || i >= len(row.Cells) || row.Cells[i] == nil {
				return ""
			}
			return fmt.Sprint(row.Cells[i])
		}
		var descriptions []string
		for _, title := range describing {
			if text := cell(title); text != "" {
				descriptions = append(descriptions, text)
			}
		}
		if n := cell("Name"); n != "" {
			names = append(names, name{Name: n, Description: strings.Join(descriptions, ", ")})
		}
	}
	return names
}

// find returns what finds the names of a resource in a workspace.
func find(gvr schema.GroupVersionResource, describing ...string) finds {
	return func(ctx context.Context, c *client.Client, p logicalcluster.Path) ([]name, error) {
		table, err := c.Table(ctx, p, gvr)
		if err != nil {
			return nil, err
		}
		return namesOf(table, describing...), nil
	}
}
