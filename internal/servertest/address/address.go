// Package address finds addresses for what cannot be handed a listener: programs, an etcd
// of their own. Nothing listens on what it returns when it returns it; somebody else may
// take it before it is used, which nobody is likely to.
package address

import (
	"net"
	"testing"
)

// Free returns an address of this machine, with a port, that nothing listens on.
func Free(t testing.TB) string {
	t.Helper()
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	if err := listener.Close(); err != nil {
		t.Fatal(err)
	}
	return listener.Addr().String()
}

// FreePort returns the port of Free.
func FreePort(t testing.TB) string {
	t.Helper()
	_, port, err := net.SplitHostPort(Free(t))
	if err != nil {
		t.Fatal(err)
	}
	return port
}
