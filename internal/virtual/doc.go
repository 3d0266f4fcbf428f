// Package virtual is the frame of the virtual workspaces: views of what other workspaces
// hold, below /services/<name>/, each a package beside this one.
//
// They are served by the chain that serves everything: routing (package route) puts into
// the context which one a request is to, and into which cluster or clusters it looks. Two
// things differ for such a request, both chosen by that value:
//
//   - Authorizer: who may is decided by the virtual workspace instead of the policy of the
//     cluster. Masters, and paths that are open to everybody, are not asked about.
//   - Handler: what is allowed is served by the virtual workspace. In it objects are reached
//     as by any other request, in process, in the cluster of the context.
//
// What is no virtual workspace, or leads nowhere, is refused to everybody as what is
// forbidden is, and not found by masters.
package virtual
