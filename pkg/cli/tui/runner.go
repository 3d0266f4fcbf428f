package tui

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"sync"
	"time"

	"github.com/forkless/kcp/pkg/cli/run"
	"github.com/forkless/kcp/pkg/cli/tui/model"
)

// runner carries out the commands of the model, each in a goroutine of its own, and
// gives what comes of them to send.
type runner struct {
	config *Config
	send   func(model.Msg)
	// crashed is told of a bug.
	crashed func(error)

	ctx     context.Context
	stop    context.CancelFunc
	running sync.WaitGroup

	mu sync.Mutex
	// cancels end the commands that go on, by their number.
	cancels map[int]context.CancelFunc
}

func newRunner(ctx context.Context, config *Config) *runner {
	r := &runner{config: config, cancels: map[int]context.CancelFunc{}}
	r.ctx, r.stop = context.WithCancel(ctx)
	return r
}

// close ends everything that goes on, and waits for it.
func (r *runner) close() {
	r.stop()
	r.running.Wait()
}

// spawn runs f until it is done or the runner is closed.
func (r *runner) spawn(f func(ctx context.Context)) {
	r.running.Go(func() {
		defer r.guard()
		f(r.ctx)
	})
}

// guard turns a bug into the end of the program, with the terminal restored, instead of
// one in the middle of it.
func (r *runner) guard() {
	if bug := recover(); bug != nil {
		r.crashed(&crash{bug: bug, stack: debug.Stack()})
	}
}

// crash is a bug in this program.
type crash struct {
	bug   any
	stack []byte
}

func (c *crash) Error() string { return fmt.Sprintf("a bug in this program ended it: %v", c.bug) }

// numbered runs f under a number by which cancel ends it.
func (r *runner) numbered(seq int, f func(ctx context.Context)) {
	ctx, cancel := context.WithCancel(r.ctx)
	r.mu.Lock()
	r.cancels[seq] = cancel
	r.mu.Unlock()
	r.spawn(func(context.Context) {
		defer r.cancel(seq)
		f(ctx)
	})
}

// cancel ends the command with a number, if it goes on.
func (r *runner) cancel(seq int) {
	r.mu.Lock()
	cancel := r.cancels[seq]
	delete(r.cancels, seq)
	r.mu.Unlock()
	if cancel != nil {
		cancel()
	}
}

// later sends a message after some time.
func (r *runner) later(c model.Later) {
	r.spawn(func(ctx context.Context) {
		timer := time.NewTimer(c.After)
		defer timer.Stop()
		select {
		case <-ctx.Done():
		case now := <-timer.C:
			r.send(model.Elapsed{Now: now, Msg: c.Msg})
		}
	})
}

// do carries out a command that needs no terminal. It does not wait for it.
func (r *runner) do(command model.Command) {
	switch c := command.(type) {
	case model.Watch:
		r.numbered(c.Seq, func(ctx context.Context) { r.config.Source.Watch(ctx, c, r.unless(ctx)) })
	case model.Unwatch:
		r.cancel(c.Seq)
	case model.Cancel:
		r.cancel(c.Seq)
	case model.Describe:
		r.numbered(c.Seq, func(ctx context.Context) { r.config.Source.Describe(ctx, c, r.unless(ctx)) })
	case model.Later:
		r.later(c)
	default:
		r.act(command)
	}
}

// unless returns what sends a message as long as ctx is not done.
func (r *runner) unless(ctx context.Context) func(model.Msg) {
	return func(msg model.Msg) {
		if ctx.Err() == nil {
			r.send(msg)
		}
	}
}

// act carries out a command that is an action.
func (r *runner) act(command model.Command) {
	a := &r.config.Actions
	ask := func(seq int, f func(ctx context.Context) model.Msg) {
		r.numbered(seq, func(ctx context.Context) { r.unless(ctx)(f(ctx)) })
	}
	switch c := command.(type) {
	case model.FindHome:
		ask(c.Seq, func(ctx context.Context) model.Msg {
			p, err := a.Home(ctx)
			return model.Home{Seq: c.Seq, Path: p, Problem: problem(err)}
		})
	case model.AskTypes:
		ask(c.Seq, func(ctx context.Context) model.Msg {
			if a.Types == nil {
				return model.Types{Seq: c.Seq}
			}
			types, standard, err := a.Types(ctx, c.Parent)
			return model.Types{Seq: c.Seq, Types: types, Default: standard, Problem: problem(err)}
		})
	case model.AskPreview:
		ask(c.Seq, func(ctx context.Context) model.Msg {
			text, protected, err := a.Preview(ctx, c.Subject)
			return model.Preview{Seq: c.Seq, Text: text, Protected: protected, Problem: problem(err)}
		})
	case model.AskWhy:
		ask(c.Seq, func(ctx context.Context) model.Msg {
			text, err := a.Why(ctx, c.Subject, c.Width)
			return model.Reasons{Seq: c.Seq, Text: text, Problem: problem(err)}
		})
	case model.AskConsumers:
		ask(c.Seq, func(ctx context.Context) model.Msg {
			clusters, err := a.Consumers(ctx, c.Subject, c.Export)
			return model.Consumers{Seq: c.Seq, Clusters: clusters, Problem: problem(err)}
		})
	case model.Walk:
		r.walk(c)
	default:
		r.change(command)
	}
}

// change carries out a command that changes something. Those go on when nobody waits for
// them any more: a request that was sent may have been heard.
func (r *runner) change(command model.Command) {
	a := &r.config.Actions
	switch c := command.(type) {
	case model.Create:
		r.spawn(func(ctx context.Context) {
			err := a.Create(ctx, c.Parent, c.Name, c.Type)
			r.send(model.Created{Seq: c.Seq, Problem: problem(err), Hints: run.Hints(err)})
		})
	case model.Delete:
		r.spawn(func(ctx context.Context) {
			r.send(model.Deleted{Seq: c.Seq, Problem: problem(a.Delete(ctx, c.Subject))})
		})
	case model.TogglePin:
		r.spawn(func(ctx context.Context) {
			pins, said, err := a.TogglePin(ctx, c.Path)
			r.send(model.Pinned{Pins: pins, Said: said, Problem: problem(err)})
		})
	}
}

// walk looks for workspaces.
func (r *runner) walk(c model.Walk) {
	r.numbered(c.Seq, func(ctx context.Context) {
		emit := r.unless(ctx)
		if r.config.Actions.Walk != nil {
			// What a walk cannot read it leaves out; that is no reason to find nothing.
			_ = r.config.Actions.Walk(ctx, c.Top, func(items []model.Item) {
				emit(model.Found{Seq: c.Seq, Items: items})
			})
		}
		emit(model.Found{Seq: c.Seq, Done: true})
	})
}

// problem returns err in a line, "" if there is none.
func problem(err error) string {
	switch {
	case err == nil:
		return ""
	case errors.Is(err, context.Canceled):
		return "interrupted"
	default:
		return run.Message(err)
	}
}
