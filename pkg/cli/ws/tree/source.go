package tree

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/watch"

	tenancyv1alpha1 "github.com/forkless/kcp/pkg/apis/tenancy/v1alpha1"
	"github.com/forkless/kcp/pkg/cli/client"
	"github.com/forkless/kcp/pkg/cli/ws/walk"
	"github.com/forkless/kcp/pkg/logicalcluster"
)

const (
	// listsAtATime bounds the lists that are made at the same time: watches are many, but
	// they cost little while nothing happens.
	listsAtATime = 8
	// firstPause and lastPause are what lies between two tries after a failure.
	firstPause = time.Second
	lastPause  = 30 * time.Second
)

// message is what is heard about the workspaces in one place.
type message struct {
	// node is the workspace that they are in, nil for all workspaces there are.
	node *walk.Node
	// listed says that items are all of them. Otherwise event has happened, unless err
	// says that they are not known.
	listed bool
	items  []tenancyv1alpha1.Workspace
	event  client.Watched
	err    error
}

// watcher is a place with workspaces that can be watched, *client.Everywhere for one.
type watcher interface {
	Pages(ctx context.Context, each func([]tenancyv1alpha1.Workspace) error) (version string, err error)
	Watch(ctx context.Context, version string, started func(), each func(client.Watched) error) error
}

// inOne are the workspaces in one.
type inOne struct {
	server *client.Client
	path   logicalcluster.Path
}

func (w inOne) Pages(ctx context.Context, each func([]tenancyv1alpha1.Workspace) error) (string, error) {
	return w.server.Pages(ctx, w.path, each)
}

func (w inOne) Watch(ctx context.Context, version string, started func(), each func(client.Watched) error) error {
	return w.server.Watch(ctx, w.path, version, started, each)
}

// source watches workspaces and sends what it hears.
type source struct {
	messages chan message
	slots    chan struct{}
	// stops end the watches of nodes.
	stops map[*walk.Node]context.CancelFunc
	// pause waits between two tries, until the context is done.
	pause func(context.Context, time.Duration)
}

func newSource() *source {
	return &source{
		messages: make(chan message), slots: make(chan struct{}, listsAtATime),
		stops: map[*walk.Node]context.CancelFunc{}, pause: pause,
	}
}

func pause(ctx context.Context, d time.Duration) {
	// Watches that end together, with the server, are not to come back together.
	d += time.Duration(rand.Int64N(int64(d)/2 + 1)) //nolint:gosec // because jitter is no secret
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}

// open watches the workspaces in n, and close ends that. Only one goroutine calls them.
func (s *source) open(ctx context.Context, n *walk.Node, at watcher) {
	if s.stops[n] != nil {
		return
	}
	ctx, s.stops[n] = context.WithCancel(ctx)
	go s.follow(ctx, n, at)
}

func (s *source) close(n *walk.Node) {
	if stop := s.stops[n]; stop != nil {
		stop()
		delete(s.stops, n)
	}
}

// follow lists and watches the workspaces at a place, n or all there are, until ctx is done.
func (s *source) follow(ctx context.Context, n *walk.Node, at watcher) {
	wait := firstPause
	for ctx.Err() == nil {
		version, err := s.list(ctx, n, at)
		for err == nil && ctx.Err() == nil {
			began := time.Now()
			version, err = s.watch(ctx, n, at, version)
			if time.Since(began) > wait {
				wait = firstPause
			} else if err == nil {
				// A server that ends watches at once is on its way out.
				s.pause(ctx, wait)
				wait = min(2*wait, lastPause)
			}
		}
		if apierrors.IsResourceExpired(err) || apierrors.IsGone(err) {
			continue
		}
		if !s.send(ctx, message{node: n, err: err}) {
			return
		}
		s.pause(ctx, wait)
		wait = min(2*wait, lastPause)
	}
}

// list sends all workspaces there, and returns the version that they are of.
func (s *source) list(ctx context.Context, n *walk.Node, at watcher) (string, error) {
	s.slots <- struct{}{}
	defer func() { <-s.slots }()
	var items []tenancyv1alpha1.Workspace
	version, err := at.Pages(ctx, func(page []tenancyv1alpha1.Workspace) error {
		items = append(items, page...)
		return nil
	})
	if err == nil {
		s.send(ctx, message{node: n, listed: true, items: items})
	}
	return version, err
}

// watch sends what happens to the workspaces there after version, and returns the version
// that it has seen last.
func (s *source) watch(ctx context.Context, n *walk.Node, at watcher, version string) (string, error) {
	err := at.Watch(ctx, version, nil, func(e client.Watched) error {
		version = e.Workspace.ResourceVersion
		if e.Type != watch.Bookmark && !s.send(ctx, message{node: n, event: e}) {
			return context.Cause(ctx)
		}
		return nil
	})
	if errors.Is(err, context.Canceled) {
		err = nil
	}
	return version, err
}

// send says whether anybody was there to hear.
func (s *source) send(ctx context.Context, m message) bool {
	select {
	case s.messages <- m:
		return true
	case <-ctx.Done():
		return false
	}
}
