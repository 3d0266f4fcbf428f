package registry

import (
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/forkless/kcp/internal/filelock"
)

// suffix ends the names of the files of entries, which begin with the identifier.
const suffix = ".server"

// patience is how long it may take from making a file to writing an entry into it.
const patience = time.Minute

// Entry is a server that runs.
type Entry struct {
	// ID is what it is called by: letters, digits, "-", "_" and ".".
	ID string `json:"id"`
	// PID is its process.
	PID int `json:"pid"`
	// RootDirectory is the absolute path of its root directory; empty without one.
	RootDirectory string `json:"rootDirectory,omitempty"`
	// URL is where it serves.
	URL string `json:"url"`
	// Version is its version.
	Version string `json:"version,omitempty"`
	// Started is when it did.
	Started time.Time `json:"started"`
}

// NewID returns an identifier that nobody else has.
func NewID() string {
	random := make([]byte, 5)
	// It never fails.
	_, _ = rand.Read(random)
	return "kcp-" + hex.EncodeToString(random)
}

// Register lists a server of this process until release is called, or the process ends.
// The error wraps fs.ErrExist if a server of that identifier runs.
func Register(e Entry) (release func() error, err error) {
	if !valid(e.ID) {
		return nil, fmt.Errorf("registering the server: %q is no identifier", e.ID)
	}
	directory := directories()[0]
	if err := own(directory); err != nil {
		return nil, fmt.Errorf("registering the server: %w", err)
	}
	content, err := json.Marshal(e)
	if err != nil {
		return nil, fmt.Errorf("registering the server: %w", err)
	}
	file, err := filelock.Acquire(filepath.Join(directory, e.ID+suffix))
	if errors.Is(err, filelock.ErrHeld) {
		return nil, fmt.Errorf("registering the server: %s: %w", e.ID, fs.ErrExist)
	}
	if err != nil {
		return nil, fmt.Errorf("registering the server: %w", err)
	}
	err = file.Truncate(0)
	if err == nil {
		_, err = file.WriteAt(content, 0)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("registering the server: %w", err), filelock.Remove(file))
	}
	return func() error { return filelock.Remove(file) }, nil
}

// List returns the servers that this user runs, the oldest first, and forgets those that
// have ended without a word.
func List() ([]Entry, error) {
	var entries []Entry
	for _, directory := range directories() {
		if err := check(directory); errors.Is(err, fs.ErrNotExist) {
			continue
		} else if err != nil {
			return nil, fmt.Errorf("looking for servers: %w", err)
		}
		files, err := filepath.Glob(filepath.Join(escape(directory), "*"+suffix))
		if err != nil {
			return nil, fmt.Errorf("looking for servers: %w", err)
		}
		for _, file := range files {
			if entry, ok := read(file); ok {
				entries = append(entries, entry)
			}
		}
	}
	slices.SortStableFunc(entries, func(a, b Entry) int {
		if byAge := a.Started.Compare(b.Started); byAge != 0 {
			return byAge
		}
		return strings.Compare(a.ID, b.ID)
	})
	return entries, nil
}

// Find returns the server with the identifier.
func Find(id string) (entry Entry, found bool, err error) {
	entries, err := List()
	if err != nil {
		return Entry{}, false, err
	}
	i := slices.IndexFunc(entries, func(e Entry) bool { return e.ID == id })
	if i < 0 {
		return Entry{}, false, nil
	}
	return entries[i], true, nil
}

// read returns the entry in a file, and removes the file if its process is gone. Who has
// only just begun to register is not there yet.
func read(path string) (Entry, bool) {
	held, err := filelock.Held(path)
	if err != nil {
		return Entry{}, false
	}
	content, err := os.ReadFile(path)
	if err != nil {
		return Entry{}, false
	}
	if !held {
		if len(content) > 0 || abandoned(path) {
			forget(path)
		}
		return Entry{}, false
	}
	var entry Entry
	if json.Unmarshal(content, &entry) != nil || entry.ID+suffix != filepath.Base(path) {
		return Entry{}, false
	}
	return entry, true
}

// abandoned says whether the process that made a file without an entry has had the time to
// write one.
func abandoned(path string) bool {
	info, err := os.Stat(path)
	return err == nil && time.Since(info.ModTime()) > patience
}

// forget removes an entry whose process is gone. If that fails somebody else gets to do it.
//
// Who removes a file has its lock as a server has. So there is nothing in it any more by
// then, and who finds it held before he reads it has found a server.
func forget(path string) {
	shared, err := filelock.Share(path)
	if err != nil {
		return
	}
	if errors.Join(shared.Truncate(0), filelock.Release(shared)) != nil {
		return
	}
	file, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return
	}
	if locked, _ := filelock.Lock(file); locked {
		_ = filelock.Remove(file)
	}
}

// valid says whether an identifier can be the name of a file.
func valid(id string) bool {
	return id != "" && id[0] != '.' && !strings.ContainsFunc(id, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && !strings.ContainsRune("-_.", r)
	})
}

// escape makes a directory match itself alone.
func escape(directory string) string {
	if os.PathSeparator == '\\' {
		return directory
	}
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(directory)
}
