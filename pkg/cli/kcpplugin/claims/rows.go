package claims

import (
	"cmp"
	"slices"

	apisv1alpha2 "github.com/forkless/kcp/pkg/apis/apis/v1alpha2"
	"github.com/forkless/kcp/pkg/cli/claim"
	"github.com/forkless/kcp/pkg/cli/display"
	"github.com/forkless/kcp/pkg/cli/table"
)

// What is known about the answer to a claim.
const (
	reasonApplied       = "Applied"
	reasonNotClaimed    = "NotClaimed"
	reasonOtherIdentity = "OtherIdentity"
	reasonOtherVerbs    = "OtherVerbs"
	reasonPending       = "Pending"

	statusOpen = "Open"
	// nothing stands where there is nothing to say.
	nothing = "-"
)

// row is a claim as it is shown.
type row struct {
	binding, resource, verbs, status        string
	identity, selector, exportVerbs, reason string
}

// column is a column of the table: its title, and where its cells come from.
type column struct {
	table.Column
	cell func(row) string
}

var (
	verbsColumn = column{table.Column{Title: "VERBS"}, func(r row) string { return r.verbs }}
	columns     = []column{
		{table.Column{Title: "APIBINDING", Shrink: table.Cut}, func(r row) string { return r.binding }},
		{table.Column{Title: "GROUP-RESOURCE", Shrink: table.Cut}, func(r row) string { return r.resource }},
		verbsColumn,
		{table.Column{Title: "STATUS"}, func(r row) string { return r.status }},
	}
	wideColumns = []column{
		{table.Column{Title: "IDENTITY", Shrink: table.Cut}, func(r row) string { return r.identity }},
		{table.Column{Title: "SELECTOR", Shrink: table.Cut}, func(r row) string { return r.selector }},
		{table.Column{Title: "EXPORT-VERBS"}, func(r row) string { return r.exportVerbs }},
		{table.Column{Title: "STATE-REASON"}, func(r row) string { return r.reason }},
	}
)

// shown returns the columns to print. old says that the server knows no verbs in claims.
func shown(old, wide bool) []column {
	show := slices.Clone(columns)
	if old {
		show = slices.DeleteFunc(show, func(c column) bool { return c.Title == verbsColumn.Title })
	}
	if wide {
		show = append(show, wideColumns...)
	}
	return show
}

func newTable(d display.Display, columns []column) *table.Table {
	titles := make([]table.Column, 0, len(columns))
	for _, c := range columns {
		titles = append(titles, c.Column)
	}
	return table.New(d, titles...)
}

func (r row) cells(columns []column) []string {
	cells := make([]string, 0, len(columns))
	for _, c := range columns {
		cells = append(cells, c.cell(r))
	}
	return cells
}

// claimRows returns the claims of a binding: those that are answered, in the order in which
// they stand there, then those that are not.
func claimRows(binding *apisv1alpha2.APIBinding) []row {
	var all []row
	for _, answer := range binding.Spec.PermissionClaims {
		r := newRow(binding, answer.PermissionClaim)
		r.status = cmp.Or(string(answer.State), statusOpen)
		r.selector = claim.FormatSelector(answer.Selector)
		if asked := find(binding.Status.ExportPermissionClaims, answer.PermissionClaim); asked != nil {
			r.exportVerbs = claim.FormatVerbs(asked.Verbs)
		}
		if answer.State == apisv1alpha2.ClaimAccepted {
			r.reason = reason(binding, answer.PermissionClaim)
		}
		all = append(all, r)
	}
	for _, open := range claim.Open(binding) {
		if find(claimsOf(binding.Spec.PermissionClaims), open) != nil {
			// It is there, without an answer.
			continue
		}
		r := newRow(binding, open)
		r.status, r.exportVerbs = statusOpen, claim.FormatVerbs(open.Verbs)
		all = append(all, r)
	}
	return all
}

func newRow(binding *apisv1alpha2.APIBinding, c apisv1alpha2.PermissionClaim) row {
	return row{
		binding: binding.Name, resource: claim.Resource(c), verbs: claim.FormatVerbs(c.Verbs),
		identity: cmp.Or(c.IdentityHash, nothing), selector: nothing, exportVerbs: nothing, reason: nothing,
	}
}

// reason says what became of a claim that was accepted.
func reason(binding *apisv1alpha2.APIBinding, accepted apisv1alpha2.PermissionClaim) string {
	asked := find(binding.Status.ExportPermissionClaims, accepted)
	applied := slices.ContainsFunc(binding.Status.AppliedPermissionClaims, func(c apisv1alpha2.ScopedPermissionClaim) bool {
		return claim.SameObjects(c.PermissionClaim, accepted)
	})
	switch {
	case asked != nil && !claim.SameVerbs(asked.Verbs, accepted.Verbs):
		return reasonOtherVerbs
	case applied:
		return reasonApplied
	case asked != nil:
		return reasonPending
	case slices.ContainsFunc(binding.Status.ExportPermissionClaims, func(c apisv1alpha2.PermissionClaim) bool {
		return c.GroupResource == accepted.GroupResource
	}):
		return reasonOtherIdentity
	default:
		return reasonNotClaimed
	}
}

func find(claims []apisv1alpha2.PermissionClaim, c apisv1alpha2.PermissionClaim) *apisv1alpha2.PermissionClaim {
	i := slices.IndexFunc(claims, func(other apisv1alpha2.PermissionClaim) bool { return claim.SameObjects(other, c) })
	if i < 0 {
		return nil
	}
	return &claims[i]
}

func claimsOf(answers []apisv1alpha2.AcceptablePermissionClaim) []apisv1alpha2.PermissionClaim {
	claims := make([]apisv1alpha2.PermissionClaim, 0, len(answers))
	for _, a := range answers {
		claims = append(claims, a.PermissionClaim)
	}
	return claims
}
