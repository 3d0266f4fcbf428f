// Package badinput sends the server what it must refuse: malformed, oversized, foreign,
// outdated and forbidden requests, and requests without credentials to every route there
// is.
//
// Each case says which Status answers it. Beyond that, whatever a case expects, no answer
// is an internal error, and none contains anything of a workspace that the caller may not
// look into.
package badinput
