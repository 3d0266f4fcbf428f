package bind

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"k8s.io/cli-runtime/pkg/printers"

	apisv1alpha2 "github.com/forkless/kcp/pkg/apis/apis/v1alpha2"
	"github.com/forkless/kcp/pkg/cli/claim"
	"github.com/forkless/kcp/pkg/cli/client"
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
	drawExport(w, export)
	_, _ = fmt.Fprintln(w)
}

// drawExport shows the export's own APIs and its claims, in columns.
func drawExport(w io.Writer, export *client.Export) {
	tabs := printers.GetNewTabWriter(w)
	title := "its own APIs"
	for _, line := range ownAPIs(export.Spec.Resources) {
		_, _ = fmt.Fprintf(tabs, "  %s\t%s\n", title, line)
		title = ""
	}
	_ = tabs.Flush()
	title = "asks for"
	for _, c := range export.Spec.PermissionClaims {
		_, _ = fmt.Fprintf(tabs, "  %-*s\t%s\t%s\t%s\n", len("its own APIs"), title, named(c), strings.Join(c.Verbs, " "), objects(c))
		title = ""
	}
	_ = tabs.Flush()
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
	which := "all objects"
	if selector := claim.DefaultSelector(c); !selector.MatchAll {
		which = "labelled " + claim.FormatSelector(selector)
	}
	if c.IdentityHash != "" {
		which += ", identity " + short(c.IdentityHash)
	}
	return which
}

func short(hash string) string { return hash[:min(len(hash), shortIdentity)] }
