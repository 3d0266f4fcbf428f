// Package serviceaccount makes and checks the tokens of service accounts.
//
// Tokens are those of Kubernetes with one claim more: kubernetes.io.clusterName, the
// logical cluster that the account lives in. A token authenticates in every cluster, as
// a user who says where he comes from and who counts as himself there only; what he may
// do elsewhere is package authz's to say.
//
// A token is good as long as its account, and the Secret it is bound to if it is bound
// to one, exist with the UIDs that it names, in its own cluster.
package serviceaccount
