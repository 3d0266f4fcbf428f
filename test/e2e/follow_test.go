package e2e

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"

	"github.com/creack/pty"
	"github.com/rogpeppe/go-internal/testscript"

	"github.com/forkless/kcp/internal/servertest"
)

// deepestQuestion is how many questions may lead from one to the next.
const deepestQuestion = 4

// follow asks a question, such as "kubectl ws why", until it is answered with something to
// be done, and does that: it runs the commands behind "next", as they are printed, in a
// terminal in which every question is answered with the given answer.
func (s *suite) follow(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: follow answer program args...")
	}
	answer, question := args[0], strings.Join(args[1:], " ")
	for range deepestQuestion {
		var steps []string
		steps, question = s.ask(ts, question)
		if question != "" {
			continue
		}
		for _, step := range steps {
			output, err := s.inTerminal(ts, step, answer)
			ts.Logf("$ %s\n%s", step, output)
			if err != nil {
				ts.Fatalf("%s: %v", step, err)
			}
		}
		return
	}
	ts.Fatalf("one question leads to the other, the last is %s", question)
}

// ask runs a command until it prints what to do next: what it looks at may come about a
// moment later. It returns these commands or, if the first of them is another question, that.
func (s *suite) ask(ts *testscript.TestScript, question string) (steps []string, next string) {
	var stdout, stderr string
	var err error
	for deadline := time.Now().Add(servertest.Patience); time.Now().Before(deadline); <-time.After(between) {
		stdout, stderr, err = s.run(ts, []string{"sh", "-c", question})
		if steps = nextSteps(stdout); len(steps) > 0 {
			ts.Logf("$ %s\n%s", question, stdout)
			break
		}
	}
	if len(steps) == 0 {
		ts.Fatalf("%s does not say what to do next (%v):\n%s%s", question, err, stdout, stderr)
	}
	if isQuestion(steps[0]) {
		return nil, steps[0]
	}
	return steps, ""
}

// nextSteps returns the commands behind the first "next" of a diagnosis.
func nextSteps(output string) []string {
	var steps []string
	for _, line := range strings.Split(output, "\n") {
		rest, first := strings.CutPrefix(line, "next     ")
		more, further := strings.CutPrefix(line, "         ")
		switch {
		case first && len(steps) == 0:
		case further && len(steps) > 0 && !first:
			rest = more
		case len(steps) > 0:
			return steps
		default:
			continue
		}
		// Behind five spaces stands what the command does.
		command, _, _ := strings.Cut(rest, "     ")
		steps = append(steps, command)
	}
	return steps
}

// isQuestion says whether a command only finds out more.
func isQuestion(command string) bool {
	return (strings.HasPrefix(command, "kubectl kcp debug ") || strings.HasPrefix(command, "kubectl ws why ")) && !strings.Contains(command, " --done ")
}

// inTerminal runs a command of a shell in a terminal.
func (s *suite) inTerminal(ts *testscript.TestScript, command, answer string) (output string, err error) {
	cmd := exec.Command("sh", "-c", command)
	cmd.Dir = ts.MkAbs(".")
	cmd.Env = append(cmd.Env, "TERM=dumb", "LANG=C.UTF-8")
	for _, name := range []string{"HOME", "KUBECONFIG", "PATH"} {
		cmd.Env = append(cmd.Env, fmt.Sprintf("%s=%s", name, ts.Getenv(name)))
	}
	terminal, err := pty.Start(cmd)
	if err != nil {
		return "", err
	}
	defer func() { _ = terminal.Close() }()
	if _, err := io.WriteString(terminal, answer+"\n"); err != nil {
		return "", err
	}
	var printed bytes.Buffer
	if _, err := io.Copy(&printed, terminal); err != nil && !isHangup(err) {
		return printed.String(), err
	}
	return printed.String(), cmd.Wait()
}

// isHangup says whether err is how a terminal says that nobody has it open any more.
func isHangup(err error) bool {
	path := (*os.PathError)(nil)
	return errors.As(err, &path) && errors.Is(path.Err, syscall.EIO)
}
