// Package impersonation lets callers act as somebody else, within limits.
//
// With is the filter. It checks in this order:
//
//  1. the gatekeeper: nobody but system:masters puts on a group that is privileged
//     across workspaces without being in it;
//  2. upstream's checks, the constrained ones included, against the policy of the
//     workspace the request is to;
//  3. the limit: who was put on by anybody but system:masters counts as himself in
//     that workspace only, with all his warrants. Who is admin of a workspace may thus
//     be anybody there, and nobody elsewhere.
//
// Authorization proper of the request, as the one put on, comes after this filter.
package impersonation
