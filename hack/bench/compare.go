//go:build linux

package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"strconv"
	"time"
)

const (
	// compareBatches is how many times both servers get their turn, compareBatch how many
	// operations each does in one.
	compareBatches = 20
	compareBatch   = 150
	// compareLists is how many lists are one batch, of compareListed objects.
	compareLists  = 10
	compareListed = 2000
)

// contender is one of two servers that are compared.
type contender struct {
	*server
	tracker    *tracker
	collection string
}

// spent is what operations have taken of the server.
type spent struct {
	processor time.Duration
	// objects and bytes were allocated.
	objects, bytes int
}

// measureCompared compares the server with the one of --against, for each operation. The
// two run beside each other and get turns that are short, so that whatever else the
// machine does meanwhile is the same for both. Allocations hardly depend on it at all.
func measureCompared(ctx context.Context, s settings, t *table) error {
	if s.against == "" {
		return nil
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var both [2]*contender
	for i, binary := range []string{s.against, s.server} {
		each := s
		each.server = binary
		c, done, err := newContender(ctx, each)
		if err != nil {
			return err
		}
		defer done()
		both[i] = c
	}
	batches := s.times(compareBatches)
	for _, step := range compareSteps() {
		var total [2]spent
		for batch := -1; batch < batches; batch++ {
			for i := range both {
				// Who is first takes turns, too.
				i = (i + batch + 2) % 2
				used, err := both[i].spend(ctx, step, batch+1)
				if err != nil {
					return fmt.Errorf("%s: %w", step.what, err)
				}
				if batch >= 0 { // The first is to warm up.
					total[i].processor += used.processor
					total[i].objects += used.objects
					total[i].bytes += used.bytes
				}
			}
		}
		n := batches * step.n
		t.add(row{"compared: " + step.what, "",
			fmt.Sprintf("%+.0f %%", 100*(float64(total[1].processor)/float64(total[0].processor)-1)),
			fmt.Sprintf("processor time %s and %s, allocated %s and %s in %d and %d objects",
				brief(total[0].processor/time.Duration(n)), brief(total[1].processor/time.Duration(n)),
				kilobytes(float64(total[0].bytes)/float64(n)), kilobytes(float64(total[1].bytes)/float64(n)),
				total[0].objects/n, total[1].objects/n)})
	}
	return nil
}

func newContender(ctx context.Context, s settings) (c *contender, done func(), err error) {
	srv, done, err := freshServer(ctx, s)
	if err != nil {
		return nil, nil, err
	}
	c = &contender{server: srv}
	if c.tracker, err = srv.track(ctx); err == nil {
		var cluster string
		cluster, err = srv.workspace(ctx, "compared")
		c.collection = "/clusters/" + cluster + configMaps.collection
	}
	if err != nil {
		done()
		return nil, nil, err
	}
	return c, done, nil
}

// comparison is an operation to compare servers by. A batch has n of them; before makes
// what the first needs.
type comparison struct {
	what   string
	n      int
	before func(ctx context.Context, c *contender) error
	do     func(c *contender, batch int) operation
}

func compareSteps() []comparison {
	item := func(c *contender, batch, i int) string {
		return fmt.Sprintf("%s/c%d-%d", c.collection, batch, i)
	}
	return []comparison{
		{"ConfigMap created", compareBatch, nil, func(c *contender, batch int) operation {
			return c.create(configMaps, c.collection, fmt.Sprintf("c%d", batch))
		}},
		{"ConfigMap read", compareBatch, nil, func(c *contender, batch int) operation {
			return func(ctx context.Context, client *client, i int) error {
				_, err := client.do(ctx, http.MethodGet, item(c, batch, i), "", nil)
				return err
			}
		}},
		{"ConfigMap merge-patched", compareBatch, nil, func(c *contender, batch int) operation {
			return func(ctx context.Context, client *client, i int) error {
				_, err := client.do(ctx, http.MethodPatch, item(c, batch, i), mergePatchType, []byte(configMaps.patch(i)))
				return err
			}
		}},
		{"ConfigMap deleted", compareBatch, nil, func(c *contender, batch int) operation {
			return func(ctx context.Context, client *client, i int) error {
				_, err := client.do(ctx, http.MethodDelete, item(c, batch, i), "", nil)
				return err
			}
		}},
		{fmt.Sprintf("list of %d ConfigMaps", compareListed), compareLists,
			func(ctx context.Context, c *contender) error {
				_, err := c.load(ctx, c.clients, compareListed, c.create(configMaps, c.collection, "listed"))
				return err
			},
			func(c *contender, _ int) operation {
				return func(ctx context.Context, client *client, _ int) error {
					_, err := client.do(ctx, http.MethodGet, c.collection, "", nil)
					return err
				}
			}},
		{"workspace created", compareBatch, nil, func(c *contender, batch int) operation {
			return c.tracker.create(fmt.Sprintf("c%d", batch), 0)
		}},
		{"workspace deleted", compareBatch, nil, func(c *contender, batch int) operation {
			return c.tracker.remove(fmt.Sprintf("c%d", batch))
		}},
	}
}

// spend does a batch and returns what it took.
func (c *contender) spend(ctx context.Context, step comparison, batch int) (spent, error) {
	if batch == 0 && step.before != nil {
		if err := step.before(ctx, c); err != nil {
			return spent{}, err
		}
	}
	// Asking takes something as well, which is why it is done once more.
	earlier, err := c.allocated(ctx)
	if err != nil {
		return spent{}, err
	}
	before, err := c.allocated(ctx)
	if err != nil {
		return spent{}, err
	}
	r, err := c.load(ctx, c.clients, step.n, step.do(c, batch))
	if err != nil {
		return spent{}, err
	}
	after, err := c.allocated(ctx)
	return spent{
		processor: r.server * time.Duration(step.n),
		objects:   after.objects - before.objects - (before.objects - earlier.objects),
		bytes:     after.bytes - before.bytes - (before.bytes - earlier.bytes),
	}, err
}

var allocations = regexp.MustCompile(`(?m)^# (TotalAlloc|Mallocs) = (\d+)$`)

// allocated returns what the server has allocated since it was started.
func (s *server) allocated(ctx context.Context) (spent, error) {
	body, err := s.shardAdmin.do(ctx, http.MethodGet, "/debug/pprof/heap?debug=1", "", nil)
	if err != nil {
		return spent{}, err
	}
	found := map[string]int{}
	for _, match := range allocations.FindAllSubmatch(body, -1) {
		if found[string(match[1])], err = strconv.Atoi(string(match[2])); err != nil {
			return spent{}, err
		}
	}
	if len(found) != 2 {
		return spent{}, errors.New("the server does not say what it has allocated")
	}
	return spent{objects: found["Mallocs"], bytes: found["TotalAlloc"]}, nil
}
