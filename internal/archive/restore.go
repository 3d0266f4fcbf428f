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
	"slices"
	"strings"

	"github.com/forkless/kcp/internal/fileerror"
)

// maxHeader bounds the first entry, which is read into memory.
const maxHeader = 1 << 16

// Restore makes the state in file that of a server that is about to start for the first
// time. Errors may be of the types *NewerError, *ForeignError and *DamagedError.
func Restore(file string, into State) error {
	source, err := os.Open(file)
	if err != nil {
		return fmt.Errorf("reading the archive %s: %w", file, fileerror.Cause(err))
	}
	defer func() { _ = source.Close() }()
	if _, err := os.Lstat(filepath.Join(into.EtcdDirectory, memberDirectory)); !os.IsNotExist(err) {
		return fmt.Errorf("restoring %s: %s has data already, and an archive is for a new server", file, into.EtcdDirectory)
	}
	r, err := newReader(file, source, into.Version)
	if err != nil {
		return err
	}
	unpacked := &unpacked{}
	if err := unpacked.unpack(r, into); err != nil {
		unpacked.discard()
		return err
	}
	if err := unpacked.commit(); err != nil {
		unpacked.discard()
		return fmt.Errorf("restoring %s: %w", file, err)
	}
	return nil
}

// reader reads the entries of an archive behind the first.
type reader struct {
	file       string
	compressed *gzip.Reader
	entries    *tar.Reader
}

// newReader reads the first entry and says why it does not want to read the others.
func newReader(file string, source io.Reader, version string) (*reader, error) {
	compressed, err := gzip.NewReader(source)
	if err != nil {
		return nil, &ForeignError{File: file}
	}
	entries := tar.NewReader(compressed)
	first, err := entries.Next()
	if errors.Is(err, io.ErrUnexpectedEOF) {
		return nil, &DamagedError{File: file, Err: err}
	}
	if err != nil || first.Name != headerEntry {
		return nil, &ForeignError{File: file}
	}
	content, err := io.ReadAll(io.LimitReader(entries, maxHeader))
	if err != nil {
		return nil, &DamagedError{File: file, Err: err}
	}
	var h header
	if json.Unmarshal(content, &h) != nil {
		return nil, &ForeignError{File: file}
	}
	if err := h.readable(file, version); err != nil {
		return nil, err
	}
	return &reader{file: file, compressed: compressed, entries: entries}, nil
}

// next returns the name of the next entry, io.EOF behind the last.
func (r *reader) next() (string, error) {
	entry, err := r.entries.Next()
	if errors.Is(err, io.EOF) {
		// What follows the last entry has the checksum of everything.
		if _, err := io.Copy(io.Discard, r.compressed); err != nil {
			return "", &DamagedError{File: r.file, Err: err}
		}
		return "", io.EOF
	}
	if err != nil {
		return "", &DamagedError{File: r.file, Err: err}
	}
	return entry.Name, nil
}

// unfinished ends the names of what is not in its place yet.
const unfinished = ".restoring"

// unpacked is what has been written beside its places.
type unpacked struct {
	// moves bring it there, the database last: a directory without one is as good as new.
	moves []move
	// databasePath is where the database was written, beside its place.
	databasePath string
	// made are directories that were not there before, the outermost first.
	made []string
}

// move brings a file, or a directory, to its place.
type move struct {
	place string
	done  bool
}

// unpack writes the entries of an archive beside their places.
func (u *unpacked) unpack(r *reader, into State) error {
	for {
		name, err := r.next()
		if errors.Is(err, io.EOF) {
			return u.check(r)
		}
		if err != nil {
			return err
		}
		switch inRoot, ok := strings.CutPrefix(name, rootEntries); {
		case ok && slices.Contains(keptFiles, inRoot):
			if into.RootDirectory != "" {
				err = u.file(r, filepath.Join(into.RootDirectory, inRoot))
			}
		case name == databaseEntry:
			err = u.database(r, into.EtcdDirectory)
		default:
			err = &DamagedError{File: r.file, Err: fmt.Errorf("it contains %q", name)}
		}
		if err != nil {
			return err
		}
	}
}

// file writes the current entry beside the place of a file.
func (u *unpacked) file(r *reader, place string) error {
	if err := u.ensure(filepath.Dir(place)); err != nil {
		return fmt.Errorf("restoring %s: %w", r.file, err)
	}
	u.moves = append([]move{{place: place}}, u.moves...)
	return r.write(place + unfinished)
}

// database writes the current entry to where etcd will find it when its directory has its
// name.
func (u *unpacked) database(r *reader, etcdDirectory string) error {
	member := filepath.Join(etcdDirectory, memberDirectory)
	u.moves = append(u.moves, move{place: member})
	path := filepath.Join(member+unfinished, databaseFile)
	if err := u.ensure(etcdDirectory); err != nil {
		return fmt.Errorf("restoring %s: %w", r.file, err)
	}
	if err := os.MkdirAll(filepath.Dir(path), directoryMode); err != nil {
		return fmt.Errorf("restoring %s: %w", r.file, err)
	}
	u.databasePath = path
	return r.write(path)
}

// check says what is wrong with the database that was written.
func (u *unpacked) check(r *reader) error {
	if u.databasePath == "" {
		return &DamagedError{File: r.file, Err: errors.New("it contains no database")}
	}
	err := sound(u.databasePath)
	if _, unreadable := errors.AsType[*fs.PathError](err); unreadable {
		return fmt.Errorf("restoring %s: %w", r.file, err)
	}
	if err != nil {
		return &DamagedError{File: r.file, Err: fmt.Errorf("its database: %w", err)}
	}
	return nil
}

// write writes the current entry to a file.
func (r *reader) write(path string) error {
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, fileMode)
	if err != nil {
		return fmt.Errorf("restoring %s: %w", r.file, err)
	}
	reading := &noticing{Reader: r.entries}
	_, err = io.Copy(file, reading)
	if reading.err != nil {
		_ = file.Close()
		return &DamagedError{File: r.file, Err: reading.err}
	}
	if err := errors.Join(err, file.Sync(), file.Close()); err != nil {
		return fmt.Errorf("restoring %s: writing %s: %w", r.file, strings.TrimSuffix(path, unfinished), fileerror.Cause(err))
	}
	return nil
}

// ensure makes a directory with those around it, and remembers which it has made.
func (u *unpacked) ensure(directory string) error {
	if _, err := os.Stat(directory); err == nil {
		return nil
	}
	if parent := filepath.Dir(directory); parent != directory {
		if err := u.ensure(parent); err != nil {
			return err
		}
	}
	err := os.Mkdir(directory, directoryMode)
	if err == nil {
		u.made = append(u.made, directory)
	}
	return err
}

// commit brings everything to its place.
func (u *unpacked) commit() error {
	for i, m := range u.moves {
		if err := os.Rename(m.place+unfinished, m.place); err != nil {
			return err
		}
		u.moves[i].done = true
	}
	return nil
}

// discard removes what was written.
func (u *unpacked) discard() {
	for _, m := range u.moves {
		_ = os.RemoveAll(m.place + unfinished)
		if m.done {
			_ = os.RemoveAll(m.place)
		}
	}
	for _, directory := range slices.Backward(u.made) {
		_ = os.Remove(directory)
	}
}

// noticing remembers with which error reading ended, to tell it from one of writing.
type noticing struct {
	io.Reader
	err error
}

func (n *noticing) Read(p []byte) (int, error) {
	read, err := n.Reader.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		n.err = err
	}
	return read, err
}
