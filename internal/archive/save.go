package archive

import (
	"archive/tar"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/forkless/kcp/internal/archive/place"
	"github.com/forkless/kcp/internal/fileerror"
	"github.com/forkless/kcp/internal/rootdir"
)

// Save writes the state of a server that has stopped to file.
func Save(file string, source State) error {
	if err := saveTo(file, source); err != nil {
		return fmt.Errorf("saving the state to %s: %w", file, err)
	}
	return nil
}

func saveTo(file string, source State) (err error) {
	// What is no file, such as /dev/null, is not to be replaced by one.
	if info, err := os.Stat(file); err == nil && !info.Mode().IsRegular() {
		return errors.New("not a regular file")
	}
	// First, so that a place that cannot be written costs no work.
	at, err := place.Of(file)
	if err != nil {
		return fileerror.Cause(err)
	}
	next, err := place.Open(at)
	if err != nil {
		return fileerror.Cause(err)
	}
	defer next.Discard()

	scratch, err := rootdir.NewScratch()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, scratch.Remove()) }()
	db := filepath.Join(scratch.Path(), "db")
	if err := export(source.EtcdDirectory, db); err != nil {
		return err
	}
	if err := write(placed{next}, source, db); err != nil {
		return err
	}
	return fileerror.Cause(next.Commit())
}

// placed is the file that is saved to. What goes wrong with it is told without the name that it
// has meanwhile; other files are named, lest their errors are taken for those of this one.
type placed struct{ io.Writer }

func (p placed) Write(b []byte) (int, error) {
	n, err := p.Writer.Write(b)
	return n, fileerror.Cause(err)
}

// write writes the archive of a server with the refined database at path db.
func write(w io.Writer, source State, db string) error {
	compressed := gzip.NewWriter(w)
	entries := tar.NewWriter(compressed)
	about, err := json.Marshal(header{
		Format: currentFormat, Layout: rootdir.CurrentLayout, Storage: storageVersion.String(), Version: source.Version,
	})
	if err != nil {
		return err
	}
	if err := entries.WriteHeader(entry(headerEntry, int64(len(about)))); err != nil {
		return err
	}
	if _, err := entries.Write(about); err != nil {
		return err
	}
	if source.RootDirectory != "" {
		for _, name := range keptFiles {
			err := add(entries, rootEntries+name, filepath.Join(source.RootDirectory, name))
			if err != nil && !errors.Is(err, fs.ErrNotExist) {
				return err
			}
		}
	}
	if err := add(entries, databaseEntry, db); err != nil {
		return err
	}
	// Where one fails the other does, for the same reason.
	if err := entries.Close(); err != nil {
		return err
	}
	return compressed.Close()
}

// add adds a file to the archive.
func add(entries *tar.Writer, name, path string) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer func() { _ = file.Close() }()
	info, err := file.Stat()
	if err != nil {
		return err
	}
	if err := entries.WriteHeader(entry(name, info.Size())); err != nil {
		return err
	}
	_, err = io.Copy(entries, file)
	return err
}

// entry describes a file without saying when it was made: the same state makes the same
// archive.
func entry(name string, size int64) *tar.Header {
	return &tar.Header{Typeflag: tar.TypeReg, Name: name, Size: size, Mode: int64(fileMode), Format: tar.FormatPAX}
}
