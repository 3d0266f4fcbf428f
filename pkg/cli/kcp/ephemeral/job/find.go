package job

import (
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
