// Package lifecycle holds the virtual workspaces in which others take part in the birth and
// the death of workspaces:
//
//	/services/initializingworkspaces/<id>/clusters/<* or name>/…
//	/services/terminatingworkspaces/<id>/clusters/<* or name>/…
//
// <id> names a hook: an initializer or a terminator (package tenancy), which is that of a
// workspace type, in the cluster before the last colon. What callers may rely on:
//
//  1. Who may use the verb initialize, or terminate, on the type may use the virtual
//     workspace. That is asked as any review is, in the workspace of the type; nobody learns
//     whether there is such a type, and one that has been deleted still counts.
//  2. The logical clusters that wait for the hook, and no others, are seen, in one list and
//     watch over all or each in its own cluster. They enter and leave a watch like objects
//     that begin and cease to match a selector. One that does not wait (any more) is not
//     found.
//  3. Nothing is written but their status, and of that conditions, and the hook itself,
//     which can be removed. This goes past the rules for users, and past admission.
//  4. Everything else in a single cluster is content, and served by a handler that the
//     package is given. It decides itself whether it is the turn of the hook.
//
// A hook costs nothing: lists and watches select from the one watch cache of logical
// clusters, by labels that go with the status.
package lifecycle
