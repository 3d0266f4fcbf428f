package job

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"

	"github.com/forkless/kcp/pkg/cli/run"
)

// Find returns the path of a program, or an error with the exit code that shells end with
// when there is none, or none that can be run.
func Find(name string) (path string, err error) {
	path, err = exec.LookPath(name)
	if err != nil {
		return "", run.NotStarted(name, err)
	}
	return path, nil
}

// notStarted returns what is said of a program that was found, and does not start. The system
// says of one that is there that it is not, if it means what is to interpret it.
func notStarted(cmd *exec.Cmd, err error) error {
	if _, missing := os.Stat(cmd.Path); missing == nil && errors.Is(err, fs.ErrNotExist) {
		err = errInterpreter
	}
	return run.NotStarted(cmd.Args[0], err)
}

var errInterpreter = errors.New("what is to interpret it is not there")
