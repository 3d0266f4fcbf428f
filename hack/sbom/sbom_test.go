package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"testing"
)

// TestWrite describes an archive with this very test, which is a Go program, too.
func TestWrite(t *testing.T) {
	executable, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	program, err := os.ReadFile(executable)
	if err != nil {
		t.Fatal(err)
	}
	for name, archive := range map[string][]byte{"a.tar.gz": tarOf(t, "bin/program", program), "a.zip": zipOf(t, "bin/program", program)} {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), name)
			if err := os.WriteFile(file, archive, 0o600); err != nil {
				t.Fatal(err)
			}
			var documents [2][]byte
			for i := range documents {
				if err := write("2026-11-21T12:00:00Z", []string{file, file + ".spdx.json"}); err != nil {
					t.Fatal(err)
				}
				if documents[i], err = os.ReadFile(file + ".spdx.json"); err != nil {
					t.Fatal(err)
				}
			}
			if !bytes.Equal(documents[0], documents[1]) {
				t.Error("two runs give two documents")
			}
			var d spdx
			if err := json.Unmarshal(documents[0], &d); err != nil {
				t.Fatal(err)
			}
			ids := map[string]string{}
			for _, p := range d.Packages {
				ids[p.ID] = p.Name
			}
			if ids[archiveID] != "program" || ids["SPDXRef-Go"] != "stdlib" || len(ids) != len(d.Packages) {
				t.Errorf("the packages are %v", ids)
			}
			for _, r := range d.Relationships {
				if _, ok := ids[r.Related]; !ok {
					t.Errorf("%s is related to %s, which is not there", r.Element, r.Related)
				}
			}
		})
	}
}

func TestNoProgram(t *testing.T) {
	for name, archive := range map[string][]byte{"a.tar.gz": tarOf(t, "README.md", nil), "a.zip": zipOf(t, "README.md", nil)} {
		if _, _, err := programIn(name, archive); !errors.Is(err, errNoProgram) {
			t.Errorf("%s without a program: %v", name, err)
		}
	}
}

func TestEscapePath(t *testing.T) {
	if got, want := escapePath("github.com/Azure/go-ansiterm"), "github.com/!azure/go-ansiterm"; got != want {
		t.Errorf("the proxy has %s, not %s", want, got)
	}
}

func tarOf(t *testing.T, name string, content []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	// Compressing a program takes seconds where the race detector watches.
	zipped, err := gzip.NewWriterLevel(&b, gzip.NoCompression)
	if err != nil {
		t.Fatal(err)
	}
	files := tar.NewWriter(zipped)
	err = files.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: name, Size: int64(len(content)), Mode: 0o755})
	if err == nil {
		_, err = files.Write(content)
	}
	if err = errors.Join(err, files.Close(), zipped.Close()); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func zipOf(t *testing.T, name string, content []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	files := zip.NewWriter(&b)
	file, err := files.CreateHeader(&zip.FileHeader{Name: name, Method: zip.Store})
	if err == nil {
		_, err = file.Write(content)
	}
	if err = errors.Join(err, files.Close()); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}
