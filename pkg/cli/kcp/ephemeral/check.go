package ephemeral

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/forkless/kcp/internal/apply"
	"github.com/forkless/kcp/internal/archive/place"
	"github.com/forkless/kcp/internal/fileerror"
	"github.com/forkless/kcp/internal/inprocess"
	"github.com/forkless/kcp/pkg/cli/kcp/ephemeral/job"
	"github.com/forkless/kcp/pkg/cli/kcp/start"
	"github.com/forkless/kcp/pkg/cli/output"
	"github.com/forkless/kcp/pkg/server/options"
)

// stdin is what --apply calls the input.
const stdin = "-"

// check looks at everything that can be wrong and needs no server.
func (o *Options) check() (*input, error) {
	in := &input{}
	var err error
	if len(o.Command) > 0 {
		if in.program, err = job.Find(o.Command[0]); err != nil {
			return nil, err
		}
	}
	if in.server, err = o.checkServer(); err != nil {
		return nil, err
	}
	if err := o.read(in); err != nil {
		return nil, err
	}
	if o.Snapshot != "" {
		file, err := os.Open(o.Snapshot)
		if err != nil {
			return nil, fmt.Errorf("--snapshot %s: %w", o.Snapshot, fileerror.Cause(err))
		}
		_ = file.Close()
	}
	if o.Save != "" {
		if err := replaceable(o.Save); err != nil {
			return nil, fmt.Errorf("--save %s cannot be written: %w", o.Save, err)
		}
	}
	if o.Keep == keepNever {
		return in, nil
	}
	if err := o.checkArtifacts(); err != nil {
		return nil, fmt.Errorf("--artifacts %s cannot be written: %w", o.Artifacts, err)
	}
	return in, nil
}

// checkServer returns what is asked of the server. Its directory is not there yet.
func (o *Options) checkServer() (*options.Completed, error) {
	completed, err := inprocess.Check(os.TempDir(), append([]string{"--in-memory"}, o.ServerArgs...)...)
	if err != nil {
		return nil, fmt.Errorf("--kcp-arg: %w", err)
	}
	if !completed.Batteries.Has(options.AdminBattery) {
		return nil, errors.New("--kcp-arg: --batteries-included leaves out admin, whose kubeconfig the command gets; " +
			"--batteries-included=+NAME adds to those that there are, and -NAME takes one away")
	}
	for _, warning := range start.Warnings(completed) {
		o.voice().say("warning: %s", warning)
	}
	return completed, nil
}

// read reads what is to be applied.
func (o *Options) read(in *input) error {
	for _, name := range o.Apply {
		manifests, err := o.readFrom(in, name)
		if p, ok := errors.AsType[*fs.PathError](err); ok {
			return fmt.Errorf("--apply: %s: %w", p.Path, p.Err)
		}
		if err != nil {
			return fmt.Errorf("--apply: %w", err)
		}
		in.manifests = append(in.manifests, manifests...)
	}
	return nil
}

func (o *Options) readFrom(in *input, name string) ([]apply.Manifest, error) {
	if name != stdin {
		return apply.Read(name)
	}
	if in.stdin != nil {
		return nil, errors.New("the input can be read once only")
	}
	content, err := io.ReadAll(o.streams.In)
	if err != nil {
		return nil, fmt.Errorf("reading the input: %w", err)
	}
	in.stdin = append([]byte{}, content...)
	return apply.Parse("stdin", content)
}

// checkArtifacts makes sure that artifacts can be written, and leaves no trace of it.
func (o *Options) checkArtifacts() error {
	made, err := missing(o.Artifacts)
	if err != nil {
		return err
	}
	if err = fileerror.Cause(os.MkdirAll(o.Artifacts, 0o755)); err == nil {
		err = fileerror.Writable(o.Artifacts)
	}
	for _, directory := range made {
		// It goes unless somebody else has put something into it.
		_ = os.Remove(directory)
	}
	return err
}

// missing returns those directories on the way to path that are not there, the lowest first.
func missing(path string) ([]string, error) {
	var all []string
	for at := filepath.Clean(path); ; at = filepath.Dir(at) {
		_, err := os.Stat(at)
		switch {
		case err == nil:
			return all, nil
		case !errors.Is(err, fs.ErrNotExist):
			return nil, fileerror.Cause(err)
		}
		all = append(all, at)
	}
}

// replaceable says why a file cannot be made, or replaced by another one.
func replaceable(file string) error {
	if err := output.Replaceable(file); err != nil {
		return err
	}
	at, err := place.Of(file)
	if err != nil {
		return err
	}
	return fileerror.Writable(filepath.Dir(at))
}
