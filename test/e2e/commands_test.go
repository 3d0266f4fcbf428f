package e2e

import (
	"bytes"
	"fmt"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/forkless/kcp/internal/servertest"
)

// between is how long eventually lets pass between two looks: starting kubectl is work.
const between = 200 * time.Millisecond

// commands are those that scripts may use beyond testscript's own.
func (s *suite) commands() map[string]func(ts *testscript.TestScript, neg bool, args []string) {
	return map[string]func(ts *testscript.TestScript, neg bool, args []string){
		"kubectl":    s.kubectl,
		"eventually": s.eventually,
		"follow":     s.follow,
		"on":         s.on,
		"keys":       s.keys,
		"setenv":     s.setenv,
	}
}

// kubectl is short for exec kubectl.
func (s *suite) kubectl(ts *testscript.TestScript, neg bool, args []string) {
	err := ts.Exec(filepath.Join(s.programs, "kubectl"), args...)
	switch {
	case err != nil && !neg:
		ts.Fatalf("kubectl %s: %v", strings.Join(args, " "), err)
	case err == nil && neg:
		ts.Fatalf("kubectl %s succeeded, unexpectedly", strings.Join(args, " "))
	}
}

func (s *suite) eventually(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) < 2 {
		ts.Fatalf("usage: [!] eventually pattern program args...")
	}
	pattern, err := regexp.Compile("(?m)" + args[0])
	ts.Check(err)
	var stdout, stderr string
	for deadline := time.Now().Add(servertest.Patience); time.Now().Before(deadline); <-time.After(between) {
		stdout, stderr, err = s.run(ts, args[1:])
		if neg && err != nil && pattern.MatchString(stderr) || !neg && err == nil && pattern.MatchString(stdout) {
			return
		}
	}
	ts.Fatalf("%s did not come to %q within %s; it said last (%v):\n%s%s",
		strings.Join(args[1:], " "), args[0], servertest.Patience, err, stdout, stderr)
}

// keys looks into etcd.
func (s *suite) keys(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) != 1 {
		ts.Fatalf("usage: [!] keys text")
	}
	keys, err := s.etcd.Keys(args[0])
	ts.Check(err)
	switch {
	case neg && len(keys) == 0:
		ts.Fatalf("no keys in etcd contain %q", args[0])
	case !neg && len(keys) != 0:
		ts.Fatalf("%d keys in etcd contain %q:\n%s", len(keys), args[0], strings.Join(keys, "\n"))
	}
}

func (s *suite) setenv(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: setenv name program args...")
	}
	stdout, stderr, err := s.run(ts, args[1:])
	if err != nil {
		ts.Fatalf("%s: %v\n%s", strings.Join(args[1:], " "), err, stderr)
	}
	ts.Setenv(args[0], strings.TrimSpace(stdout))
}

// run runs a program as a script would, without showing what it prints.
func (s *suite) run(ts *testscript.TestScript, args []string) (stdout, stderr string, err error) {
	program := args[0]
	if program == "kubectl" {
		program = filepath.Join(s.programs, program)
	}
	cmd := exec.Command(program, args[1:]...)
	var out, errOut bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errOut
	cmd.Dir = ts.MkAbs(".")
	for _, name := range []string{"HOME", "KUBECONFIG", "PATH", "TMPDIR"} {
		cmd.Env = append(cmd.Env, fmt.Sprintf("%s=%s", name, ts.Getenv(name)))
	}
	err = cmd.Run()
	return out.String(), errOut.String(), err
}
