//go:build linux

package main

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
)

const (
	typesPath = "/clusters/root/apis/tenancy.kcp.io/v1alpha1/workspacetypes"
	hookType  = "hooked"
	hookID    = "root:" + hookType

	logicalClustersPath = "/apis/core.kcp.io/v1alpha1/logicalclusters"
	hooksPath           = "/services/initializingworkspaces/" + hookID + "/clusters/"
)

// measureHooks measures what an initializer costs whose controller answers at once.
func (s *server) measureHooks(ctx context.Context, t *table) error {
	body := fmt.Sprintf(`{"apiVersion":"tenancy.kcp.io/v1alpha1","kind":"WorkspaceType","metadata":{"name":%q},
		"spec":{"initializer":true,"extend":{"with":[{"name":"universal","path":"root"}]}}}`, hookType)
	if _, err := s.admin.do(ctx, http.MethodPost, typesPath, jsonType, []byte(body)); err != nil {
		return err
	}
	failed := make(chan error, 1)
	if err := s.initialize(ctx, failed); err != nil {
		return err
	}
	tracker, err := s.track(ctx)
	if err != nil {
		return err
	}
	ctx, stop := context.WithCancelCause(ctx)
	go func() {
		if err := <-failed; err != nil {
			stop(err)
		}
	}()
	if _, err := s.load(ctx, 1, 10, tracker.createOf(hookType, "warm", 0)); err != nil {
		return withCause(ctx, err)
	}
	one, err := s.load(ctx, 1, s.times(500), tracker.createOf(hookType, "one", 0))
	if err != nil {
		return withCause(ctx, err)
	}
	t.add(row{"create to Ready with an initializer, 1 client, p50", "≤ 20 ms", brief(one.p50), one.cost()})
	several, err := s.load(ctx, s.clients, s.times(1000), tracker.createOf(hookType, "several", 0))
	if err != nil {
		return withCause(ctx, err)
	}
	t.add(row{fmt.Sprintf("workspaces with an initializer ready per second, %d clients", s.clients), "", several.rate(), several.cost()})
	return nil
}

// withCause says why ctx has ended, if somebody has ended it.
func withCause(ctx context.Context, err error) error {
	if cause := context.Cause(ctx); cause != nil {
		return cause
	}
	return err
}

// initialize is a controller that has nothing to do: it removes its initializer as soon as
// it sees a workspace.
func (s *server) initialize(ctx context.Context, failed chan<- error) error {
	seen := make(chan string, 1024)
	controller := s.admin.another()
	// It answers several at a time, as controllers do.
	for range s.clients {
		go func() {
			for cluster := range seen {
				if err := s.finish(ctx, controller, cluster); err != nil && ctx.Err() == nil {
					select {
					case failed <- err:
					default:
					}
				}
			}
		}()
	}
	return s.admin.another().watch(ctx, hooksPath+"*"+logicalClustersPath, func(event []byte) {
		if bytes.HasPrefix(event, []byte(`{"type":"ADDED"`)) {
			seen <- clusterOfEvent(event)
		}
	})
}

func (s *server) finish(ctx context.Context, c *client, cluster string) error {
	path := hooksPath + cluster + logicalClustersPath + "/cluster/status"
	// There is no other initializer: the server does what the type universal asks for.
	_, err := c.do(ctx, http.MethodPatch, path, mergePatchType, []byte(`{"status":{"initializers":[]}}`))
	return err
}
