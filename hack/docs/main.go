// Command docs writes what is made of the commands themselves: a page of documentation
// for each of them (a step of `make generate`), and for releases man pages and scripts
// for shells.
//
//	docs -markdown docs/cli
//	docs -man dist-docs/man -completion dist-docs/completion -date 2026-11-21T12:00:00Z
//
// Pages say nothing that the help of a command does not say: whoever finds one wrong
// mends the command.
package main

import (
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"

	"github.com/forkless/kcp/pkg/cli/completion"
	"github.com/forkless/kcp/pkg/cli/kcp"
	"github.com/forkless/kcp/pkg/cli/kcpplugin"
	"github.com/forkless/kcp/pkg/cli/kcpplugin/types"
	"github.com/forkless/kcp/pkg/cli/run"
	"github.com/forkless/kcp/pkg/cli/ws"
)

func main() {
	var t targets
	flag.StringVar(&t.markdown, "markdown", "", "folder for a page for each command; other pages there are removed")
	flag.StringVar(&t.man, "man", "", "folder for man pages")
	flag.StringVar(&t.completion, "completion", "", "folder for completion scripts")
	flag.StringVar(&t.date, "date", "", "date of the man pages, as in RFC 3339")
	flag.Parse()
	if err := t.write(); err != nil {
		fmt.Fprintf(os.Stderr, "error: %v\n", err)
		os.Exit(1)
	}
}

// targets are where to write what.
type targets struct {
	markdown, man, completion, date string
}

// program is one of our executables.
type program struct {
	name    string
	command *cobra.Command
}

// programs returns the executables. Nothing is run of them, so that they need no server
// and no home directory.
func programs() []program {
	streams := run.Streams{In: strings.NewReader(""), Out: io.Discard, ErrOut: io.Discard}
	all := []program{
		{"kubectl-ws", ws.NewPlugin(streams)},
		{"kubectl-create-workspace", ws.NewCreatePlugin(streams)},
		{"kubectl-create-workspacetype", types.NewCreatePlugin(streams)},
		{"kubectl-kcp", kcpplugin.NewPlugin(streams)},
		{"kcp", kcp.New(streams, nil)},
	}
	for _, p := range all {
		prune(p.command)
	}
	return all
}

// prune removes the commands that are the same elsewhere: "kubectl kcp workspace" is
// "kubectl ws". cobra's own commands explain themselves.
func prune(cmd *cobra.Command) {
	cmd.CompletionOptions.DisableDefaultCmd = true
	cmd.DisableAutoGenTag = true
	for _, sub := range cmd.Commands() {
		if cmd.CommandPath() == "kubectl kcp" && sub.Name() == "workspace" {
			sub.Long += "\n\n\"kubectl kcp workspace\" and \"kubectl ws\" are the same command, with the same commands below it."
			sub.Example = ""
			for _, below := range sub.Commands() {
				sub.RemoveCommand(below)
			}
		}
		prune(sub)
	}
}

func (t targets) write() error {
	all := programs()
	if t.markdown != "" {
		if err := writePages(t.markdown, all); err != nil {
			return fmt.Errorf("writing pages: %w", err)
		}
	}
	if t.man != "" {
		if err := writeManPages(t.man, t.date, all); err != nil {
			return fmt.Errorf("writing man pages: %w", err)
		}
	}
	if t.completion != "" {
		return writeScripts(t.completion, all)
	}
	return nil
}

// writeManPages writes a man page for each command. They carry the date of the release,
// and not that of the day, so that two builds give the same.
func writeManPages(folder, date string, all []program) error {
	released, err := time.Parse(time.RFC3339, date)
	if err != nil {
		return fmt.Errorf("-date: %w", err)
	}
	for _, p := range all {
		of := filepath.Join(folder, p.name)
		if err := os.MkdirAll(of, 0o755); err != nil {
			return err
		}
		header := &doc.GenManHeader{Section: "1", Source: "kcp", Manual: "kcp", Date: &released}
		if err := doc.GenManTree(p.command, header, of); err != nil {
			return err
		}
	}
	return nil
}

// scriptName returns the name under which a shell looks for the script of a program.
func scriptName(shell, name string) string {
	switch shell {
	case "zsh":
		return "_" + name
	case "fish":
		return name + ".fish"
	case "powershell":
		return name + ".ps1"
	default:
		return name + "." + shell
	}
}

func writeScripts(folder string, all []program) error {
	for _, p := range all {
		of := filepath.Join(folder, p.name)
		if err := os.MkdirAll(of, 0o755); err != nil {
			return err
		}
		for _, shell := range completion.Shells() {
			file, err := os.Create(filepath.Join(of, scriptName(shell, p.name)))
			if err != nil {
				return err
			}
			err = completion.WriteScript(file, shell, p.name)
			if closed := file.Close(); err == nil {
				err = closed
			}
			if err != nil {
				return fmt.Errorf("script of %s for %s: %w", p.name, shell, err)
			}
		}
	}
	return nil
}
