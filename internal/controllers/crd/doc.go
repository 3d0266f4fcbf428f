// Package crd keeps the status of CustomResourceDefinitions, tells the catalog of
// them, and removes their instances when they go.
//
// What five controllers of upstream decide one after the other, each with a write of
// its own, is decided here at once: accepted names and the conditions NamesAccepted,
// Established, NonStructuralSchema and KubernetesAPIApprovalPolicyConformant. A new
// definition is established by one write.
//
// A definition that is being deleted passes through these steps; each is taken by
// looking at what there is, so that any of them may be repeated:
//
//	catalog told (no more creates) → instances deleted → none left → finalizer removed
//
// Decide and DecideTermination are pure. Reconciler gathers what they need and applies
// what they say. Names are claimed per cluster: two definitions of one cluster are
// never decided at the same time, those of different clusters may be.
package crd
