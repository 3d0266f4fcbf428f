// Package conformance runs upstream's own end-to-end tests of API machinery, access
// control and events (k8s.io/kubernetes/test/e2e/{apimachinery,auth,instrumentation}),
// unchanged, in workspaces of a server that it starts.
//
// rules.yaml says of every one of those tests that it is run, or why it is left out;
// rules-types.yaml says so of a second run, where workload types are served.
// A test that no rule speaks of fails the suite, and so does a rule that speaks of no
// test: neither can go unnoticed when upstream moves. docs/conformance.md is the
// outcome of the last whole run, written by `make test-conformance`.
//
// The tests are spread over some processes, each with a workspace of its own, which is
// why those that upstream calls serial need no special treatment. Each process is this
// test binary again, started with the tests it is to run (see worker_test.go).
//
// It is a module of its own, because upstream's end-to-end framework brings the kubelet
// and the clients of container runtimes with it, which the server must not depend on.
// It imports nothing of ours: what it knows of kcp is a binary and its kubeconfig.
package conformance
