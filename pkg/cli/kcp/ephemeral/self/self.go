// Package self runs the program of this process again, for another part of what it does, as
// a process that has nothing to do with the caller's terminal: a session of its own, and none
// of the caller's files but those that it is given.
package self

import (
	"context"
	"os"
	"os/exec"
	"runtime"
)

// name is what the processes are called in lists of processes.
const name = "kcp"

// Command returns the command that runs this program with other arguments, in the session
// that it is given by Start. It goes on whatever ends here.
func Command(args ...string) (*exec.Cmd, error) {
	program, err := executable()
	if err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(context.Background(), program, args...)
	cmd.Args[0] = name
	cmd.SysProcAttr = attributes()
	return cmd, nil
}

// IdleVerb is the argument that makes the program end at once. Nobody types it.
const IdleVerb = "__idle"

// Idle returns a command that ends at once: a small one where there is one, or else this
// program.
func Idle() (*exec.Cmd, error) {
	if program, err := exec.LookPath("true"); err == nil {
		return exec.CommandContext(context.Background(), program), nil
	}
	program, err := executable()
	if err != nil {
		return nil, err
	}
	return exec.CommandContext(context.Background(), program, IdleVerb), nil
}

// executable returns the path of the program of this process, which on Linux leads there even
// if somebody has replaced or removed the file.
func executable() (string, error) {
	const self = "/proc/self/exe"
	if runtime.GOOS == "linux" {
		if _, err := os.Stat(self); err == nil {
			return self, nil
		}
	}
	return os.Executable()
}
