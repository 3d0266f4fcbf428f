// Package identity tests, in running servers, what makes objects those of one export and
// not of another: the identities of exports, where the objects of a provider are found,
// and requests that name an identity or are about all workspaces.
package identity
