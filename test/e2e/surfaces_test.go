package e2e

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
	"github.com/rogpeppe/go-internal/testscript"
)

const (
	// pages is the folder with a page for each command.
	pages = "../../docs/cli"
	// narrow is the width of a narrow terminal, in columns.
	narrow = 40
)

var (
	driving  = regexp.MustCompile(`[\x1b\r]`)
	coloring = regexp.MustCompile(`\x1b\[[0-9;]*m`)
	// heading is the first line of a table.
	heading = regexp.MustCompile(`^[A-Z]+( +[A-Z][A-Z-]+)+ *$`)
	// silent are pages of commands that do nothing themselves, but for showing how to call others.
	silent = regexp.MustCompile(`^(README|kcp|kcp-start-options|kubectl-ws|kubectl-kcp(-(bind|claims|claims-get|crd|debug|export|type))?|kubectl-(ws|kcp)-(options|completion))$`)
	// formats is how a page says that there are documents.
	formats = regexp.MustCompile(`--output string +Output format: json`)
)

// on runs a program where people and programs look at what it prints, and holds it against
// what must be so there.
func (s *suite) on(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) < 2 {
		ts.Fatalf("usage: [!] on pipe|json|narrow|nocolor program args...")
	}
	where, line := args[0], args[1:]
	env := map[string]string{"TERM": "xterm-256color", "LC_ALL": "C.UTF-8"}
	switch where {
	case "pipe":
	case "json":
		line = slices.Insert(slices.Clone(line), len(line), "-o", "json")
	case "narrow":
		line = append([]string{"terminal", strconv.Itoa(narrow)}, line...)
	case "nocolor":
		env["NO_COLOR"] = "1"
		line = append([]string{"terminal", "80"}, line...)
	default:
		ts.Fatalf("%s is none of pipe, json, narrow, nocolor", where)
	}
	for name, value := range env {
		defer ts.Setenv(name, ts.Getenv(name))
		ts.Setenv(name, value)
	}
	err := ts.Exec(line[0], line[1:]...)
	switch {
	case err != nil && !neg:
		ts.Fatalf("%s: %v", strings.Join(args, " "), err)
	case err == nil && neg:
		ts.Fatalf("%s succeeded, unexpectedly", strings.Join(args, " "))
	}
	if problem := unfit(where, ts.ReadFile("stdout"), ts.ReadFile("stderr")); problem != "" {
		ts.Fatalf("%s: %s", strings.Join(args, " "), problem)
	}
}

// unfit says what is wrong with what has been printed; nothing if it is as it should be.
func unfit(where, stdout, stderr string) string {
	switch where {
	case "json":
		if !json.Valid([]byte(stdout)) {
			return "it does not print JSON alone"
		}
		fallthrough
	case "pipe":
		if driving.MatchString(stdout + stderr) {
			return "it prints what is for terminals"
		}
	case "narrow":
		lines := strings.Split(stdout, "\n")
		for _, line := range lines {
			// Sentences are for the terminal to fold; tables have to fit.
			if heading.MatchString(ansi.Strip(lines[0])) && ansi.StringWidth(line) > narrow {
				return "a row is wider than the terminal: " + line
			}
		}
	case "nocolor":
		if coloring.MatchString(stdout) {
			return "it prints colors"
		}
	}
	return ""
}

// TestEveryCommand sees that scripts run every command in every way: as it should be called
// and as it should not, into a pipe, in a narrow terminal, without colors, and for programs.
func TestEveryCommand(t *testing.T) {
	var lines []string
	for _, area := range areas(t) {
		files, err := filepath.Glob(filepath.Join(scripts, area, "*.txtar"))
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			script, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			lines = append(lines, strings.Split(string(script), "\n")...)
		}
	}
	files, err := filepath.Glob(filepath.Join(pages, "*.md"))
	if err != nil || len(files) == 0 {
		t.Fatalf("there are no pages of commands: %v", err)
	}
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".md")
		if silent.MatchString(name) {
			continue
		}
		page, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		ways := []string{"on pipe ", "! on pipe ", "on narrow ", "on nocolor "}
		if formats.Match(page) {
			ways = append(ways, "on json ")
		}
		command := title(string(page))
		for _, way := range ways {
			if !slices.ContainsFunc(lines, func(line string) bool { return strings.HasPrefix(line+" ", way+command+" ") }) {
				t.Errorf("no script has a line %q", way+command)
			}
		}
	}
}

// title returns the heading of a page, which is the command.
func title(page string) string {
	_, rest, _ := strings.Cut(page, "\n# ")
	heading, _, _ := strings.Cut(rest, "\n")
	return heading
}
