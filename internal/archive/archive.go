package archive

import (
	"fmt"
	"io/fs"
	"path/filepath"

	"github.com/forkless/kcp/internal/rootdir"
)

// State is where a server keeps its state.
type State struct {
	// RootDirectory is its root directory; empty without one.
	RootDirectory string
	// EtcdDirectory is the directory of its embedded etcd.
	EtcdDirectory string
	// Version is the version of kcp that writes or reads.
	Version string
}

const (
	// currentFormat is raised when archives become such that older versions cannot read
	// them.
	currentFormat = 1

	headerEntry   = "kcp-archive.json"
	databaseEntry = "etcd/db"
	rootEntries   = "root/"

	fileMode      fs.FileMode = 0o600
	directoryMode fs.FileMode = 0o700
)

// keptFiles are the files in a root directory that make a server the same again. Those
// that are not there were not needed, or were given by flags.
var keptFiles = []string{"sa.key", "apiserver.key", "apiserver.crt"}

// header is the first entry of an archive.
type header struct {
	// Format is the number of the format of archives, Layout that of root directories.
	Format int `json:"format"`
	Layout int `json:"layout"`
	// Storage is the version of etcd's database, as in 3.6.0.
	Storage string `json:"storage"`
	// Version is the version of kcp that wrote the archive.
	Version string `json:"version"`
}

// readable says why an archive of a header cannot be read.
func (h header) readable(file, version string) error {
	if h.Format < 1 || h.Version == "" {
		return &ForeignError{File: file}
	}
	if h.Format > currentFormat || h.Layout > rootdir.CurrentLayout || newerStorage(h.Storage) {
		return &NewerError{File: file, Writer: h.Version, Reader: version}
	}
	return nil
}

// NewerError says that an archive was written by a version that writes what this one
// cannot read.
type NewerError struct {
	// File is the archive.
	File string
	// Writer is the version that wrote it, Reader the one that refuses it.
	Writer, Reader string
}

func (e *NewerError) Error() string {
	return fmt.Sprintf("%s was written by kcp %s, this is %s; nothing was changed", e.File, e.Writer, e.Reader)
}

// ForeignError says that a file is no archive.
type ForeignError struct {
	// File is the file.
	File string
}

func (e *ForeignError) Error() string {
	return e.File + " is no archive of a kcp server"
}

// DamagedError says that an archive is not what was written.
type DamagedError struct {
	// File is the archive.
	File string
	// Err is how that was noticed.
	Err error
}

func (e *DamagedError) Error() string {
	return fmt.Sprintf("%s is damaged (%v); nothing was changed", e.File, e.Err)
}

// Unwrap returns how the damage was noticed.
func (e *DamagedError) Unwrap() error { return e.Err }

// memberDirectory holds all that etcd keeps in its directory.
const memberDirectory = "member"

// databaseFile is where the database lies in it, logDirectory its log.
var (
	databaseFile = filepath.Join("snap", "db")
	logDirectory = "wal"
)
