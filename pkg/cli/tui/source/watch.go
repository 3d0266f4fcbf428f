package source

import (
	"context"
	"errors"
	"math/rand/v2"
	"net/url"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/watch"

	tenancyv1alpha1 "github.com/forkless/kcp/pkg/apis/tenancy/v1alpha1"
	"github.com/forkless/kcp/pkg/cli/client"
	"github.com/forkless/kcp/pkg/cli/run"
	"github.com/forkless/kcp/pkg/cli/tui/model"
	"github.com/forkless/kcp/pkg/logicalcluster"
)

const (
	// firstPause and longestPause bound how long a watch that is lost waits before it is
	// tried again.
	firstPause   = time.Second
	longestPause = 30 * time.Second
	// together is how long changes are gathered, so that a thousand workspaces that are
	// created at once are not a thousand frames.
	together = 30 * time.Millisecond
)

// Server is a server that is watched.
type Server struct {
	Client *client.Client
}

// Watch tells emit what is below a workspace, first all of it, then every change, and
// whenever that does not work, until ctx is done.
func (s *Server) Watch(ctx context.Context, w model.Watch, emit func(model.Msg)) {
	f := follower{server: s, watch: w, emit: emit}
	pause := firstPause
	for ctx.Err() == nil {
		began := time.Now()
		err := f.follow(ctx)
		if ctx.Err() != nil {
			return
		}
		if time.Since(began) > longestPause {
			pause = firstPause
		}
		why := s.lossOf(ctx, w.Path, err)
		if why != model.Unreachable && why != model.Broken {
			// Somebody has decided so; that may change, but not within seconds.
			pause = longestPause
		}
		wait := jittered(pause)
		if err != nil {
			emit(model.Lost{Seq: w.Seq, Why: why, Problem: run.Message(err), Retry: time.Now().Add(wait)})
		}
		pause = min(2*pause, longestPause)
		select {
		case <-ctx.Done():
		case <-time.After(wait):
		}
	}
}

// jittered returns about d, so that the watches that a server has lost together don't
// come back together.
func jittered(d time.Duration) time.Duration { return d - d/8 + rand.N(d/4) }

// lossOf says why a node cannot be watched.
func (s *Server) lossOf(ctx context.Context, p logicalcluster.Path, err error) model.Loss {
	var transport *url.Error
	switch {
	case apierrors.IsForbidden(err):
		// Who may not list workspaces may have other things to do there.
		if visible, err := s.Client.Probe(ctx, p); err == nil && visible == client.Visible {
			return model.Hidden
		}
		return model.Denied
	case apierrors.IsNotFound(err):
		return model.Childless
	case errors.As(err, &transport), apierrors.IsServiceUnavailable(err), apierrors.IsTooManyRequests(err),
		apierrors.IsInternalError(err), apierrors.IsTimeout(err), apierrors.IsServerTimeout(err):
		return model.Unreachable
	case errors.As(err, new(apierrors.APIStatus)):
		return model.Broken
	default:
		// What is no answer of the API is a connection that broke.
		return model.Unreachable
	}
}

// follower follows what is below one workspace.
type follower struct {
	server *Server
	watch  model.Watch
	emit   func(model.Msg)
	// version is how far it has come, empty if it has to begin with a list.
	version string
}

// follow lists, if that has to be, and watches until the watch breaks. A server ends
// watches after a while; then it goes on where it was.
func (f *follower) follow(ctx context.Context) error {
	for {
		if f.version == "" {
			if err := f.list(ctx); err != nil {
				return err
			}
		}
		began := time.Now()
		changes := gather(func(c model.Changes) { f.emit(c) }, f.watch.Seq)
		started := func() { f.emit(model.Live{Seq: f.watch.Seq}) }
		err := f.server.Client.Watch(ctx, f.watch.Path, f.version, started, func(change client.Watched) error {
			f.version = change.Workspace.ResourceVersion
			if change.Type != watch.Bookmark {
				changes.add(f.watch.Path, change)
			}
			return nil
		})
		changes.flush()
		switch {
		case apierrors.IsResourceExpired(err), apierrors.IsGone(err):
			f.version = ""
		case err != nil:
			// What happened since may have been missed by more than the server remembers.
			f.version = ""
			return err
		case time.Since(began) < firstPause:
			// A watch that ends at once would be asked for over and over.
			return errEnded
		}
	}
}

var errEnded = errors.New("the server ends watches as soon as they begin")

// list tells all there is, page by page.
func (f *follower) list(ctx context.Context) error {
	first := true
	var held *model.Children
	version, err := f.server.Client.Pages(ctx, f.watch.Path, func(page []tenancyv1alpha1.Workspace) error {
		if held != nil {
			f.emit(*held)
		}
		held = &model.Children{Seq: f.watch.Seq, First: first, Items: make([]model.Item, len(page))}
		for i := range page {
			held.Items[i] = ItemOf(f.watch.Path, &page[i])
		}
		first = false
		return nil
	})
	if err != nil {
		return err
	}
	// A page is held back until it is known whether it is the last one.
	held.Last = true
	f.emit(*held)
	f.version = version
	return nil
}
