//go:build linux

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"sync"
	"time"
)

// kind is a kind of object to measure with.
type kind struct {
	name string
	// collection is the path of the objects in a workspace.
	collection string
	// body returns an object; stamp is somewhere in it.
	body func(name, stamp string) string
	// patch is a merge patch that changes it.
	patch func(i int) string
}

var configMaps = kind{
	name:       "ConfigMap",
	collection: "/api/v1/namespaces/default/configmaps",
	body: func(name, stamp string) string {
		return fmt.Sprintf(`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":%q},"data":{"sent":%q,"color":"blue","size":"large"}}`, name, stamp)
	},
	patch: func(i int) string { return fmt.Sprintf(`{"data":{"color":"red-%d"}}`, i) },
}

// targets are the rates to reach, by operation.
type targets struct{ create, get, patch, remove, list string }

// measureConfigMaps measures a built-in kind.
func (s *server) measureConfigMaps(ctx context.Context, t *table) error {
	cluster, err := s.workspace(ctx, "objects")
	if err != nil {
		return err
	}
	return s.measureKind(ctx, t, configMaps, cluster, targets{"≥ 1,500/s", "≥ 4,000/s", "≥ 1,300/s", "≥ 1,500/s", "≥ 100/s"})
}

// workspace makes a workspace and returns its logical cluster.
func (s *server) workspace(ctx context.Context, name string) (string, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	tracker, err := s.track(ctx)
	if err != nil {
		return "", err
	}
	if err := tracker.create(name, 0)(ctx, s.admin, 0); err != nil {
		return "", err
	}
	return tracker.clusterOf(name + "-0"), nil
}

// measureKind measures all operations on one kind in one workspace.
func (s *server) measureKind(ctx context.Context, t *table, k kind, cluster string, wanted targets) error {
	objects, listed, lists := s.times(6000), s.times(2000), s.times(200)
	collection := "/clusters/" + cluster + k.collection
	item := func(prefix string, i int) string { return collection + "/" + prefix + "-" + strconv.Itoa(i) }

	// Warm up: connections, code, tables that grow.
	if _, err := s.load(ctx, s.clients, 200, s.create(k, collection, "warm")); err != nil {
		return err
	}
	delivery, stop, err := s.measureDelivery(ctx, collection)
	if err != nil {
		return err
	}
	defer stop()
	type step struct {
		what, target string
		n            int
		do           func(round int) operation
		before       func(round int) error
	}
	steps := []step{
		{"created", wanted.create, objects, func(round int) operation { return s.create(k, collection, prefix(round)) }, nil},
		{"read", wanted.get, objects * 2, func(round int) operation {
			return func(ctx context.Context, c *client, i int) error {
				_, err := c.do(ctx, http.MethodGet, item(prefix(round), i%objects), "", nil)
				return err
			}
		}, nil},
		{"merge-patched", wanted.patch, objects, func(round int) operation {
			return func(ctx context.Context, c *client, i int) error {
				_, err := c.do(ctx, http.MethodPatch, item(prefix(round), i), mergePatchType, []byte(k.patch(i)))
				return err
			}
		}, nil},
		{"deleted", wanted.remove, objects, func(round int) operation {
			return func(ctx context.Context, c *client, i int) error {
				_, err := c.do(ctx, http.MethodDelete, item(prefix(round), i), "", nil)
				return err
			}
		}, nil},
	}
	results := make([][]result, len(steps))
	for round := range max(s.rounds, 1) {
		for i, step := range steps {
			stopProfile := s.startProfile(ctx, k.name+"-"+step.what, round)
			r, err := s.load(ctx, s.clients, step.n, step.do(round))
			stopProfile()
			if err != nil {
				return err
			}
			results[i] = append(results[i], r)
		}
	}
	for i, step := range steps {
		r := median(results[i])
		t.add(row{fmt.Sprintf("%ss %s per second, %d clients", k.name, step.what, s.clients), step.target, r.rate(), r.cost()})
	}
	p50, p99, count := delivery()
	stop()
	t.add(row{k.name + " watch delivery under that load, p99", "≤ 15 ms", brief(p99), fmt.Sprintf("p50 %s, %d events; from sending the create request to reading the event", brief(p50), count)})
	return s.measureLists(ctx, t, k, collection, listed, lists, wanted.list)
}

