package rbac

import "testing"

// BenchmarkSystemAdmin is part of every start of a server.
func BenchmarkSystemAdmin(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		SystemAdmin()
	}
}
