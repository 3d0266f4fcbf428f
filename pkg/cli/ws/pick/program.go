package pick

import (
	"context"
	"io"
	"strings"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"

	"github.com/forkless/kcp/pkg/cli/display"
	"github.com/forkless/kcp/pkg/cli/run"
	"github.com/forkless/kcp/pkg/cli/ws/pick/model"
)

// inline is the picker as Bubble Tea wants to have it. It is drawn below the prompt, and
// is gone when it ends.
type inline struct {
	model   *model.Model
	display display.Display
	results <-chan found
	answer  model.Answer
}

// runInline shows the picker until somebody has answered. It is drawn on out, for the
// output may be a pipe.
func runInline(ctx context.Context, in io.Reader, out io.Writer, d display.Display, m *model.Model, results <-chan found) (model.Answer, error) {
	colors := colorprofile.Ascii
	if d.Color {
		colors = colorprofile.ANSI
	}
	p := &inline{model: m, display: d, results: results}
	program := tea.NewProgram(p,
		tea.WithInput(in),
		tea.WithOutput(out),
		tea.WithColorProfile(colors),
		// Signals end the context, as they do for every command.
		tea.WithoutSignalHandler(),
	)
	// A program that is left by a key takes away what it has drawn, one that is killed
	// does not.
	defer context.AfterFunc(ctx, func() { program.Send(interrupted{}) })()
	_, err := program.Run()
	if ctx.Err() != nil {
		return model.None, run.Stopped(ctx)
	}
	return p.answer, err
}

// interrupted is the message that somebody wants the program to end.
type interrupted struct{}

// Init begins to listen to what is found.
func (p *inline) Init() tea.Cmd { return p.listen }

// listen returns what is found next. It is called outside of Update.
func (p *inline) listen() tea.Msg {
	f, ok := <-p.results
	if !ok {
		return nil
	}
	return f
}

// Update gives a message to the model.
func (p *inline) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		p.display.Width = msg.Width
	case tea.KeyPressMsg:
		if msg.Text != "" && msg.Text != " " && msg.Mod&^tea.ModShift == 0 {
			p.model.Type(msg.Text)
			return p, nil
		}
		return p.decide(p.model.Key(msg.String()), nil)
	case tea.PasteMsg:
		p.model.Type(msg.Content)
	case interrupted:
		return p.decide(model.Leave, nil)
	case found:
		p.model.Add(msg.candidates...)
		if !msg.complete {
			return p, p.listen
		}
		return p.decide(p.model.Complete(msg.trouble), nil)
	}
	return p, nil
}

// decide ends the program once there is an answer.
func (p *inline) decide(a model.Answer, next tea.Cmd) (tea.Model, tea.Cmd) {
	if a == model.None {
		return p, next
	}
	p.answer = a
	return p, tea.Quit
}

// View draws the picker, and nothing once there is an answer.
func (p *inline) View() tea.View {
	if p.answer != model.None {
		return tea.NewView("")
	}
	lines, cursor := p.model.View(p.display)
	v := tea.NewView(strings.Join(lines, "\n"))
	v.Cursor = tea.NewCursor(cursor, 0)
	return v
}
