package tui

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/forkless/kcp/pkg/cli/display"
	"github.com/forkless/kcp/pkg/cli/tui/model"
	"github.com/forkless/kcp/pkg/logicalcluster"
)

// linesHelp explains the commands of the mode in which nothing moves.
const linesHelp = `NUMBER opens that workspace, ".." goes up, "l" lists again
"s" switches to this workspace, "s NUMBER" to another; "w" or "w NUMBER" says why it is not ready
"q" leaves`

// lines shows the tree to somebody who has it read aloud: nothing is redrawn, a level of
// the tree is a numbered list, and a command is a line.
type lines struct {
	config *Config
	out    io.Writer
	in     <-chan string

	at    logicalcluster.Path
	items []model.Item
}

// runLines shows the tree line by line until somebody leaves it.
func runLines(ctx context.Context, config *Config) (Result, error) {
	at := config.Model.Current
	if at.Empty() {
		at = logicalcluster.Root.Path()
	}
	l := &lines{config: config, out: config.Streams.Out, in: readLines(config.Streams.In), at: at}
	if err := l.list(ctx); err != nil {
		return Result{}, err
	}
	_, _ = fmt.Fprintln(l.out, linesHelp)
	for {
		_, _ = fmt.Fprint(l.out, "> ")
		var line string
		select {
		case <-ctx.Done():
			return Result{}, context.Cause(ctx)
		case read, ok := <-l.in:
			if !ok {
				return Result{}, nil
			}
			line = read
		}
		result, left, err := l.obey(ctx, strings.Fields(line))
		if left || err != nil {
			return result, err
		}
	}
}

// readLines reads lines until there are none any more. Nothing ends the reading of a
// terminal, so what reads stays behind when the program ends.
func readLines(in io.Reader) <-chan string {
	read := make(chan string)
	go func() {
		defer close(read)
		for scanner := bufio.NewScanner(in); scanner.Scan(); {
			read <- scanner.Text()
		}
	}()
	return read
}

// obey does what a line says. left says that the program is to end.
func (l *lines) obey(ctx context.Context, words []string) (result Result, left bool, err error) {
	if len(words) == 0 {
		return Result{}, false, nil
	}
	item, given := model.Item{Path: l.at, Name: l.at.Base()}, true
	number := words[0]
	if len(words) > 1 {
		number = words[1]
	}
	if i, err := strconv.Atoi(number); err == nil {
		if i < 1 || i > len(l.items) {
			l.say(fmt.Sprintf("there is no number %d here", i))
			return Result{}, false, nil
		}
		item = l.items[i-1]
	} else {
		given = len(words) > 1
	}
	switch word := words[0]; {
	case word == "q":
		return Result{}, true, nil
	case word == "..":
		return Result{}, false, l.up(ctx)
	case word == "l":
		return Result{}, false, l.list(ctx)
	case word == "s" && (item.Path.Empty() || item.Away || item.Phase == model.PhaseTerminating):
		l.say("nobody can go to " + item.Name + " at present")
	case word == "s" && (given || len(words) == 1):
		return Result{To: item.Path}, true, nil
	case word == "w" && l.config.Actions.Why == nil:
		l.say("why: " + l.config.missing()["w"])
	case word == "w":
		l.why(ctx, item)
	case given && len(words) == 1:
		return Result{}, false, l.open(ctx, item)
	default:
		l.say(linesHelp)
	}
	return Result{}, false, nil
}

func (l *lines) say(text string) { _, _ = fmt.Fprintln(l.out, text) }

func (l *lines) up(ctx context.Context) error {
	parent, ok := l.at.Parent()
	if !ok {
		l.say("there is nothing above " + l.at.String())
		return nil
	}
	l.at = parent
	return l.list(ctx)
}

func (l *lines) open(ctx context.Context, item model.Item) error {
	if item.Path.Empty() {
		l.say(item.Name + " has no place yet")
		return nil
	}
	l.at = item.Path
	return l.list(ctx)
}

func (l *lines) why(ctx context.Context, item model.Item) {
	subject := model.Subject{Path: item.Path, Name: item.Name, Cluster: item.Cluster, Parent: l.at}
	if item.Path == l.at {
		subject.Parent, _ = l.at.Parent()
	}
	text, err := l.config.Actions.Why(ctx, subject, 0)
	if err != nil {
		text = "error: " + problem(err)
	}
	l.say(strings.TrimRight(text, "\n"))
}

// list shows what is below the workspace.
func (l *lines) list(ctx context.Context) error {
	items, trouble := l.children(ctx)
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	l.items = items
	l.say(listing(l.at, l.config.Model.Current, items, trouble))
	return nil
}

// children asks once for what is below the workspace.
func (l *lines) children(ctx context.Context) (items []model.Item, trouble string) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	done := false
	l.config.Source.Watch(ctx, model.Watch{Path: l.at}, func(msg model.Msg) {
		if done {
			return
		}
		switch msg := msg.(type) {
		case model.Children:
			items = append(items, msg.Items...)
			done = msg.Last
		case model.Lost:
			done = true
			if msg.Why != model.Childless {
				trouble = msg.Problem
			}
		}
		if done {
			cancel()
		}
	})
	return items, trouble
}

// listing writes what is below a workspace as a numbered list.
func listing(at, current logicalcluster.Path, items []model.Item, trouble string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s", at)
	if at == current {
		b.WriteString(", the current workspace")
	}
	switch {
	case trouble != "":
		fmt.Fprintf(&b, "\nerror: %s", display.Line(trouble))
	case len(items) == 0:
		b.WriteString("\nno workspaces below it")
	}
	for i := range items {
		item := &items[i]
		words := []string{item.Name}
		for _, word := range []string{item.Mount, item.Type} {
			if word != "" {
				words = append(words, word)
				break
			}
		}
		if item.Phase != "" && item.Phase != "Ready" {
			words = append(words, item.Phase)
			if item.Reason != "" {
				words = append(words, item.Reason)
			}
		}
		if item.Path == current {
			words = append(words, "the current workspace")
		}
		fmt.Fprintf(&b, "\n%d. %s", i+1, strings.Join(words, ", "))
	}
	return b.String()
}
