package crds

import "testing"

// BenchmarkAll is part of every start.
func BenchmarkAll(b *testing.B) {
	for b.Loop() {
		if _, err := All(); err != nil {
			b.Fatal(err)
		}
	}
}
