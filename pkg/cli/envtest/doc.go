// Package envtest is what stands in for the programs of controller-runtime's envtest:
// kcp under the names kube-apiserver and etcd. Tests of controllers run with them as with
// the real ones, in a fraction of the time and memory.
//
//   - apiserver is the program kube-apiserver, a server that is a single cluster.
//   - orphan ends both with the test that started them.
//   - assets is the verb "kcp envtest-assets", which lays the programs out.
package envtest
