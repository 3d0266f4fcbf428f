package conversion_test

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/forkless/kcp/internal/conversion"
	"github.com/forkless/kcp/internal/servertest/heap"
)

// BenchmarkConvert converts one object by five rules, two of them expressions.
func BenchmarkConvert(b *testing.B) {
	converter := compile(b, roundTrip)
	u := person(b, "v1", "spec: {name: Ann Bee, age: 3, nickname: A, ports: [{port: 1}], labels: {a: x}}")
	b.ReportAllocs()
	for b.Loop() {
		if err := convert(converter, u, inGroup("v2")); err != nil {
			b.Fatal(err)
		}
		if err := convert(converter, u, inGroup("v1")); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkCompile says what a compiled expression takes.
func BenchmarkCompile(b *testing.B) {
	const count = 50
	var all []string
	for i := range count {
		all = append(all, fmt.Sprintf("{field: spec.ports, destination: spec.labels.a%d, transformation: 'self[0].name'}", i))
	}
	spec, versions := specOf(b, rules(strings.Join(all, ","))), people(b)
	var kept []*conversion.Converter
	before := heap.InUse()
	for b.Loop() {
		converter, err := conversion.Compile(spec, versions)
		if err != nil {
			b.Fatal(err)
		}
		kept = append(kept, converter)
	}
	b.ReportMetric(float64(heap.InUse()-before)/float64(len(kept)*count), "bytes/expression")
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*count), "ns/expression")
	runtime.KeepAlive(kept)
}
