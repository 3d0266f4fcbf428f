package job

import (
	"errors"
	"fmt"
	"io/fs"
	"os/exec"

	"github.com/forkless/kcp/pkg/cli/run"
)

// The exit codes for programs that could not be run, as shells have them.
const (
	codeNotExecutable = 126
	codeNotFound      = 127
)

// Find returns the path of a program, or an error with the exit code that shells end with
// when there is none, or none that can be run.
func Find(name string) (path string, err error) {
	path, err = exec.LookPath(name)
	if err != nil {
		return "", refusal(name, err)
	}
	return path, nil
}

// refusal returns what a shell says of a program that does not start.
func refusal(name string, err error) error {
	if errors.Is(err, exec.ErrNotFound) || errors.Is(err, fs.ErrNotExist) {
		return run.Code(codeNotFound, fmt.Errorf("%s: command not found", name))
	}
	reason := err
	for unwrapped := errors.Unwrap(reason); unwrapped != nil; unwrapped = errors.Unwrap(reason) {
		reason = unwrapped
	}
	return run.Code(codeNotExecutable, fmt.Errorf("%s cannot be run: %w", name, reason))
}
