// Command sbom writes the bill of materials of a release archive: which modules the
// program in it was linked from, as an SPDX document.
//
//	sbom -created 2026-11-21T12:00:00Z archive.tar.gz archive.tar.gz.spdx.json
//
// What is in a Go program stands in the program itself, put there by the linker; nothing
// is guessed from files beside it. Two runs give the same document.
package main

import (
	"bytes"
	"debug/buildinfo"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
)

func main() {
	created := flag.String("created", "", "date of the release, as in RFC 3339")
	flag.Parse()
	if err := write(*created, flag.Args()); err != nil {
		fmt.Fprintf(os.Stderr, "error: %v\n", err)
		os.Exit(1)
	}
}

func write(created string, args []string) error {
	if len(args) != 2 || created == "" {
		return fmt.Errorf("usage: sbom -created DATE ARCHIVE DOCUMENT")
	}
	archive, err := os.ReadFile(args[0])
	if err != nil {
		return err
	}
	name, program, err := programIn(args[0], archive)
	if err != nil {
		return fmt.Errorf("reading %s: %w", args[0], err)
	}
	info, err := buildinfo.Read(bytes.NewReader(program))
	if err != nil {
		return fmt.Errorf("reading what %s in %s was made of: %w", name, args[0], err)
	}
	content, err := json.MarshalIndent(document(filepath.Base(args[0]), archive, name, created, info), "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(args[1], append(content, '\n'), 0o644)
}
