// Package resourcequota is the admission plugin that charges objects to the
// ResourceQuotas that count them, before they are created, and refuses what exceeds one. So it does with changes of those that
// are measured.
//
// It says which requests create or change something; what quotas there are, and what is used of
// them, is the business of the ledger. It comes last: what is refused for another reason
// is not charged.
package resourcequota
