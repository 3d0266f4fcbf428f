//go:build linux

package main

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"net/http"
	"slices"
	"strings"
	"time"
)

const (
	allClustersPath = "/clusters/*" + logicalClustersPath

	// A tree has one workspace at the top and treeFanOut in each of the others but for
	// those at treeDepth: 5,220 of them.
	treeDepth  = 4
	treeFanOut = 17

	// treeSeconds is how long the server is profiled while a tree goes.
	treeSeconds = 10

	// forgetAfter is how long watch caches remember events at least. As many workspaces as
	// forgetBy coming and going later make them forget.
	forgetAfter = 80 * time.Second
	forgetBy    = 20
)

// tree is a workspace in root with others in it.
type tree struct {
	*server
	tracker *tracker
	// levels are the paths of its workspaces, from the top.
	levels [][]string
}

// newTree makes a tree and returns it when all of it is ready.
func (s *server) newTree(ctx context.Context, fanOut int) (*tree, error) {
	tracker, err := s.track(ctx)
	if err != nil {
		return nil, err
	}
	grown := &tree{server: s, tracker: tracker, levels: [][]string{{"root:tree"}}}
	growing, grownUp := context.WithCancel(ctx)
	defer grownUp()
	if err := s.shardAdmin.another().watchAgain(growing, allClustersPath, tracker.seeCluster); err != nil {
		return nil, err
	}
	for range treeDepth - 1 {
		var next []string
		for _, parent := range grown.levels[len(grown.levels)-1] {
			for i := range fanOut {
				// Names are those of the whole tree, so that they tell its workspaces apart.
				next = append(next, fmt.Sprintf("%s:%s-%d", parent, baseOf(parent), i))
			}
		}
		grown.levels = append(grown.levels, next)
	}
	for _, level := range grown.levels {
		if _, err := s.load(ctx, s.clients, len(level), grown.create(level)); err != nil {
			return nil, err
		}
	}
	return grown, nil
}

func (t *tree) create(level []string) operation {
	return func(ctx context.Context, c *client, i int) error {
		name := baseOf(level[i])
		path := "/clusters/" + parentOf(level[i]) + "/apis/tenancy.kcp.io/v1alpha1/workspaces"
		body := fmt.Sprintf(`{"apiVersion":"tenancy.kcp.io/v1alpha1","kind":"Workspace","metadata":{"name":%q}}`, name)
		if _, err := c.do(ctx, http.MethodPost, path, jsonType, []byte(body)); err != nil {
			return err
		}
		return t.tracker.wait(ctx, t.tracker.ready, name)
	}
}

// seeCluster is see for the LogicalCluster of a workspace that is ready.
func (t *tracker) seeCluster(event []byte) {
	if bytes.HasPrefix(event, []byte(`{"type":"DELETED"`)) || !bytes.Contains(event, []byte(`"phase":"Ready"`)) {
		return
	}
	_, rest, _ := bytes.Cut(event, []byte(`"kcp.io/path":"`))
	path, _, ok := bytes.Cut(rest, []byte(`"`))
	if !ok || !bytes.Contains(path, []byte(":")) {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	tell(t.ready, baseOf(string(path)))
}

// remove deletes the tree from the top and returns when it is gone.
func (t *tree) remove(ctx context.Context) error {
	if _, err := t.admin.do(ctx, http.MethodDelete, workspacesPath+"/tree", "", nil); err != nil {
		return err
	}
	return t.tracker.wait(ctx, t.tracker.gone, "tree")
}

// parentOf and baseOf split a path before its last segment.
func parentOf(path string) string { return path[:strings.LastIndexByte(path, ':')] }
func baseOf(path string) string   { return path[strings.LastIndexByte(path, ':')+1:] }

func (t *tree) size() int { return len(slices.Concat(t.levels...)) }

// measureTrees measures how a tree of workspaces goes, and what it leaves behind.
func measureTrees(ctx context.Context, s settings, t *table) error {
	srv, done, err := freshServer(ctx, s)
	if err != nil {
		return err
	}
	defer done()
	root := srv.root
	srv.stop()
	keysBefore, err := storedKeys(ctx, root)
	if err != nil {
		return err
	}
	if srv, err = startServer(ctx, s, root); err != nil {
		return err
	}
	defer srv.kill()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	fanOut := max(int(treeFanOut*math.Cbrt(s.scale)), 1)
	var before footprint
	for round := range 2 {
		// The first tree fills what is filled once, pools for instance.
		if before, err = srv.rested(ctx); err != nil {
			return err
		}
		if err := srv.measureTree(ctx, t, fanOut, round); err != nil {
			return err
		}
	}
	after, err := srv.rested(ctx)
	if err != nil {
		return err
	}
	t.add(row{"live heap before the last tree and after it", "the same", megabytes(before.heap) + ", " + megabytes(after.heap), ""})
	t.add(row{"resident memory before the last tree and after it", "the same", megabytes(before.resident) + ", " + megabytes(after.resident), "settled; of it pages of the database file " + megabytes(before.files) + ", " + megabytes(after.files)})
	t.add(row{"goroutines before the last tree and after it", "the same", fmt.Sprintf("%d, %d", before.goroutines, after.goroutines), ""})
	srv.profile(ctx, "tree-gone.heap", "/debug/pprof/heap?gc=1")
	srv.stop()
	keysAfter, err := storedKeys(ctx, root)
	if err != nil {
		return err
	}
	t.add(row{"keys in etcd before and after", "the same", fmt.Sprintf("%d, %d", keysBefore, keysAfter), ""})
	return nil
}

// rested returns what the server takes once it has forgotten what has been.
func (s *server) rested(ctx context.Context) (footprint, error) {
	select {
	case <-time.After(time.Duration(min(s.scale, 1) * float64(forgetAfter))):
	case <-ctx.Done():
		return footprint{}, ctx.Err()
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	tracker, err := s.track(ctx)
	if err != nil {
		return footprint{}, err
	}
	for _, do := range []operation{tracker.create("forget", 0), tracker.remove("forget")} {
		if _, err := s.load(ctx, 1, forgetBy, do); err != nil {
			return footprint{}, err
		}
	}
	return s.footprint(ctx)
}

// measureTree measures one tree.
func (s *server) measureTree(ctx context.Context, t *table, fanOut, round int) error {
	grown, err := s.newTree(ctx, fanOut)
	if err != nil {
		return err
	}
	stop := s.profileFor(ctx, fmt.Sprintf("tree-deleted-%d", round), treeSeconds)
	usedBefore, _, err := s.used()
	if err != nil {
		return err
	}
	began := time.Now()
	if err := grown.remove(ctx); err != nil {
		return err
	}
	took := time.Since(began)
	used, _, err := s.used()
	if err != nil {
		return err
	}
	stop()
	t.add(row{
		fmt.Sprintf("tree of %d workspaces, %d deep, deleted", grown.size(), treeDepth), "≤ 30 s", brief(took),
		fmt.Sprintf("from the request to the event; %s of processor of the server each", brief((used-usedBefore)/time.Duration(grown.size()))),
	})
	return nil
}
