package main

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra"
)

func TestPage(t *testing.T) {
	parent := &cobra.Command{Use: "top", Short: "Hold it"}
	parent.PersistentFlags().Bool("shared", false, "A flag of all")
	cmd := &cobra.Command{
		Use: "below <thing>", Short: "Do <it>", Aliases: []string{"under"},
		Long:    "Do it:\n\n  one  the first\n  two  the second\n\nExit codes: 0 done.",
		Example: "  top below one\n  top below two", RunE: func(*cobra.Command, []string) error { return nil },
	}
	cmd.Flags().String("own", "", "A flag of its own")
	parent.AddCommand(cmd)

	want := generatedNote + `# top below

Do \<it>.

'''
top below <thing> [flags]
'''

Do it:

'''
one  the first
two  the second
'''

Exit codes: 0 done.

## Examples

'''sh
top below one
top below two
'''

## Flags

'''
      --own string   A flag of its own
'''

[top options](top-options.md) lists the flags that every command has.

Also called under.

Part of [top](top.md).
`
	if diff := cmp.Diff(strings.ReplaceAll(want, "'''", "```"), page(cmd)); diff != "" {
		t.Errorf("the page of a command (-want +got):\n%s", diff)
	}
}

// TestPagesAreLinked: a link leads to a page that is there.
func TestPagesAreLinked(t *testing.T) {
	pages := map[string]bool{}
	for _, p := range programs() {
		visit(p.command, 0, func(cmd *cobra.Command, _ int) { pages[fileOf(cmd)] = true })
	}
	for _, p := range programs() {
		visit(p.command, 0, func(cmd *cobra.Command, _ int) {
			for _, part := range strings.Split(page(cmd), "](")[1:] {
				if link, _, _ := strings.Cut(part, ")"); strings.HasSuffix(link, ".md") && !pages[link] {
					t.Errorf("the page of %s links to %s, which there is not", cmd.CommandPath(), link)
				}
			}
		})
	}
}
