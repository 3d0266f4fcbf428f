package archive

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	clientv3 "go.etcd.io/etcd/client/v3"
)

// databaseOf returns the database in an archive.
func databaseOf(t *testing.T, file string) []byte {
	t.Helper()
	source, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = source.Close() }()
	compressed, err := gzip.NewReader(source)
	if err != nil {
		t.Fatal(err)
	}
	for entries := tar.NewReader(compressed); ; {
		e, err := entries.Next()
		if err != nil {
			t.Fatal(err)
		}
		if e.Name == databaseEntry {
			content, err := io.ReadAll(entries)
			if err != nil {
				t.Fatal(err)
			}
			return content
		}
	}
}

// TestGarbageInADatabase puts garbage into every page of a database in turn. It is found, or
// etcd reads the database all the same: nothing ends the process.
func TestGarbageInADatabase(t *testing.T) {
	const pageSize = 4096
	whole, random := databaseOf(t, save(t, stopped(t))), rand.New(rand.NewPCG(7, 7))
	found := 0
	for offset := 0; offset < len(whole); offset += pageSize {
		for i, spoil := range []func(page []byte){
			func(page []byte) { clear(page) },
			func(page []byte) { fill(random, page) },
			func(page []byte) { fill(random, page[16:]) },
			func(page []byte) { fill(random, page[:64]) },
			func(page []byte) { page[random.IntN(256)] ^= 1 << random.IntN(8) },
			func(page []byte) { page[8+random.IntN(128)] = 0xFF },
		} {
			content := bytes.Clone(whole)
			spoil(content[offset:min(offset+pageSize, len(content))])
			into := fresh(t)
			database := filepath.Join(into.EtcdDirectory, memberDirectory, databaseFile)
			if err := os.MkdirAll(filepath.Dir(database), directoryMode); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(database, content, fileMode); err != nil {
				t.Fatal(err)
			}
			if err := sound(database); err != nil {
				found++
				continue
			}
			withEtcd(t, into.EtcdDirectory, func(client *clientv3.Client) {
				if _, err := client.Get(t.Context(), "", clientv3.WithPrefix()); err != nil {
					t.Errorf("garbage %d at %d was not found, and reading it: %v", i, offset, err)
				}
			})
		}
	}
	if found == 0 {
		t.Error("nothing was found")
	}
}

func fill(random *rand.Rand, page []byte) {
	for i := range page {
		page[i] = byte(random.Uint32())
	}
}
