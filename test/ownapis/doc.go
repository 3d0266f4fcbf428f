// Package ownapis tests that our own APIs are what they are to everybody: exports of root,
// bound by ordinary bindings, which workspaces are born with because their type says so.
package ownapis
