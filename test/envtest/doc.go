// Package envtest says what controller-runtime's own tests need, which are run against kcp
// in place of kube-apiserver and etcd: see the target test-envtest of the Makefile. It is a
// module of its own, because these tests bring their own versions of everything.
package envtest
