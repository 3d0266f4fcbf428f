package ephemeral

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"time"

	"github.com/forkless/kcp/internal/apply"
	"github.com/forkless/kcp/pkg/cli/kcp/ephemeral/job"
	"github.com/forkless/kcp/pkg/cli/run"
	"github.com/forkless/kcp/pkg/server/options"
)

// grace is how long the command may take to end when its time is up.
const grace = 10 * time.Second

// Run runs the command with a control plane. The error has the exit code of the command.
func (o *Options) Run(ctx context.Context) error {
	err := o.run(ctx)
	if o.detached && err != nil {
		o.reportError(err)
	}
	return err
}

func (o *Options) run(ctx context.Context) error {
	input, err := o.check()
	if err != nil {
		return err
	}
	if o.Detach {
		return o.leave(ctx, input)
	}
	p, err := open(o, input)
	if err != nil {
		return err
	}
	end := o.live(ctx, p, input)
	left, keepErr := p.keep(end)
	saved, closeErr := p.close(end.ready)
	end.say(o, append(left, saved...))
	err = errors.Join(keepErr, closeErr)
	if err != nil && run.IsExit(end.err) {
		// The exit code is that of the command all the same, which has said the rest.
		run.Report(o.streams.ErrOut, err)
		return end.err
	}
	return errors.Join(end.err, err)
}

// input is what a run begins with that was found to be good.
type input struct {
	// program is the path of the command, empty without one.
	program   string
	manifests []apply.Manifest
	// server is what is asked of the server.
	server *options.Completed
	// stdin is what was read from there.
	stdin []byte
}

// ending is how a run has ended.
type ending struct {
	// ready says that the command could run.
	ready bool
	// how is what is said of it, empty if the error says it all.
	how string
	// failed says that the command has failed, or could not run.
	failed bool
	// err has the exit code.
	err error
}

// say says how it has ended, and what is left.
func (e ending) say(o *Options, left []string) {
	switch {
	case e.how != "":
		o.voice().over(e.how, o.now().Sub(o.began), left)
	case len(left) > 0:
		o.voice().say("%s", strings.Join(left, ", "))
	}
}

// live starts the server, prepares the workspace and runs the command.
func (o *Options) live(ctx context.Context, p *plane, in *input) ending {
	if err := o.prepare(ctx, p, in); err != nil {
		return ending{failed: true, err: err}
	}
	if o.detached {
		return o.stay(ctx, p)
	}
	o.voice().ready(o.now().Sub(o.began), p.server.URL(), o.Command, p.kubeconfig)
	if len(o.Command) == 0 {
		return o.serve(ctx, p, "", o.Timeout)
	}
	return o.work(ctx, p, in.program)
}

// prepare does what comes before the command, in the time that there is for it.
func (o *Options) prepare(ctx context.Context, p *plane, in *input) error {
	limited, cancel := ctx, context.CancelFunc(func() {})
	if o.StartTimeout > 0 {
		limited, cancel = context.WithTimeout(ctx, o.StartTimeout)
	}
	defer cancel()
	err := p.start(limited)
	if err == nil {
		err = p.furnish(limited, in.manifests)
	}
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return ctx.Err()
	case limited.Err() != nil:
		return run.Timeout(fmt.Errorf("not ready after %s (--start-timeout): %w", span(o.StartTimeout), unfinished{err}))
	default:
		return err
	}
}

// work runs the command.
func (o *Options) work(ctx context.Context, p *plane, program string) ending {
	if ctx.Err() != nil {
		return ending{failed: true, err: ctx.Err()}
	}
	cmd := &exec.Cmd{Path: program, Args: o.Command, Env: environmentOfCommand(p).over(os.Environ())}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = o.streams.In, o.streams.Out, o.streams.ErrOut
	j, err := job.Start(cmd, p.watcher.Group)
	if err != nil {
		return ending{ready: true, failed: true, err: err}
	}
	if ctx.Err() != nil {
		// A signal came before the job was there to pass it on.
		j.End(grace)
		j.Wait()
		p.watcher.Group(0)
		return ending{failed: true, err: ctx.Err()}
	}
	var up <-chan time.Time
	if o.Timeout > 0 {
		up = time.After(o.Timeout)
	}
	var early error
	select {
	case <-j.Done():
	case <-up:
		early = run.Timeout(fmt.Errorf("%s has not ended after %s (--timeout)", strings.Join(o.Command, " "), span(o.Timeout)))
		j.End(grace)
	case <-p.server.Done():
		early = errors.New("the server has ended before the command")
		j.End(grace)
	}
	code := j.Wait()
	p.watcher.Group(0)
	if early != nil {
		return ending{ready: true, failed: true, how: "ended", err: early}
	}
	return ending{ready: true, failed: code != 0, how: fmt.Sprintf("exit %d", code), err: run.Exit(code)}
}

// serve serves until a signal or, if that is not 0, for some time. how is what is said when
// that is over.
func (o *Options) serve(ctx context.Context, p *plane, how string, limit time.Duration) ending {
	var up <-chan time.Time
	if limit > 0 {
		up = time.After(limit)
	}
	p.rest(ctx)
	select {
	case <-ctx.Done():
		return ending{ready: true, how: "stopped"}
	case <-up:
		end := ending{ready: true, how: "ended"}
		if how == "" {
			end.err = run.Timeout(fmt.Errorf("%s are over (--timeout)", span(limit)))
		}
		return end
	case <-p.server.Done():
		return ending{ready: true, failed: true, err: errors.New("the server has ended by itself")}
	}
}
