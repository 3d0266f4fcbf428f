// Package permissionpolicy tests, in running servers, what providers allow those who have
// bound their exports: maximal permission policies.
package permissionpolicy
