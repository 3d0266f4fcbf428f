// Package etcd is the program etcd, as envtest starts it: the real server, as a single
// member on one machine.
//
// Flags are those of etcd. The program listens for clients only, since there are no peers,
// and its log begins at warnings unless --log-level says otherwise. It ends with the test that
// started it (package orphan).
package etcd

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"time"

	"go.etcd.io/etcd/api/v3/version"
	"go.etcd.io/etcd/server/v3/embed"

	"github.com/forkless/kcp/internal/memory"
	"github.com/forkless/kcp/pkg/cli/envtest/orphan"
	"github.com/forkless/kcp/pkg/cli/run"
)

// Name is the name of the program.
const Name = "etcd"

// The exit codes of etcd.
const (
	codeFailed  = 1
	codeMisused = 2
)

// outlives is how much longer it runs than the server that uses it, when both have lost the
// test that started them.
const outlives = 2 * time.Second

// Main runs the program until ctx ends and returns its exit code.
func Main(ctx context.Context, streams run.Streams, args []string) int {
	config, err := parse(args, streams.ErrOut)
	switch {
	case errors.Is(err, errVersion):
		_, _ = fmt.Fprintf(streams.Out, "etcd Version: %s\n", version.Version)
		return 0
	case errors.Is(err, flag.ErrHelp):
		printHelp(streams.Out)
		return 0
	case err != nil:
		// The parser has said what it did not understand.
		return codeMisused
	}
	ctx, end := orphan.Watch(ctx, config.Dir, outlives)
	if err := errors.Join(serve(ctx, config), end()); err != nil {
		run.Report(streams.ErrOut, err)
		return codeFailed
	}
	return 0
}

// serve runs a member until ctx ends.
func serve(ctx context.Context, config *embed.Config) error {
	member, err := embed.StartEtcd(config)
	if err != nil {
		return fmt.Errorf("starting etcd in %s: %w", config.Dir, err)
	}
	defer func() {
		member.Close()
		<-member.Server.StopNotify()
	}()
	go func() {
		select {
		case <-member.Server.ReadyNotify():
			// The file of the program is that of the server, of which etcd is a part.
			memory.ReleaseProgramAtRest(ctx)
		case <-member.Server.StopNotify():
		}
	}()
	select {
	case <-ctx.Done():
		return nil
	case err := <-member.Err():
		return err
	case <-member.Server.StopNotify():
		return errors.New("etcd has stopped by itself")
	}
}

// printHelp lists the flags, with two dashes as etcd does: envtest looks for them.
func printHelp(w io.Writer) {
	_, _ = fmt.Fprintln(w, "Usage:\n  etcd [flags]\n    Start a single member.\n\nFlags:")
	newFlags(embed.NewConfig()).VisitAll(func(f *flag.Flag) {
		_, _ = fmt.Fprintf(w, "  --%s '%s'\n    %s\n", f.Name, f.DefValue, f.Usage)
	})
}
