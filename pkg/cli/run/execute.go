package run

import (
	"context"
	"errors"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericiooptions"
)

// Streams are where a command reads, writes its output, and says things about it.
type Streams = genericiooptions.IOStreams

// The exit codes.
const (
	codeFailed  = 1
	codeNo      = 3
	codeTimeout = 4
)

// System returns the streams of the process.
func System() Streams {
	return Streams{In: os.Stdin, Out: os.Stdout, ErrOut: os.Stderr}
}

// Execute runs the command that build makes for args and returns the exit code of
// the process. An error is reported on the error stream.
func Execute(ctx context.Context, streams Streams, build func(Streams) *cobra.Command, args []string) int {
	cmd := build(streams)
	nameAsTyped(cmd, args)
	cmd.SetArgs(args)
	cmd.SetIn(streams.In)
	cmd.SetOut(streams.Out)
	cmd.SetErr(streams.ErrOut)
	cmd.SilenceErrors = true
	cmd.SilenceUsage = true
	cmd.SetFlagErrorFunc(Misuse)

	err := cmd.ExecuteContext(ctx)
	switch {
	case err == nil:
		return 0
	case errors.Is(err, ErrNo):
		return codeNo
	case !errors.Is(err, errExit):
		Report(streams.ErrOut, interruption(err))
	}
	return exitCode(ctx, err)
}

// interruption replaces a bare "context canceled", which is how libraries say that
// somebody pressed ctrl-c.
func interruption(err error) error {
	if err.Error() == context.Canceled.Error() {
		return errors.New("interrupted")
	}
	return err
}

// exitCode returns the exit code of a command that failed under ctx with err. What the
// command says counts more than a signal: it may have passed that on to a child, whose
// exit code it is.
func exitCode(ctx context.Context, err error) int {
	if c, ok := errors.AsType[coded](err); ok {
		return c.code
	}
	if s, ok := errors.AsType[stopped](context.Cause(ctx)); ok {
		return SignalCode(s.signal)
	}
	return codeFailed
}

// Stopped returns what a command returns that goes on until it is interrupted, once that
// has happened: the exit code of the signal, and nothing to report.
func Stopped(ctx context.Context) error { return Exit(exitCode(ctx, context.Cause(ctx))) }

// stopped is the cause of a context that a signal has cancelled.
type stopped struct{ signal os.Signal }

func (s stopped) Error() string { return s.signal.String() }

// Signals returns a context that is cancelled by the first SIGINT or SIGTERM, or SIGHUP,
// with which a terminal goes, so that what has to be cleared away is. The second one ends
// the process at once, as if nobody listened. stop ends listening.
func Signals(parent context.Context) (ctx context.Context, stop func()) {
	ctx, cancel := context.WithCancelCause(parent)
	received := make(chan os.Signal, 1)
	signal.Notify(received, os.Interrupt, syscall.SIGTERM)
	if !signal.Ignored(syscall.SIGHUP) {
		// Who is started with nohup outlives the terminal.
		signal.Notify(received, syscall.SIGHUP)
	}
	go func() {
		select {
		case s := <-received:
			signal.Stop(received)
			cancel(stopped{signal: s})
		case <-ctx.Done():
		}
	}()
	return ctx, func() {
		signal.Stop(received)
		cancel(nil)
	}
}
