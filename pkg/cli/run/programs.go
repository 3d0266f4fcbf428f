package run

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"syscall"
)

// The exit codes of those who run other programs, as shells have them: of a program that
// cannot be executed, of one that is not there, and, with its number added, of a signal that
// has ended one.
const (
	codeNotExecutable = 126
	codeNotThere      = 127
	codeSignal        = 128
)

// NotStarted returns what a shell says of a program that did not start because of err, with
// the exit code that it ends with.
func NotStarted(program string, err error) error {
	code := StartCode(err)
	if code == codeNotThere {
		return Code(code, fmt.Errorf("%s: command not found", program))
	}
	reason := err
	if named, ok := errors.AsType[*fs.PathError](err); ok {
		// It may be one of several errors, and the others are about what was done after it.
		reason = named.Err
	}
	for unwrapped := errors.Unwrap(reason); unwrapped != nil; unwrapped = errors.Unwrap(reason) {
		reason = unwrapped
	}
	return Code(code, fmt.Errorf("%s cannot be run: %w", program, reason))
}

// StartCode returns the exit code of a shell in which a program did not start because of
// err.
func StartCode(err error) int {
	if errors.Is(err, exec.ErrNotFound) || errors.Is(err, fs.ErrNotExist) {
		return codeNotThere
	}
	return codeNotExecutable
}

// SignalCode returns the exit code that shells give to what a signal has ended.
func SignalCode(s os.Signal) int {
	if number, ok := s.(syscall.Signal); ok {
		return codeSignal + int(number)
	}
	return codeFailed
}
