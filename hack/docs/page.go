package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

const generatedNote = "<!-- Written by `make generate` from the command itself. Do not edit. -->\n\n"

// writePages writes a page for each command, and an index of them, and removes pages of
// commands that are not there any more.
func writePages(folder string, all []program) error {
	pages := map[string]string{"README.md": index(all)}
	for _, p := range all {
		visit(p.command, 0, func(cmd *cobra.Command, _ int) { pages[fileOf(cmd)] = page(cmd) })
	}
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	present, err := filepath.Glob(filepath.Join(folder, "*.md"))
	if err != nil {
		return err
	}
	for _, file := range present {
		if _, wanted := pages[filepath.Base(file)]; !wanted {
			if err := os.Remove(file); err != nil {
				return err
			}
		}
	}
	for name, text := range pages {
		file := filepath.Join(folder, name)
		if before, err := os.ReadFile(file); err == nil && bytes.Equal(before, []byte(text)) {
			continue
		}
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// visit calls f for cmd and what is below it, in the order of the help.
func visit(cmd *cobra.Command, depth int, f func(cmd *cobra.Command, depth int)) {
	f(cmd, depth)
	for _, sub := range cmd.Commands() {
		if sub.IsAvailableCommand() && sub.Name() != "help" {
			visit(sub, depth+1, f)
		}
	}
}

// fileOf returns the name of the page of a command.
func fileOf(cmd *cobra.Command) string {
	return strings.ReplaceAll(cmd.CommandPath(), " ", "-") + ".md"
}

// index returns the page that lists the others.
func index(all []program) string {
	var b strings.Builder
	b.WriteString(generatedNote + "# Commands\n\nWhat the help of each command says. Here is how to [install](../../README.md#install) them.\n")
	for _, p := range all {
		fmt.Fprintf(&b, "\n## %s\n\n", p.command.CommandPath())
		visit(p.command, 0, func(cmd *cobra.Command, depth int) {
			fmt.Fprintf(&b, "%s- [%s](%s): %s\n", strings.Repeat("  ", depth), cmd.CommandPath(), fileOf(cmd), escape(cmd.Short))
		})
	}
	return b.String()
}

// page returns the page of a command.
func page(cmd *cobra.Command) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s# %s\n\n%s.\n", generatedNote, cmd.CommandPath(), escape(cmd.Short))
	if cmd.Runnable() {
		fmt.Fprintf(&b, "\n```\n%s\n```\n", cmd.UseLine())
	}
	if cmd.Long != "" {
		b.WriteString("\n" + prose(cmd.Long))
	}
	if cmd.Example != "" {
		fmt.Fprintf(&b, "\n## Examples\n\n```sh\n%s\n```\n", dedent(cmd.Example))
	}
	commands(&b, cmd)
	flags(&b, cmd)
	if len(cmd.Aliases) > 0 && cmd.HasParent() {
		fmt.Fprintf(&b, "\nAlso called %s.\n", strings.Join(cmd.Aliases, ", "))
	}
	if cmd.HasParent() {
		fmt.Fprintf(&b, "\nPart of [%s](%s).\n", cmd.Parent().CommandPath(), fileOf(cmd.Parent()))
	}
	return b.String()
}

func commands(b *strings.Builder, cmd *cobra.Command) {
	heading := "\n## Commands\n\n"
	for _, sub := range cmd.Commands() {
		if sub.IsAvailableCommand() && sub.Name() != "help" {
			fmt.Fprintf(b, "%s- [%s](%s): %s\n", heading, sub.CommandPath(), fileOf(sub), escape(sub.Short))
			heading = ""
		}
	}
}

// flags writes the flags of a command. Those that all commands of a program have are on
// the page of "options" or, without such a command, on the one page there is.
func flags(b *strings.Builder, cmd *cobra.Command) {
	own := pflag.NewFlagSet("own", pflag.ContinueOnError)
	shared := cmd.Root().PersistentFlags()
	folded := cmd.Root().HasSubCommands()
	cmd.LocalFlags().VisitAll(func(f *pflag.Flag) {
		if f.Name != "help" && (!folded || shared.Lookup(f.Name) == nil) {
			own.AddFlag(f)
		}
	})
	if cmd.Name() == "options" {
		own = shared
	}
	if own.HasAvailableFlags() {
		fmt.Fprintf(b, "\n## Flags\n\n```\n%s```\n", own.FlagUsages())
	}
	if cmd.Name() != "options" && folded && shared.HasAvailableFlags() {
		fmt.Fprintf(b, "\n[%[1]s options](%[2]s-options.md) lists the flags that every command has.\n",
			cmd.Root().CommandPath(), strings.ReplaceAll(cmd.Root().CommandPath(), " ", "-"))
	}
}

// prose makes markdown of help: indented lines, which help sets apart, become a block.
func prose(text string) string {
	var b strings.Builder
	inBlock := false
	for line := range strings.Lines(strings.TrimSpace(text) + "\n") {
		indented := strings.HasPrefix(line, "  ")
		switch {
		case indented && !inBlock:
			b.WriteString("\n```\n")
		case !indented && inBlock:
			b.WriteString("```\n")
			if strings.TrimSpace(line) != "" {
				b.WriteString("\n")
			}
		}
		inBlock = indented
		if indented {
			b.WriteString(strings.TrimPrefix(line, "  "))
			continue
		}
		b.WriteString(escape(line))
	}
	if inBlock {
		b.WriteString("```\n")
	}
	return strings.ReplaceAll(b.String(), "\n\n\n", "\n\n")
}

// escape keeps help from being read as markup.
func escape(text string) string {
	return strings.NewReplacer("<", "\\<", "*", "\\*", "_", "\\_").Replace(text)
}

// dedent removes the indentation that examples have in help.
func dedent(text string) string {
	var lines []string
	for line := range strings.Lines(text) {
		lines = append(lines, strings.TrimPrefix(strings.TrimRight(line, "\n"), "  "))
	}
	return strings.TrimSpace(strings.Join(lines, "\n"))
}
