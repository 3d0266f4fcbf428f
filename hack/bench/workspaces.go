//go:build linux

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"sync"
	"time"
)

const workspacesPath = "/clusters/root/apis/tenancy.kcp.io/v1alpha1/workspaces"

// tracker follows the workspaces below root with one watch and tells when one is ready
// or gone.
type tracker struct {
	mu      sync.Mutex
	ready   map[string]chan struct{}
	gone    map[string]chan struct{}
	cluster map[string]string
}

// track starts a tracker that runs until ctx ends.
func (s *server) track(ctx context.Context) (*tracker, error) {
	t := &tracker{ready: map[string]chan struct{}{}, gone: map[string]chan struct{}{}, cluster: map[string]string{}}
	return t, s.admin.another().watch(ctx, workspacesPath, t.see)
}

func (t *tracker) see(event []byte) {
	// Most events are of no interest; decoding them all would make a slow client.
	deleted := bytes.HasPrefix(event, []byte(`{"type":"DELETED"`))
	if !deleted && !bytes.Contains(event, []byte(`"phase":"Ready"`)) {
		return
	}
	var decoded struct {
		Object struct {
			Metadata struct{ Name string }
			Spec     struct{ Cluster string }
		}
	}
	if err := json.Unmarshal(event, &decoded); err != nil {
		return
	}
	name := decoded.Object.Metadata.Name
	t.mu.Lock()
	defer t.mu.Unlock()
	t.cluster[name] = decoded.Object.Spec.Cluster
	if deleted {
		tell(t.gone, name)
	} else {
		tell(t.ready, name)
	}
}

func tell(all map[string]chan struct{}, name string) {
	told := channel(all, name)
	select {
	case <-told:
	default:
		close(told)
	}
}

func channel(all map[string]chan struct{}, name string) chan struct{} {
	if all[name] == nil {
		all[name] = make(chan struct{})
	}
	return all[name]
}

func (t *tracker) wait(ctx context.Context, all map[string]chan struct{}, name string) error {
	t.mu.Lock()
	told := channel(all, name)
	t.mu.Unlock()
	select {
	case <-told:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("waiting for workspace %s: %w", name, ctx.Err())
	}
}

// create makes a workspace called prefix and i and waits until it is ready.
func (t *tracker) create(prefix string, offset int) operation {
	return t.createOf("", prefix, offset)
}

// createOf is create for a type in root; empty is the default.
func (t *tracker) createOf(kind, prefix string, offset int) operation {
	spec := "{}"
	if kind != "" {
		spec = fmt.Sprintf(`{"type":{"name":%q,"path":"root"}}`, kind)
	}
	return func(ctx context.Context, c *client, i int) error {
		name := fmt.Sprintf("%s-%d", prefix, offset+i)
		body := fmt.Sprintf(`{"apiVersion":"tenancy.kcp.io/v1alpha1","kind":"Workspace","metadata":{"name":%q},"spec":%s}`, name, spec)
		if _, err := c.do(ctx, http.MethodPost, workspacesPath, jsonType, []byte(body)); err != nil {
			return err
		}
		return t.wait(ctx, t.ready, name)
	}
}

// remove deletes a workspace and waits until it is gone.
func (t *tracker) remove(prefix string) operation {
	return func(ctx context.Context, c *client, i int) error {
		name := fmt.Sprintf("%s-%d", prefix, i)
		if _, err := c.do(ctx, http.MethodDelete, workspacesPath+"/"+name, "", nil); err != nil {
			return err
		}
		return t.wait(ctx, t.gone, name)
	}
}

// clusterOf returns the logical cluster of a workspace that is ready.
func (t *tracker) clusterOf(name string) string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.cluster[name]
}

// firstWorkspaces is how many workspaces inhabited makes, called w-0 and so on.
const firstWorkspaces = 10

// inhabited makes some workspaces, so that what comes with the first is there, and returns
// what the server takes with them.
func (s *server) inhabited(ctx context.Context) (*tracker, footprint, error) {
	tracker, err := s.track(ctx)
	if err != nil {
		return nil, footprint{}, err
	}
	if _, err := s.load(ctx, 1, firstWorkspaces, tracker.create("w", 0)); err != nil {
		return nil, footprint{}, err
	}
	empty, err := s.footprint(ctx)
	return tracker, empty, err
}

