// Package footprint checks what workspaces cost the server that are idle, and what they
// leave behind when they are gone: goroutines, heap, metric series and keys in etcd.
package footprint
