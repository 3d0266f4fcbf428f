// Package hookcontent lets initializers and terminators reach what is in the workspaces
// that wait for them: everything below the URL of a workspace in their virtual workspaces
// that is not its LogicalCluster.
//
//	/services/<kind>workspaces/<id>/clusters/<cluster>/<anything>
//
// That the caller may act for the hook has been decided before, by the virtual workspace.
// Here it is decided, for each request, whether it is the hook's turn and who acts
// (decide.go). The answers to what is refused are plain text:
//
//  1. the logical cluster has to exist, and the hook to be active in it as it is in
//     storage: nobody gets in, or is kept out, by what memory has not seen yet.
//  2. a hook whose workspace type is not there may do nothing.
//  3. mode 1: where the type has permissions for its hook, one of these rules has to allow
//     the request. The caller acts as himself, in the group that marks the hook, under a
//     mandate (authz.Mandate), which needs no policy in the workspace.
//  4. mode 2: otherwise, and for the server's own hooks, the caller acts as the creator of
//     the workspace, without what nobody may impersonate (creator.go).
//
// What is allowed is served as any other request to the workspace is, by the same handlers
// in the same process, behind the authorizer of the workspace: admission, webhooks and field
// management see who acts, and the audit log moreover whose request it was and for which
// hook. The LogicalCluster is written through the virtual workspace only.
//
// A request ends, if it still runs, when one that began now would be refused (running.go):
// watches above all. Nothing is kept for a hook or a workspace, but for the requests that run.
package hookcontent