// measureWorkspaces measures how fast workspaces come and go and what they take.
func (s *server) measureWorkspaces(ctx context.Context, t *table) error {
	tracker, empty, err := s.inhabited(ctx)
	if err != nil {
		return err
	}

	one, err := s.load(ctx, 1, s.times(190), tracker.create("w", firstWorkspaces))
	if err != nil {
		return err
	}
	t.add(row{"workspaces ready per second, 1 client", "", one.rate(), one.cost()})
	t.add(row{"create to Ready, 1 client, p50", "≤ 8 ms", brief(one.p50), "from sending the request to seeing the event on a watch"})

	count := firstWorkspaces + s.times(190)
	thousand := firstWorkspaces + s.times(1000)
	stopProfile := s.startProfile(ctx, "workspaces-created", 0)
	few, err := s.load(ctx, s.clients, thousand-count, tracker.create("w", count))
	if err != nil {
		return err
	}
	stopProfile()
	count = thousand
	t.add(row{fmt.Sprintf("workspaces ready per second, %d clients", s.clients), "≥ 300/s", few.rate(), few.cost()})
	t.add(row{"log lines, start and these workspaces", "< 100", fmt.Sprint(s.log.count()), fmt.Sprintf("%d workspaces", count)})
	if err := s.addFootprint(ctx, t, empty, count); err != nil {
		return err
	}
	s.profile(ctx, "workspaces.heap", "/debug/pprof/heap?gc=1")

	many := firstWorkspaces + s.times(5000)
	if _, err := s.load(ctx, s.clients, many-count, tracker.create("w", count)); err != nil {
		return err
	}
	late, err := s.load(ctx, s.clients, s.times(500), tracker.create("w", many))
	if err != nil {
		return err
	}
	t.add(row{fmt.Sprintf("workspaces ready per second with %d siblings", many), "as with few", late.rate(), late.cost()})
	if err := s.addFootprint(ctx, t, empty, many+s.times(500)); err != nil {
		return err
	}

	stopProfile = s.startProfile(ctx, "workspaces-deleted", 0)
	deleted, err := s.load(ctx, s.clients, s.times(1000), tracker.remove("w"))
	if err != nil {
		return err
	}
	stopProfile()
	t.add(row{"workspaces deleted per second", "≥ 200/s", deleted.rate(), deleted.cost()})
	return nil
}

// footprint is what a server takes.
type footprint struct{ resident, files, heap, goroutines int }

func (s *server) footprint(ctx context.Context) (f footprint, err error) {
	if f.heap, err = s.heap(ctx); err != nil {
		return f, err
	}
	if f.resident, err = s.settledMemory(ctx); err != nil {
		return f, err
	}
	if f.files, err = residentFile(s.cmd.Process.Pid); err != nil {
		return f, err
	}
	f.goroutines, err = s.goroutines(ctx)
	return f, err
}

// each says what each of n things takes that have come since before.
func (f footprint) each(before footprint, n int) (resident, notes string) {
	per := func(now, then int) string { return kilobytes(float64(now-then) / float64(n)) }
	return per(f.resident, before.resident), fmt.Sprintf("settled; %s in all; each: live heap %s, pages of the database file %s",
		megabytes(f.resident), per(f.heap, before.heap), per(f.files, before.files))
}

// addFootprint adds what each of count workspaces takes.
func (s *server) addFootprint(ctx context.Context, t *table, empty footprint, count int) error {
	now, err := s.footprint(ctx)
	if err != nil {
		return err
	}
	each, notes := now.each(empty, count)
	t.add(row{fmt.Sprintf("resident memory per workspace, at %d", count), "≤ 64 KB", each, notes})
	t.add(row{"goroutines per workspace", "0", fmt.Sprintf("%.3f", float64(now.goroutines-empty.goroutines)/float64(count)),
		fmt.Sprintf("%d before, %d after", empty.goroutines, now.goroutines)})
	return nil
}

// measureRestart measures the start on a directory with many workspaces.
func measureRestart(ctx context.Context, s settings, t *table) error {
	srv, done, err := freshServer(ctx, s)
	if err != nil {
		return err
	}
	defer done()
	tracker, err := srv.track(ctx)
	if err != nil {
		return err
	}
	count := s.times(1000)
	if _, err := srv.load(ctx, s.clients, count, tracker.create("w", 0)); err != nil {
		return err
	}
	var ready []time.Duration
	for range max(s.rounds, 1) {
		if srv, err = srv.restart(ctx); err != nil {
			return err
		}
		ready = append(ready, srv.ready)
	}
	srv.kill()
	t.add(row{fmt.Sprintf("start to ready, %d workspaces", count), "≤ 0.7 s", brief(medianOf(ready)),
		fmt.Sprintf("process start to /readyz, after a proper stop, median of %d", len(ready))})
	return nil
}
