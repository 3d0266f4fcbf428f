package ephemeral

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/forkless/kcp/internal/fileerror"
	"github.com/forkless/kcp/pkg/cli/run"
)

const (
	objectsFile = "objects.yaml"
	whyFile     = "why.txt"

	// stampFormat is the time in the names of directories.
	stampFormat = "20060102-150405"
	// mostOfAName is how many runs of one second find a name of their own.
	mostOfAName = 10000
	// gathering is how long it may take to ask the server.
	gathering = 20 * time.Second
)

// keep puts what is to be kept into a directory of its own, while the server still answers,
// and returns what to say of it.
func (p *plane) keep(end ending) (left []string, err error) {
	if p.options.Keep == keepNever || p.options.Keep == keepFailure && !end.failed {
		return nil, nil
	}
	directory, err := newDirectory(p.options.Artifacts, "kcp-run-"+p.options.now().Format(stampFormat))
	if err != nil {
		return nil, fmt.Errorf("--artifacts: %w", err)
	}
	kept, err := p.gather(directory)
	if err != nil {
		err = fmt.Errorf("--artifacts: %w", err)
	}
	if len(kept) == 0 {
		return nil, errors.Join(err, os.Remove(directory))
	}
	return []string{fmt.Sprintf("kept %s (%s)", shown(directory), strings.Join(kept, " "))}, err
}

// newDirectory makes a directory of a name, or of that name with a number if there is one.
func newDirectory(parent, name string) (string, error) {
	if err := os.MkdirAll(parent, 0o755); err != nil {
		return "", err
	}
	directory := filepath.Join(parent, name)
	for i := 2; ; i++ {
		err := os.Mkdir(directory, 0o755)
		if !errors.Is(err, fs.ErrExist) || i > mostOfAName {
			return directory, err
		}
		directory = filepath.Join(parent, fmt.Sprintf("%s-%d", name, i))
	}
}

// shown returns a path as one of the working directory, if it is relative.
func shown(path string) string {
	if filepath.IsAbs(path) || strings.HasPrefix(path, "..") {
		return path
	}
	return "." + string(filepath.Separator) + path
}

// gather writes the artifacts and returns their names. What cannot be had does not keep the
// others from being written.
func (p *plane) gather(directory string) (kept []string, err error) {
	var lost []string
	take := func(name string, write func(io.Writer) error) {
		switch e := writeFile(filepath.Join(directory, name), write); {
		case e == nil:
			kept = append(kept, name)
		case err == nil:
			err = e
		default:
			// Mostly for the same reason.
			lost = append(lost, name)
		}
	}
	for _, name := range []string{logName, auditFile} {
		if _, err := os.Stat(p.path(name)); err == nil {
			take(name, func(w io.Writer) error { return copyFile(w, p.path(name)) })
		}
	}
	if p.client != nil {
		ctx, cancel := context.WithTimeout(context.Background(), gathering)
		defer cancel()
		report := p.survey(ctx)
		take(objectsFile, report.writeObjects)
		take(whyFile, report.writeWhy)
	}
	if len(lost) > 0 {
		err = fmt.Errorf("%w; nor could %s be written", err, strings.Join(lost, ", "))
	}
	return kept, err
}

// writeFile writes a file, which is not there if it cannot be written as a whole.
func writeFile(path string, write func(io.Writer) error) error {
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	if err = errors.Join(write(file), file.Close()); err != nil {
		_ = os.Remove(path)
		return fmt.Errorf("writing %s: %w", path, fileerror.Cause(err))
	}
	return nil
}

func copyFile(w io.Writer, from string) error {
	file, err := os.Open(from)
	if err != nil {
		return err
	}
	_, err = io.Copy(w, file)
	return errors.Join(err, file.Close())
}

// unread is what a document says of what could not be read.
func unread(what string, err error) string {
	return fmt.Sprintf("# %s could not be read: %s\n", what, run.Message(err))
}
