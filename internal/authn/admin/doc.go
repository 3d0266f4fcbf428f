// Package admin makes the identities a server has from its first start on, and the
// kubeconfig by which people get hold of them:
//
//   - shard-admin, in system:masters. Its token is made once and stays. Only a hash of
//     it is kept by the server; the token itself is in the kubeconfig;
//   - kcp-admin, in system:kcp:admin: admin of every workspace, but subject to
//     authorization. Its token is another one at each start;
//   - user, in no group, with another token at each start; only if asked for.
//
// Prepare decides on the tokens, Battery.Authenticator knows them, Battery.Write puts
// down the files. Nothing is written before Write, and a server that cannot start
// leaves both files as they were. A restart leaves people where they were: what they put
// into the kubeconfig stays, and goes on working with the tokens and the address of the
// new run.
package admin
