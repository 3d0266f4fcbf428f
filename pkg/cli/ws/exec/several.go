package exec

import (
	"bytes"
	"fmt"
	"io"
	osexec "os/exec"
	"strings"
	"sync"

	"github.com/forkless/kcp/pkg/cli/display"
	"github.com/forkless/kcp/pkg/cli/run"
	"github.com/forkless/kcp/pkg/cli/ws/child"
	"github.com/forkless/kcp/pkg/cli/ws/target"
	"github.com/forkless/kcp/pkg/logicalcluster"
)

// result is what has come of the program in one workspace.
type result struct {
	path logicalcluster.Path
	// ran says that it was started, or at least tried.
	ran  bool
	code int
	// output is what is shown under a header when it is the turn of the workspace.
	output bytes.Buffer
	done   chan struct{}
}

// crowd runs the program in several workspaces.
type crowd struct {
	options *Options
	origin  *target.Origin
	keeper  *child.Keeper
	display display.Display
	// headers says that output is kept, to be shown under a header.
	headers bool
	// writing is held by who writes to the streams.
	writing sync.Mutex

	mu     sync.Mutex
	failed bool
}

func (o *Options) several(origin *target.Origin, paths []logicalcluster.Path) error {
	keeper := child.Listen()
	defer keeper.Close()
	d := o.finder.Display.For(o.finder.Streams.Out)
	c := &crowd{options: o, origin: origin, keeper: keeper, display: d, headers: d.Terminal && !o.Raw}
	results := make([]*result, 0, len(paths))
	for _, p := range paths {
		results = append(results, &result{path: p, done: make(chan struct{})})
	}

	var running sync.WaitGroup
	slots := make(chan struct{}, o.Parallel)
	running.Go(func() {
		for _, r := range results {
			slots <- struct{}{}
			running.Go(func() {
				defer func() { <-slots }()
				c.run(r)
			})
		}
	})
	for _, r := range results {
		<-r.done
		c.show(r)
	}
	running.Wait()

	_, _ = fmt.Fprintln(o.finder.Streams.ErrOut, summary(results))
	if s := keeper.Signal(); s != nil {
		return run.Exit(run.SignalCode(s))
	}
	return run.Exit(highest(results))
}

// run runs the program in one workspace, unless there is a reason to start no more.
func (c *crowd) run(r *result) {
	defer close(r.done)
	c.mu.Lock()
	stop := c.failed && c.options.FailFast || c.keeper.Signal() != nil
	c.mu.Unlock()
	if stop {
		return
	}
	r.ran = true
	out, errOut, flush := c.writers(r)
	var err error
	r.code, err = c.options.in(c.origin, r.path, func(cmd *osexec.Cmd) (int, error) {
		cmd.Stdout, cmd.Stderr = out, errOut
		return c.keeper.Run(cmd)
	})
	if err != nil {
		r.code = max(r.code, 1)
		_, _ = fmt.Fprintf(errOut, "error: %s\n", run.Message(err))
	}
	flush()
	if r.code != 0 {
		c.mu.Lock()
		c.failed = true
		c.mu.Unlock()
	}
}

// writers returns where the program writes to. flush is called when it is done.
func (c *crowd) writers(r *result) (out, errOut io.Writer, flush func()) {
	streams := c.options.finder.Streams
	switch {
	case c.headers:
		// One writer for both keeps the order in which things were written.
		return &r.output, &r.output, func() {}
	case c.options.Raw:
		return synchronized{streams.Out, &c.writing}, synchronized{streams.ErrOut, &c.writing}, func() {}
	}
	prefix := r.path.String() + "| "
	lines := &prefixer{w: streams.Out, mu: &c.writing, prefix: prefix}
	errLines := &prefixer{w: streams.ErrOut, mu: &c.writing, prefix: prefix}
	return lines, errLines, func() { _, _ = lines.Close(), errLines.Close() }
}

// show shows what was kept.
func (c *crowd) show(r *result) {
	if !c.headers || !r.ran {
		return
	}
	text := r.output.String()
	if text != "" && !strings.HasSuffix(text, "\n") {
		text += "\n"
	}
	_, _ = fmt.Fprintf(c.options.finder.Streams.Out, "%s\n%s", header(c.display, r.path.String()), text)
	r.output = bytes.Buffer{}
}

// highest returns the highest exit code.
func highest(results []*result) int {
	code := 0
	for _, r := range results {
		code = max(code, r.code)
	}
	return code
}

// summary says what has come of it all.
func summary(results []*result) string {
	ok, skipped := 0, 0
	var failed []string
	for _, r := range results {
		switch {
		case !r.ran:
			skipped++
		case r.code == 0:
			ok++
		default:
			failed = append(failed, fmt.Sprintf("%s: exit %d", r.path, r.code))
		}
	}
	parts := []string{fmt.Sprintf("%d ok", ok)}
	if len(failed) > 0 {
		parts = append(parts, fmt.Sprintf("%d failed (%s)", len(failed), strings.Join(failed, ", ")))
	}
	if skipped > 0 {
		parts = append(parts, fmt.Sprintf("%d not started", skipped))
	}
	noun := "workspaces"
	if len(results) == 1 {
		noun = "workspace"
	}
	return fmt.Sprintf("%d %s: %s", len(results), noun, strings.Join(parts, ", "))
}
