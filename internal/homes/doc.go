// Package homes gives users workspaces of their own when they first ask for them.
//
// Who gets the Workspace "~" in root gets his home. If there is none, and the policy of root
// lets the caller create workspaces of the name "~", it is born within the request: all
// of a home in one transaction (tenancy/birth), so that most first answers are the home
// already, ready to be used. Where something has to be waited for the answer is 429 with
// Retry-After, which clients heed by themselves.
//
// Homes are where package tenancy/home says. In buckets, a request to a path at which the
// caller's own home, or a bucket above it, is missing makes it as well. Nobody makes
// anything that is not on the way to his own home.
//
// Nothing is remembered between requests. However many ask at a time for a home, one is
// born: the transaction requires that it is not there.
package homes
