package start

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"time"

	"github.com/forkless/kcp/internal/launch"
	"github.com/forkless/kcp/pkg/cli/run"
	"github.com/forkless/kcp/pkg/server/options"
)

// detachedFlag tells a process that it is the server that another one was to detach.
const detachedFlag = "detached"

// detach runs the server in a process of its own, which belongs to no terminal, and
// returns when it is ready, or what it has failed with.
//
// Until it is ready the other process says everything to this one, word for word. Then it
// lets go of both streams: that the first one ends without the process is how this one
// knows.
func (o *Options) detach(ctx context.Context) error {
	if err := keepDescriptors(); err != nil {
		return fmt.Errorf("detaching the server: %w", err)
	}
	program, err := os.Executable()
	if err != nil {
		return fmt.Errorf("detaching the server: %w", err)
	}
	other := &exec.Cmd{
		// Its name is that of this one, which may decide what the program is.
		Path: program, Args: append(append([]string{}, o.arguments...), "--"+detachedFlag),
		SysProcAttr: ofItsOwn(),
	}
	out, err := other.StdoutPipe()
	if err != nil {
		return fmt.Errorf("detaching the server: %w", err)
	}
	errOut, err := other.StderrPipe()
	if err != nil {
		return fmt.Errorf("detaching the server: %w", err)
	}
	if err := other.Start(); err != nil {
		return fmt.Errorf("detaching the server: %w", err)
	}
	// Who is told to stop while the server starts does not want it.
	defer context.AfterFunc(ctx, func() { _ = terminate(other.Process) })()

	said := &counting{Writer: o.streams.Out}
	var reading sync.WaitGroup
	reading.Go(func() { _, _ = io.Copy(said, out) })
	reading.Go(func() { _, _ = io.Copy(o.streams.ErrOut, errOut) })
	reading.Wait()
	if said.bytes > 0 && ctx.Err() == nil {
		return other.Process.Release()
	}
	return ended(ctx, other.Wait())
}

// ended returns what a command ends with whose server has ended, which has said why.
func ended(ctx context.Context, err error) error {
	exit, ok := errors.AsType[*exec.ExitError](err)
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case err == nil:
		return errors.New("the server has stopped before it was ready")
	case ok && exit.Exited():
		return run.Exit(exit.ExitCode())
	default:
		return fmt.Errorf("the server has ended before it was ready: %w", err)
	}
}

// counting counts what is written.
type counting struct {
	io.Writer
	bytes int
}

func (c *counting) Write(p []byte) (int, error) {
	c.bytes += len(p)
	return c.Writer.Write(p)
}

// detachedView is that of a server that has a terminal only until it is ready.
type detachedView struct {
	terminalView
	log *os.File
}

func (v detachedView) ready(s summary) {
	logView{}.ready(s)
	v.terminalView.ready(s)
	// From now on nobody listens there. What the process says when it crashes is in the log.
	if err := letGo(v.log); err != nil {
		v.warn(fmt.Sprintf("letting go of the terminal: %v", err))
	}
}

func (v detachedView) stopping() { logView{}.stopping() }

func (v detachedView) idle(limit time.Duration) { logView{}.idle(limit) }

// openDetached returns the view of a server that was detached.
func (o *Options) openDetached(root string, logging options.Logging) (view, error) {
	file, err := openLog(filepath.Join(root, launch.LogFile))
	if err != nil {
		return nil, err
	}
	restore, err := LogTo(file, logging)
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return detachedView{
		terminalView: terminalView{out: o.streams.Out, errOut: o.streams.ErrOut, restore: func() {
			restore()
			_ = file.Close()
		}},
		log: file,
	}, nil
}
