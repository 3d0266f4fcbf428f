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

// titleOfOwn and titleOfClaims stand before what an export is and wants.
const (
	titleOfOwn    = "its own APIs"
	titleOfClaims = "asks for"
)

// drawExport shows the export's own APIs and its claims: in columns, or below each other
// where they do not fit beside each other. Nothing is cut, whatever the width: this is
// what somebody is about to agree to.
func drawExport(w io.Writer, d display.Display, export *client.Export) {
	text := inColumns(export)
	for line := range strings.Lines(text) {
		if d.Width > 0 && display.Cells(strings.TrimRight(line, "\n")) > d.Width {
			text = stacked(export)
			break
		}
	}
	// That it cannot be shown has no consequence: the question that follows will fail.
	_, _ = io.WriteString(w, text)
}

func inColumns(export *client.Export) string {
	var text strings.Builder
	own := table.New(display.Display{}, make([]table.Column, 2)...)
	claims := table.New(display.Display{}, make([]table.Column, 4)...)
	own.NoHeaders, claims.NoHeaders = true, true
	title := titleOfOwn
	for _, line := range ownAPIs(export.Spec.Resources) {
		own.Row("  "+title, line)
		title = ""
	}
	title = titleOfClaims
	for _, c := range export.Spec.PermissionClaims {
		claims.Row("  "+display.Pad(title, len(titleOfOwn)), named(c), strings.Join(c.Verbs, " "), objects(c))
		title = ""
	}
	// A Builder takes everything.
	_, _ = own.Print(&text), claims.Print(&text)
	return text.String()
}

func stacked(export *client.Export) string {
	var text strings.Builder
	fmt.Fprintf(&text, "  %s\n", titleOfOwn)
	for _, line := range ownAPIs(export.Spec.Resources) {
		fmt.Fprintf(&text, "    %s\n", display.Line(line))
	}
	fmt.Fprintf(&text, "  %s\n", titleOfClaims)
	for _, c := range export.Spec.PermissionClaims {
		fmt.Fprintf(&text, "    %s\n      %s\n      %s\n", display.Line(named(c)), display.Line(strings.Join(c.Verbs, " ")), display.Line(objects(c)))
	}
	return text.String()
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
