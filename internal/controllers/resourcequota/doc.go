// Package resourcequota is the controller that keeps the status of ResourceQuotas: their
// limits as specified, and their usage as it is.
//
// A quota is counted anew when it is new or has been changed by somebody else, when an
// object that it counts is gone or, if it is measured, has changed, when the outcome of a
// request that was charged to it is known, and when something may have gone unheard.
// Objects that are created need no attention: admission has charged them.
//
// It hears of the objects of all stores through one Listener of controller.Feed, and
// tells the ledger, which admission shares, what quotas there are.
package resourcequota
