// Package serviceaccount makes and checks the tokens of service accounts.
//
// Tokens are those of Kubernetes with one claim more, the logical cluster that the
// account lives in: kubernetes.io.clusterName in tokens that were requested,
// kubernetes.io/serviceaccount/clusterName in legacy ones, which are kept in secrets. A
// token authenticates in every cluster, as a user who says where he comes from and who
// counts as himself there only; what he may do elsewhere is package authz's to say.
//
//  1. A token is good as long as its account, and the Secret it is bound to or kept in,
//     exist with the UIDs that it names, in its own cluster.
//  2. A claim is parsed as the name of a cluster before it is used for anything, and
//     used only to find out where to verify it.
//  3. Tokens are accepted that any of several keys has signed: a key is replaced by
//     adding the new one, signing with it, and taking the old one away when its tokens
//     have run out.
package serviceaccount
