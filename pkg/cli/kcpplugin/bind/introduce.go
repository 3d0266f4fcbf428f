package bind

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	apisv1alpha2 "github.com/forkless/kcp/pkg/apis/apis/v1alpha2"
	"github.com/forkless/kcp/pkg/cli/claim"
	"github.com/forkless/kcp/pkg/cli/client"
	"github.com/forkless/kcp/pkg/cli/display"
	"github.com/forkless/kcp/pkg/cli/table"
)

// shortIdentity is how much of an identity people compare.
const shortIdentity = 12

// introduce shows who wants what, before it is asked whether they may.
func (o *Options) introduce(export *client.Export, apis *client.APIs) {
	w := o.finder.Streams.ErrOut
	identity := ""
	if hash := export.Status.IdentityHash; hash != "" {
		identity = fmt.Sprintf(" (identity %s)", short(hash))
	}
	_, _ = fmt.Fprintf(w, "%s from %s%s wants to work in %s:\n\n", o.exportName, o.exportPath, identity, apis.Workspace())
	drawExport(w, o.finder.Display.For(w), export)
	_, _ = fmt.Fprintln(w)
}

// titleOfOwn is the widest title of what drawExport shows.
const titleOfOwn = "its own APIs"

// drawExport shows the export's own APIs and its claims, in columns. That it cannot be
// shown has no consequence: the question that follows will fail.
func drawExport(w io.Writer, d display.Display, export *client.Export) {
	own := table.New(d, table.Column{}, table.Column{Shrink: table.Cut})
	own.NoHeaders = true
	title := titleOfOwn
	for _, line := range ownAPIs(export.Spec.Resources) {
		own.Row("  "+title, line)
		title = ""
	}
	_ = own.Print(w)
	claims := table.New(d, table.Column{}, table.Column{Shrink: table.Cut}, table.Column{Shrink: table.Cut}, table.Column{Shrink: table.Cut})
	claims.NoHeaders = true
	title = "asks for"
	for _, c := range export.Spec.PermissionClaims {
		claims.Row("  "+display.Pad(title, len(titleOfOwn)), named(c), strings.Join(c.Verbs, " "), objects(c))
		title = ""
	}
	_ = claims.Print(w)
}

// ownAPIs returns a line for each group: "certificates, issuers (cert-manager.io)".
func ownAPIs(resources []apisv1alpha2.ResourceSchema) []string {
	names := map[string][]string{}
	var groups []string
	for _, r := range resources {
		if names[r.Group] == nil {
			groups = append(groups, r.Group)
		}
		names[r.Group] = append(names[r.Group], r.Name)
	}
	slices.Sort(groups)
	var lines []string
	for _, group := range groups {
		line := strings.Join(names[group], ", ")
		if group != "" {
			line += " (" + group + ")"
		}
		lines = append(lines, line)
	}
	return lines
}

func named(c apisv1alpha2.PermissionClaim) string {
	if c.Group == "" {
		return c.Resource
	}
	return fmt.Sprintf("%s (%s)", c.Resource, c.Group)
}

// objects says which objects a claim is about.
func objects(c apisv1alpha2.PermissionClaim) string {
	var which []string
	if selector := claim.DefaultSelector(c); !selector.MatchAll {
		which = append(which, "labelled "+claim.FormatSelector(selector))
	}
	if c.IdentityHash != "" {
		which = append(which, "identity "+short(c.IdentityHash))
	}
	return cmp.Or(strings.Join(which, ", "), "all objects")
}

func short(hash string) string { return hash[:min(len(hash), shortIdentity)] }
