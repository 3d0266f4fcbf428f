// Package mounted serves requests to mounted workspaces: it hands them on to the API server
// that is mounted, which authenticates and authorizes them itself.
//
// Routing has found the Mount (package route) and put it into the context instead of a
// cluster, so nothing behind it can take the request for one to a workspace. What becomes of
// it depends on the address, which is checked for each request (package tenancy/mount),
// whatever the Workspace says:
//
//  1. An address of this server is routed again, in process, before anybody has looked at who
//     the caller is. There he is who he always is, and no credentials go anywhere.
//  2. Another one must be on a host that the owner of the server has named. The caller is
//     authenticated here, and the request goes out behind that (WithMounts): with the
//     caller's name in X-Remote-* headers if the server has a certificate to vouch for it
//     with, and with his bearer token otherwise. See identity.go for who he is there.
//  3. All else is refused, as a workspace that is not available.
//
// The proxy follows no redirects, dials no address that a response names, and resends
// nothing. Connections are kept by host, for a short while; nothing is kept for a workspace.
package mounted
