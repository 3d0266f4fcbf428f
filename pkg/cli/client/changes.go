package client

import (
	"context"
	"encoding/json"
	"strings"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/forkless/kcp/pkg/logicalcluster"
)

// The pauses between two looks of somebody who watches: while something that matters
// cannot be watched, otherwise, for what nobody has thought of watching, and between
// changes that come together.
const (
	blindPause    = time.Second
	watchfulPause = 30 * time.Second
	settlingPause = 50 * time.Millisecond
)

// Collection is what can be watched: the objects of a resource, or one of them.
type Collection struct {
	path []string
	name string
	// optional says that nobody has to look again and again while it cannot be watched.
	optional bool
}

// Optional returns the collection as one that tells less than others, if anything: those
// who may not watch it are not told to look once a second instead.
func (c Collection) Optional() Collection {
	c.optional = true
	return c
}

// Objects returns the objects of a resource in p that are in no namespace; with a name,
// only the one that has it.
func Objects(p logicalcluster.Path, gvr schema.GroupVersionResource, name string) Collection {
	return Collection{path: resource(p, gvr, ""), name: name}
}

// Collection returns the logical clusters that wait for the hook.
func (h *Hook) Collection() Collection {
	return Collection{path: h.path(logicalcluster.Wildcard.String())}
}

// Changes tells somebody when to ask anew for all that he wants to know: when something
// has changed in the collections that he has named or, while one of them cannot be watched,
// once a second.
type Changes struct {
	client *Client
	// changed holds one token when something has changed since Wait has returned.
	changed chan struct{}

	mu sync.Mutex
	// blind says of each collection whether somebody has to look by himself at the moment.
	blind map[string]bool
}

// Changes returns one that knows no collections yet.
func (c *Client) Changes() *Changes {
	return &Changes{client: c, changed: make(chan struct{}, 1), blind: map[string]bool{}}
}

// Of watches collections until ctx ends. Those that are watched already stay so.
func (c *Changes) Of(ctx context.Context, collections ...Collection) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, collection := range collections {
		key := strings.Join(collection.path, "/") + "?" + collection.name
		if _, known := c.blind[key]; !known {
			c.blind[key] = !collection.optional
			go c.keep(ctx, key, collection)
		}
	}
}

// Wait returns when it is time to ask again. The error is that of ctx.
func (c *Changes) Wait(ctx context.Context) error {
	pause := time.NewTimer(c.pause())
	defer pause.Stop()
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-pause.C:
		return nil
	case <-c.changed:
		return pauseFor(ctx, settlingPause)
	}
}

func (c *Changes) pause() time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, blind := range c.blind {
		if blind {
			return blindPause
		}
	}
	return watchfulPause
}

// keep watches a collection again and again.
func (c *Changes) keep(ctx context.Context, key string, collection Collection) {
	for pause := firstPause; ; pause = min(2*pause, lastPause) {
		if c.once(ctx, key, collection) {
			pause = firstPause
			c.note(key, !collection.optional)
		}
		if pauseFor(ctx, pause) != nil {
			return
		}
	}
}

// note says whether a collection cannot be watched, and that there may be something new in
// it.
func (c *Changes) note(key string, blind bool) {
	c.mu.Lock()
	c.blind[key] = blind
	c.mu.Unlock()
	c.tell()
}

func (c *Changes) tell() {
	select {
	case c.changed <- struct{}{}:
	default:
	}
}

// once watches a collection until the watch ends, and says whether it began.
func (c *Changes) once(ctx context.Context, key string, collection Collection) (began bool) {
	var page struct {
		metav1.ListMeta `json:"metadata"`
	}
	params := map[string]string{"limit": "1"}
	request := c.client.server.Get().AbsPath(collection.path...).
		Param("watch", "true").Param("allowWatchBookmarks", "true")
	if collection.name != "" {
		params["fieldSelector"] = "metadata.name=" + collection.name
		request = request.Param("fieldSelector", params["fieldSelector"])
	}
	if c.client.get(ctx, collection.path, params, &page) != nil {
		return false
	}
	stream, err := request.Param("resourceVersion", page.ResourceVersion).Stream(ctx)
	if err != nil {
		return false
	}
	defer func() { _ = stream.Close() }()
	// What has changed before the list was not seen by anybody.
	c.note(key, false)
	for events := json.NewDecoder(stream); ; {
		var event struct {
			Type string `json:"type"`
		}
		if events.Decode(&event) != nil || event.Type == "ERROR" {
			return true
		}
		if event.Type != "BOOKMARK" {
			c.tell()
		}
	}
}
