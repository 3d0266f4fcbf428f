package tui

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"runtime/debug"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"
	"k8s.io/klog/v2"

	"github.com/forkless/kcp/pkg/cli/display"
	"github.com/forkless/kcp/pkg/cli/run"
	"github.com/forkless/kcp/pkg/cli/tui/model"
)

// ErrNoTerminal is the error of Run where nobody can press keys.
var ErrNoTerminal = errors.New("the interactive tree needs a terminal")

// Run shows the tree until somebody leaves it.
func Run(ctx context.Context, config Config) (Result, error) {
	if !display.IsTerminal(config.Streams.In) || !display.IsTerminal(config.Streams.Out) {
		return Result{}, run.Hint(ErrNoTerminal, "kubectl ws tree")
	}
	config.Model.Missing = config.missing()
	if config.Model.Display.Accessible {
		return runLines(ctx, &config)
	}
	return runScreen(ctx, &config)
}

// runScreen shows the tree on the whole screen.
func runScreen(ctx context.Context, config *Config) (Result, error) {
	s := &screen{model: model.New(config.Model), runner: newRunner(ctx, config), looks: config.Model.Display}
	defer s.runner.close()
	// Only the colors of the terminal itself are used, so that its theme decides.
	colors := colorprofile.Ascii
	if config.Model.Display.Color {
		colors = colorprofile.ANSI
	}
	program := tea.NewProgram(s,
		tea.WithContext(ctx),
		tea.WithInput(config.Streams.In),
		tea.WithOutput(config.Streams.Out),
		tea.WithColorProfile(colors),
		// Signals end the context, as they do for every command.
		tea.WithoutSignalHandler(),
	)
	s.runner.send = func(msg model.Msg) { program.Send(msg) }
	s.runner.crashed = func(err error) { program.Send(crashed{err}) }
	if config.Requests != nil {
		s.runner.spawn(func(ctx context.Context) { config.Requests.report(ctx, s.runner.send) })
	}
	if config.Actions.User != nil {
		s.runner.spawn(func(ctx context.Context) {
			// The header names the user of the kubeconfig until the server says better.
			if name, err := config.Actions.User(ctx); err == nil {
				s.runner.send(model.User{Name: display.Line(name)})
			}
		})
	}
	speak := silenceLog()
	_, err := program.Run()
	speak()
	return s.leave(ctx, config.Streams.Out, err)
}

// silenceLog keeps what libraries log from the screen, which they would write across, until
// the function it returns is called.
func silenceLog() (speak func()) {
	before := klog.CaptureState()
	var flags flag.FlagSet
	klog.InitFlags(&flags)
	// Errors would go there in any case.
	_ = flags.Set("stderrthreshold", "FATAL")
	klog.LogToStderr(false)
	klog.SetOutput(io.Discard)
	return before.Restore
}

// screen is the model as Bubble Tea wants to have it.
type screen struct {
	model  *model.Model
	runner *runner
	looks  display.Display
	quit   model.Quit
	err    error
}

// crashed is the message of a bug in a goroutine.
type crashed struct{ err error }

// Init starts what has to be done first.
func (s *screen) Init() tea.Cmd { return s.carryOut(s.model.Start()) }

// Update gives a message to the model, and what it wants done to the runner. A bug ends
// the program the way a key does, so that the terminal is restored first.
func (s *screen) Update(msg tea.Msg) (_ tea.Model, cmd tea.Cmd) {
	defer func() {
		if bug := recover(); bug != nil {
			s.err, cmd = &crash{bug: bug, stack: debug.Stack()}, tea.Quit
		}
	}()
	if c, ok := msg.(crashed); ok {
		s.err = c.err
		return s, tea.Quit
	}
	translated := translate(msg)
	if translated == nil {
		return s, nil
	}
	return s, s.carryOut(s.model.Update(translated))
}

// translate returns a message of the terminal as the model knows it, nil for those that
// it does not know. All others are the runner's.
func translate(msg tea.Msg) model.Msg {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		return model.Size{Width: msg.Width, Height: msg.Height}
	case tea.KeyPressMsg:
		return model.Key(msg.String())
	case tea.PasteMsg:
		return model.Paste(msg.Content)
	case tea.MouseWheelMsg:
		switch msg.Button {
		case tea.MouseWheelUp:
			return model.Wheel(-1)
		case tea.MouseWheelDown:
			return model.Wheel(1)
		}
		return nil
	case tea.KeyReleaseMsg, tea.MouseMsg, tea.ColorProfileMsg, tea.EnvMsg, tea.ModeReportMsg, tea.KeyboardEnhancementsMsg,
		tea.ResumeMsg, tea.SuspendMsg, tea.PasteStartMsg, tea.PasteEndMsg, tea.CapabilityMsg:
		return nil
	}
	return msg
}

// carryOut does what the model wants done. What needs the terminal is Bubble Tea's.
func (s *screen) carryOut(commands []model.Command) tea.Cmd {
	var terminal []tea.Cmd
	for _, command := range commands {
		switch c := command.(type) {
		case model.Quit:
			s.quit = c
			terminal = append(terminal, tea.Quit)
		case model.Copy:
			terminal = append(terminal, tea.SetClipboard(c.Text))
		case model.Suspend:
			terminal = append(terminal, tea.Suspend)
		case model.Edit:
			terminal = append(terminal, s.lend(s.runner.config.Actions.Edit, c.Subject))
		case model.Shell:
			terminal = append(terminal, s.lend(s.runner.config.Actions.Shell, c.Subject))
		default:
			s.runner.do(command)
		}
	}
	return tea.Batch(terminal...)
}

// lend leaves the terminal to something else until that has ended.
func (s *screen) lend(to func(context.Context, model.Subject) error, subject model.Subject) tea.Cmd {
	return tea.Exec(borrower(func() error { return to(s.runner.ctx, subject) }), func(err error) tea.Msg {
		return model.Returned{Problem: problem(err)}
	})
}

// borrower is what runs while it has the terminal. It knows its streams already.
type borrower func() error

// Run runs it.
func (b borrower) Run() error { return b() }

// SetStdin does nothing.
func (borrower) SetStdin(io.Reader) {}

// SetStdout does nothing.
func (borrower) SetStdout(io.Writer) {}

// SetStderr does nothing.
func (borrower) SetStderr(io.Writer) {}

// View draws the frame.
func (s *screen) View() (v tea.View) {
	v.AltScreen = true
	// Only what the wheel says is wanted; a terminal that reports it reports clicks, too.
	v.MouseMode = tea.MouseModeCellMotion
	defer func() {
		if bug := recover(); bug != nil {
			// The next message ends the program. Drawing nothing is all that can be done here.
			s.err = &crash{bug: bug, stack: debug.Stack()}
			go s.runner.crashed(s.err)
		}
	}()
	v.SetContent(s.model.View())
	return v
}

// leave says how the program has ended, on the screen that was there before.
func (s *screen) leave(ctx context.Context, out io.Writer, err error) (Result, error) {
	if crash, ok := errors.AsType[*crash](s.err); ok {
		klog.V(2).Infof("%s\n%s", crash, crash.stack)
		return Result{}, run.Hint(crash, "with -v=2 it says where; the terminal is as it was")
	}
	if ctx.Err() != nil {
		return Result{}, context.Cause(ctx)
	}
	if err != nil {
		return Result{}, fmt.Errorf("drawing the tree: %w", err)
	}
	for _, line := range s.quit.Print {
		if _, err := fmt.Fprintln(out, line); err != nil {
			return Result{}, err
		}
	}
	return Result{To: s.quit.To, Home: s.quit.Home}, nil
}
