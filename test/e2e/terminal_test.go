package e2e

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"

	"github.com/creack/pty"
	"github.com/rogpeppe/go-internal/testscript"
)

// TestMain lets scripts run the programs that are part of the tests themselves.
func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"terminal": func() { os.Exit(terminal(os.Args[1:])) }})
}

// terminal runs a program in a pseudo-terminal, types what it reads itself, and prints
// what is to be seen. It returns the exit code of the program.
func terminal(args []string) int {
	if len(args) < 2 {
		fmt.Fprintln(os.Stderr, "usage: terminal columns program args...")
		return 1
	}
	columns, err := strconv.ParseUint(args[0], 10, 16)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	// Its life is that of the test.
	cmd := exec.Command(args[1], args[2:]...)
	screen, err := pty.StartWithSize(cmd, &pty.Winsize{Rows: 24, Cols: uint16(columns)})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer func() { _ = screen.Close() }()
	go func() { _, _ = io.Copy(screen, os.Stdin) }()
	// Reading ends with an error when the program has closed the other side.
	seen, _ := io.ReadAll(screen)
	_, _ = io.WriteString(os.Stdout, strings.ReplaceAll(string(seen), "\r\n", "\n"))
	var exit *exec.ExitError
	switch err := cmd.Wait(); {
	case errors.As(err, &exit):
		return exit.ExitCode()
	case err != nil:
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}
