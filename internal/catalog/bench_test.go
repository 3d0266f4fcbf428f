package catalog_test

import (
	"fmt"
	"net/http"
	"testing"
)

// BenchmarkServing measures requests over plain HTTP, without authentication: what
// custom resources cost beyond what all requests do.
func BenchmarkServing(b *testing.B) {
	const objects = 2000
	s := newServer(b)
	s.define(one, "widgets")
	for i := range objects {
		s.must(http.StatusCreated, "POST", widgetsURL, widget(fmt.Sprintf("w%d", i), "color: red, size: big, tags: [a, b]"))
	}
	b.Run("Get", func(b *testing.B) {
		for b.Loop() {
			s.must(http.StatusOK, "GET", widgetsURL+"/w7", "")
		}
	})
	b.Run("List2000", func(b *testing.B) {
		for b.Loop() {
			s.must(http.StatusOK, "GET", widgetsURL+"?resourceVersion=0", "")
		}
	})
	b.Run("Patch", func(b *testing.B) {
		for i := 0; b.Loop(); i++ {
			s.must(http.StatusOK, "PATCH", widgetsURL+"/w7", fmt.Sprintf(`{"spec":{"color":"c%d"}}`, i), header{"Content-Type", "application/merge-patch+json"})
		}
	})
	b.Run("Create", func(b *testing.B) {
		for i := 0; b.Loop(); i++ {
			s.must(http.StatusCreated, "POST", widgetsURL, widget(fmt.Sprintf("n%d", i), "color: red"))
		}
	})
}
