// Package inprocess runs a whole server, with its etcd, inside a process that is about
// something else: a test, or a command for which a control plane is a means.
//
// A server is told what to do by the flags of "kcp start". What it takes, its port, its
// root directory and its memory, is given back when it has stopped.
//
// Any number of servers may run in a process, at once and one after the other. Feature
// gates hold for all of them: a server that asks for others than those that run have is
// refused, and when none is left the gates are what they were.
package inprocess

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"sync"

	"github.com/spf13/pflag"

	"github.com/forkless/kcp/internal/features"
	"github.com/forkless/kcp/internal/launch"
	"github.com/forkless/kcp/pkg/server"
	"github.com/forkless/kcp/pkg/server/options"
)

// Server is a server that was ready once.
type Server struct {
	*server.Server
	// RootDirectory is its root directory, Kubeconfig the path of the admin kubeconfig in it.
	RootDirectory, Kubeconfig string

	claim        *launch.Claim
	releaseGates func()
	end          context.CancelFunc
	// done is closed when the server has ended, with err.
	done chan struct{}
	err  error

	stopOnce sync.Once
	stopErr  error
}

// Check returns what flags of "kcp start" ask for, without a server, or what is wrong with
// them. Its paths are those of a server whose root directory is root.
func Check(root string, flags ...string) (*options.Completed, error) {
	completed, release, err := complete(root, flags)
	if err != nil {
		return nil, err
	}
	release()
	return completed, nil
}

// Start runs a server in a root directory, with flags of "kcp start", and returns when it
// is ready. It listens on a free port of 127.0.0.1 unless the flags say otherwise. ctx
// bounds the start, not the life of the server, which is ended by Stop. Errors may be of
// the types that launch.Take names.
func Start(ctx context.Context, root string, flags ...string) (*Server, error) {
	return StartFrom(ctx, "", root, flags...)
}

// StartFrom is Start with the state in an archive, unless that is empty: the server has
// all objects of the one that was saved. The root directory has to be a new one.
func StartFrom(ctx context.Context, archived, root string, flags ...string) (*Server, error) {
	completed, releaseGates, err := complete(root, flags)
	if err != nil {
		return nil, err
	}
	claim, err := launch.TakeFrom(ctx, completed, archived)
	if err != nil {
		releaseGates()
		return nil, err
	}
	life, end := context.WithCancel(context.WithoutCancel(ctx))
	made, err := server.New(ctx, claim.Prepared)
	if err != nil {
		end()
		releaseGates()
		return nil, errors.Join(err, claim.Abandon())
	}
	s := &Server{
		Server: made, RootDirectory: root, Kubeconfig: filepath.Join(root, "admin.kubeconfig"),
		claim: claim, releaseGates: releaseGates, end: end, done: make(chan struct{}),
	}
	go func() {
		defer close(s.done)
		s.err = made.Run(life)
	}()
	select {
	case <-made.Ready():
		return s, nil
	case <-s.done:
		// What it ended with is in what stopping it yields.
		return nil, fmt.Errorf("the server ended while it started: %w", cmp.Or(s.abandon(), errEnded))
	case <-ctx.Done():
		return nil, errors.Join(fmt.Errorf("waiting for the server: %w", context.Cause(ctx)), s.abandon())
	}
}

// errEnded is why a server has ended that does not say why.
var errEnded = errors.New("it does not say why")

// complete returns the options that flags stand for, and holds the feature gates among
// them until release is called.
func complete(root string, flags []string) (completed *options.Completed, release func(), err error) {
	o := options.NewOptions()
	set := pflag.NewFlagSet("kcp start", pflag.ContinueOnError)
	o.AddFlags(set)
	if err := set.Parse(append([]string{"--root-directory=" + root, "--bind-address=127.0.0.1", "--secure-port=0"}, flags...)); err != nil {
		return nil, nil, err
	}
	if set.NArg() > 0 {
		return nil, nil, fmt.Errorf("%q is no flag", set.Arg(0))
	}
	// Completing sets the gates.
	if release, err = features.Hold(o.Features.Gates); err != nil {
		return nil, nil, err
	}
	if completed, err = o.Complete(); err != nil {
		release()
		return nil, nil, err
	}
	return completed, release, nil
}

// Done is closed when the server has ended, by Stop or by itself.
func (s *Server) Done() <-chan struct{} { return s.done }

// Stop lets requests finish, ends the server, and gives everything back. It returns why
// the server could not stop in order, or why it ended before it was told to; again, if it
// is called again.
func (s *Server) Stop() error { return s.stop(s.claim.Release) }

// StopAndSave is Stop that writes the state of the server to an archive before it is
// gone.
func (s *Server) StopAndSave(file string) error {
	tried := false
	err := s.stop(func() error {
		tried = true
		return errors.Join(s.claim.Save(file), s.claim.Release())
	})
	if !tried {
		return errors.Join(err, errors.New("the server has been stopped, so there is no state to save"))
	}
	return err
}

// abandon is Stop for a server that was never ready.
func (s *Server) abandon() error { return s.stop(s.claim.Abandon) }

func (s *Server) stop(release func() error) error {
	s.stopOnce.Do(func() {
		s.end()
		<-s.done
		s.stopErr = errors.Join(s.err, release())
		s.releaseGates()
	})
	return s.stopErr
}
