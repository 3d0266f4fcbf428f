package kubeconfig

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
)

// replacement is new content for a file, ready beside it.
type replacement struct {
	target string
	ready  string
}

// prepare writes content beside the file called name, with the same mode and owner.
func prepare(name string, content []byte) (*replacement, error) {
	// A link stays a link.
	target, err := filepath.EvalSymlinks(name)
	if err != nil {
		return nil, err
	}
	info, err := os.Stat(target)
	if err != nil {
		return nil, err
	}
	// Renaming needs no permission on the file itself, so that it has to be asked for:
	// a file that was made read-only is meant to stay as it is.
	probe, err := os.OpenFile(target, os.O_WRONLY, 0)
	if err != nil {
		return nil, err
	}
	_ = probe.Close()

	file, err := os.CreateTemp(filepath.Dir(target), "."+filepath.Base(target)+".*")
	if err != nil {
		return nil, err
	}
	r := &replacement{target: target, ready: file.Name()}
	_, err = file.Write(content)
	err = errors.Join(err, file.Chmod(info.Mode().Perm()), file.Sync(), file.Close())
	if err != nil {
		r.discard()
		return nil, err
	}
	keepOwner(r.ready, info)
	return r, nil
}

// commit puts the new content in the place of the old.
func (r *replacement) commit() error {
	err := os.Rename(r.ready, r.target)
	if errors.Is(err, syscall.EBUSY) {
		// A single file that is mounted into a container cannot be renamed over.
		return r.overwrite()
	}
	return err
}

func (r *replacement) overwrite() error {
	content, err := os.ReadFile(r.ready)
	if err != nil {
		return err
	}
	if err := os.WriteFile(r.target, content, 0o600); err != nil {
		return fmt.Errorf("%w; its content is in %s", err, r.keep())
	}
	return nil
}

// keep returns the name of the new content, which discard leaves alone from now on.
func (r *replacement) keep() string {
	ready := r.ready
	r.ready = ""
	return ready
}

// discard removes what commit has not used.
func (r *replacement) discard() {
	if r.ready != "" {
		_ = os.Remove(r.ready)
	}
}
