// Package ownerreferences is the admission plugin that guards owner references: changing
// those of an object takes the permission to delete it, and keeping an owner from being
// deleted (blockOwnerDeletion) the permission to set finalizers of the owner.
//
// The rules are those of upstream's OwnerReferencesPermissionEnforcement, with the kinds
// and the policy of the cluster of the request. Owners in other clusters do not exist, so
// none can be blocked.
package ownerreferences
