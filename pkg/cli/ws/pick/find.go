package pick

import (
	"cmp"
	"context"
	"time"

	"github.com/forkless/kcp/pkg/cli/display"
	"github.com/forkless/kcp/pkg/cli/run"
	"github.com/forkless/kcp/pkg/cli/ws/path"
	"github.com/forkless/kcp/pkg/cli/ws/pick/model"
	"github.com/forkless/kcp/pkg/cli/ws/stage"
	"github.com/forkless/kcp/pkg/cli/ws/target"
	"github.com/forkless/kcp/pkg/cli/ws/walk"
	"github.com/forkless/kcp/pkg/logicalcluster"
)

const (
	// mostCandidates is where the walk stops: nobody looks through more.
	mostCandidates = 5000
	// batch is for how long candidates are gathered before they are shown.
	batch = 40 * time.Millisecond
)

// found is what has been found out.
type found struct {
	candidates []model.Candidate
	// complete says that there will be no more, trouble why that may not be all.
	complete bool
	trouble  string
}

// search finds candidates until ctx is done. The channel is closed after the last ones.
func search(ctx context.Context, origin *target.Origin) <-chan found {
	results := make(chan found)
	go func() {
		defer close(results)
		find(ctx, origin, results)
	}()
	return results
}

// find sends candidates until there are no more or ctx is done: those that the kubeconfig
// knows, then those that the server has.
func find(ctx context.Context, origin *target.Origin, results chan<- found) {
	known := remembered(origin)
	send(ctx, results, found{candidates: known})

	gathered := make(chan model.Candidate)
	ended := make(chan error, 1)
	go func() {
		ended <- walkAll(ctx, origin, func(c model.Candidate) {
			select {
			case gathered <- c:
			case <-ctx.Done():
			}
		})
	}()
	ticker := time.NewTicker(batch)
	defer ticker.Stop()
	var waiting []model.Candidate
	for {
		select {
		case c := <-gathered:
			waiting = append(waiting, c)
		case <-ticker.C:
			if len(waiting) > 0 {
				send(ctx, results, found{candidates: waiting})
				waiting = nil
			}
		case err := <-ended:
			last := found{candidates: waiting, complete: true}
			if err != nil {
				last.trouble = run.Message(err)
			}
			send(ctx, results, last)
			return
		}
	}
}

func send(ctx context.Context, results chan<- found, f found) {
	select {
	case results <- f:
	case <-ctx.Done():
	}
}

// remembered returns the pins and the history.
func remembered(origin *target.Origin) []model.Candidate {
	var all []model.Candidate
	for _, pin := range origin.Pins() {
		if path.SameServer(pin.Base, origin.Base) {
			all = append(all, model.Candidate{Path: pin.Path.String(), Pin: pin.Name})
		}
	}
	for _, p := range origin.History() {
		all = append(all, model.Candidate{Path: p.String()})
	}
	return all
}

// walkAll walks the tree from its top or, for those who may not look there, from the
// current workspace.
func walkAll(ctx context.Context, origin *target.Origin, tell func(model.Candidate)) error {
	c, err := origin.Client()
	if err != nil {
		return err
	}
	now := time.Now()
	options := walk.Options{Limit: mostCandidates, Found: func(n *walk.Node) { tell(candidateOf(n, now)) }}
	var trouble error
	for _, start := range starts(origin) {
		_, err := walk.Walk(ctx, c, start, options)
		if err == nil || ctx.Err() != nil {
			return err
		}
		trouble = cmp.Or(trouble, err)
	}
	return trouble
}

// starts returns where to look for workspaces, the next one if the one before fails.
func starts(origin *target.Origin) []logicalcluster.Path {
	if !origin.InWorkspace() {
		return []logicalcluster.Path{logicalcluster.Root.Path()}
	}
	top := origin.Path
	for {
		parent, ok := top.Parent()
		if !ok {
			break
		}
		top = parent
	}
	if top == origin.Path {
		return []logicalcluster.Path{top}
	}
	return []logicalcluster.Path{top, origin.Path}
}

func candidateOf(n *walk.Node, now time.Time) model.Candidate {
	c := model.Candidate{Path: n.Path.String()}
	if n.Workspace != nil {
		at := stage.Of(n.Workspace)
		c.Type, c.Stage, c.Role = display.Line(stage.Type(n.Workspace)), at.Short(now), at.Role()
	}
	return c
}
