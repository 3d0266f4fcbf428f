// Package exports holds our own APIs as root offers them to all workspaces: the
// APIResourceSchemas, made from the definitions in config/crds, the APIExports of them,
// and the secrets with the identities of these.
//
// A schema is called after a hash of what is in it, so that it has another name exactly
// when it is another one, and what was bound before stays bound until the export says
// otherwise.
//
// The package only says what should be there; package bootstrap brings it there. The
// exports cache.kcp.io and migration.kcp.io are missing as long as their kinds are.
package exports
