package builtin_test

import (
	"testing"

	"k8s.io/kube-openapi/pkg/validation/spec"

	"github.com/forkless/kcp/internal/builtin"
	"github.com/forkless/kcp/internal/builtin/builtintest"
)

func BenchmarkNew(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		if _, err := builtin.New(builtintest.Config()); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkInstall(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		builtintest.NewServer(b, builtintest.Config(), &builtintest.Recorder{})
	}
}

func BenchmarkOpenAPIDefinitions(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		builtin.TypesOf(false).OpenAPIDefinitions(func(path string) spec.Ref { return spec.MustCreateRef("#/components/schemas/" + path) })
	}
}