func (s *server) measureLists(ctx context.Context, t *table, k kind, collection string, listed, lists int, target string) error {
	if _, err := s.load(ctx, s.clients, listed-s.warm(), s.create(k, collection, "listed")); err != nil {
		return err
	}
	var size int
	var once sync.Once
	list := func(ctx context.Context, c *client, _ int) error {
		data, err := c.do(ctx, http.MethodGet, collection, "", nil)
		once.Do(func() { size = len(data) })
		return err
	}
	var results []result
	for round := range max(s.rounds, 1) {
		stopProfile := s.startProfile(ctx, k.name+"-listed", round)
		r, err := s.load(ctx, s.clients, lists, list)
		stopProfile()
		if err != nil {
			return err
		}
		results = append(results, r)
	}
	r := median(results)
	t.add(row{fmt.Sprintf("lists of %d %ss per second, %d clients", listed, k.name, s.clients), target, r.rate(), fmt.Sprintf("%s; %s of JSON", r.cost(), megabytes(size))})
	return nil
}

// warm is how many objects the warm-up leaves behind.
func (s *server) warm() int { return 200 }

func (s *server) create(k kind, collection, prefix string) operation {
	return func(ctx context.Context, c *client, i int) error {
		body := k.body(prefix+"-"+strconv.Itoa(i), strconv.FormatInt(time.Now().UnixNano(), 10))
		_, err := c.do(ctx, http.MethodPost, collection, jsonType, []byte(body))
		return err
	}
}

func prefix(round int) string { return "round-" + strconv.Itoa(round) }

// measureDelivery watches a collection and compares the time at which each creation is
// seen with the time at which the client sent it, which is written in the object.
func (s *server) measureDelivery(ctx context.Context, collection string) (report func() (p50, p99 time.Duration, count int), stop func(), err error) {
	ctx, stop = context.WithCancel(ctx)
	var (
		mu      sync.Mutex
		delays  []time.Duration
		created = []byte(`{"type":"ADDED"`)
		mark    = []byte(`"sent":"`)
		digits  = len(strconv.FormatInt(time.Now().UnixNano(), 10))
	)
	// Without a version the watch would begin with the objects that are there.
	list, err := s.admin.do(ctx, http.MethodGet, collection+"?limit=1", "", nil)
	if err != nil {
		stop()
		return nil, nil, err
	}
	// Objects in the list have versions too, and may stand before that of the list.
	var listed struct {
		Metadata struct{ ResourceVersion string }
	}
	if err := json.Unmarshal(list, &listed); err != nil {
		stop()
		return nil, nil, err
	}
	err = s.admin.another().watch(ctx, collection+"?resourceVersion="+listed.Metadata.ResourceVersion, func(event []byte) {
		if !bytes.HasPrefix(event, created) {
			return
		}
		_, value, ok := bytes.Cut(event, mark)
		if !ok || len(value) < digits {
			return
		}
		sent, err := strconv.ParseInt(string(value[:digits]), 10, 64)
		if err != nil {
			return
		}
		mu.Lock()
		delays = append(delays, time.Duration(time.Now().UnixNano()-sent))
		mu.Unlock()
	})
	if err != nil {
		stop()
		return nil, nil, err
	}
	return func() (p50, p99 time.Duration, count int) {
		mu.Lock()
		defer mu.Unlock()
		p50, p99 = percentiles(delays)
		return p50, p99, len(delays)
	}, stop, nil
}

// startProfile begins profiles of the processor time of the server and of what it
// allocates, if profiles were asked for. The
// function it returns waits for its end.
func (s *server) startProfile(ctx context.Context, name string, round int) (wait func()) {
	const seconds = 2
	if round > 0 {
		return func() {}
	}
	return s.profileFor(ctx, name, seconds)
}

// profileFor is startProfile for as many seconds.
func (s *server) profileFor(ctx context.Context, name string, seconds int) (wait func()) {
	if s.profiles == "" {
		return func() {}
	}
	var done sync.WaitGroup
	done.Go(func() { s.profile(ctx, name+".cpu", fmt.Sprintf("/debug/pprof/profile?seconds=%d", seconds)) })
	done.Go(func() { s.profile(ctx, name+".allocs", fmt.Sprintf("/debug/pprof/allocs?seconds=%d", seconds)) })
	return done.Wait
}
