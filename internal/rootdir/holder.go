package rootdir

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/forkless/kcp/internal/filelock"
)

// LockFile is the name of the file in a root directory that its holder keeps locked
// and describes itself in.
const LockFile = "kcp.lock"

// Holder is who holds a directory.
type Holder struct {
	// PID is the process.
	PID int `json:"pid"`
	// Started is when it took hold.
	Started time.Time `json:"started"`
	// Version is its version.
	Version string `json:"version,omitempty"`
	// URL is where it serves; empty until it does.
	URL string `json:"url,omitempty"`
	// Kubeconfig is the kubeconfig of its admins; empty if they have none.
	Kubeconfig string `json:"kubeconfig,omitempty"`
}

// InUseError says that another process holds a directory.
type InUseError struct {
	// Label is what the directory was called.
	Label string
	// Holder is the other process; its PID is 0 if it has not described itself yet.
	Holder Holder
}

func (e *InUseError) Error() string {
	if e.Holder.PID == 0 {
		return fmt.Sprintf("%s is in use by another process", e.Label)
	}
	return fmt.Sprintf("%s is in use by pid %d, started %s", e.Label, e.Holder.PID, clock(e.Holder.Started))
}

// clock returns the time of day of t, with the date unless it is today.
func clock(t time.Time) string {
	t = t.Local()
	if now := time.Now(); t.YearDay() != now.YearDay() || t.Year() != now.Year() {
		return t.Format("2006-01-02 15:04")
	}
	return t.Format("15:04")
}

// HolderOf returns who holds the directory at path. held is false if nobody does, or
// if there is no such directory. Asking takes the lock for an instant if nobody has it.
func HolderOf(path string) (holder Holder, held bool, err error) {
	file := filepath.Join(path, LockFile)
	held, err = filelock.Held(file)
	if errors.Is(err, fs.ErrNotExist) {
		return Holder{}, false, nil
	}
	if err != nil || !held {
		return Holder{}, false, err
	}
	return readHolder(file), true, nil
}

// readHolder returns what the holder of a lock says about itself: nothing, if it has
// not come to it yet.
func readHolder(file string) Holder {
	content, err := os.ReadFile(file)
	if err != nil {
		return Holder{}
	}
	var holder Holder
	if json.Unmarshal(content, &holder) != nil {
		return Holder{}
	}
	return holder
}

// writeHolder replaces the content of the open lock file. The file itself cannot be
// replaced, the lock is on it.
func writeHolder(lock *os.File, holder Holder) error {
	content, err := json.Marshal(holder)
	if err != nil {
		return err
	}
	// A shorter text than before would leave the end of the old one; spaces are
	// harmless to readers, an empty moment after truncation is not.
	if info, err := lock.Stat(); err == nil {
		for int64(len(content)) < info.Size() {
			content = append(content, ' ')
		}
	}
	_, err = lock.WriteAt(content, 0)
	return err
}
