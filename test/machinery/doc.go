// Package machinery tests that a workspace has the API machinery of a Kubernetes API
// server: versions and their conversion, lists and watches, patches and field management,
// discovery and OpenAPI, for built-in and for custom resources. The lists of what is
// looked at are those of upstream's own suites for a whole cluster; where isolation
// matters, two workspaces do it at once.
package machinery
