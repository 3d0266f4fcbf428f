// Package tokensecret is the controller of secrets that hold the token of a service
// account: those of type kubernetes.io/service-account-token whose annotation
// kubernetes.io/service-account.name names the account. It does what Kubernetes' tokens
// controller does.
//
//  1. Such a secret gets the token, the namespace and the certificates of the server, and
//     an annotation with the UID of the account. What is there already stays, but for
//     certificates that are out of date.
//  2. A secret whose account is not there, or is another one by now, is deleted.
//  3. A secret that is gone is taken out of the secrets that accounts name.
//
// Nobody makes such secrets but those who want one: workspaces without them cost nothing.
package tokensecret
