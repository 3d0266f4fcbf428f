//go:build linux

package main

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"runtime"
	"strings"
)

// table prints measurements as they come, in Markdown.
type table struct{ out io.Writer }

// row is one measurement.
type row struct {
	what string
	// target is what it should be, empty if nobody has said.
	target   string
	measured string
	// how says what was done and what it cost.
	how string
}

func newTable(out io.Writer) *table {
	fmt.Fprintf(out, "%d processors (%s), %s\n\n", runtime.NumCPU(), processor(), runtime.Version())
	fmt.Fprintf(out, "| What | Target | Measured | How |\n|---|---|---|---|\n")
	return &table{out}
}

func (t *table) add(r row) {
	fmt.Fprintf(t.out, "| %s | %s | %s | %s |\n", r.what, r.target, r.measured, r.how)
}

// processor returns the model of the processors.
func processor() string {
	file, err := os.Open("/proc/cpuinfo")
	if err != nil {
		return runtime.GOARCH
	}
	defer file.Close() //nolint:errcheck // because it was only read
	for lines := bufio.NewScanner(file); lines.Scan(); {
		if name, model, ok := strings.Cut(lines.Text(), ":"); ok && strings.TrimSpace(name) == "model name" {
			return strings.TrimSpace(model)
		}
	}
	return runtime.GOARCH
}
