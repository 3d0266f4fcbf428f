package hook

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/forkless/kcp/pkg/cli/diagnosis/hook"
	"github.com/forkless/kcp/pkg/cli/display"
	"github.com/forkless/kcp/pkg/logicalcluster"
)

// follow tells who waits, then who begins to and who has stopped, until it is interrupted.
func (s *session) follow(ctx context.Context, ids []string) error {
	known := map[string]map[string]string{}
	changed := s.client.Changes()
	for {
		for _, id := range ids {
			d := hook.Describe(ctx, s.client, s.Kind, id)
			virtual := s.Kind.Virtual(s.client, d.ID)
			all, err := virtual.Waiting(ctx)
			if err != nil {
				return err
			}
			changed.Of(ctx, virtual.Collection())
			now := map[string]string{}
			for i := range all {
				cluster := logicalcluster.FromAnnotations(all[i].Annotations).String()
				now[cluster] = all[i].Annotations[logicalcluster.PathAnnotationKey]
			}
			for _, line := range changes(known[d.ID], now) {
				_, _ = fmt.Fprintln(s.finder.Streams.Out, display.Line(line+"  "+d.Name))
			}
			known[d.ID] = now
		}
		if err := changed.Wait(ctx); err != nil {
			return err
		}
	}
}

// changes returns a line for each logical cluster that is only in one of both.
func changes(before, now map[string]string) []string {
	var lines []string
	for _, cluster := range slices.Sorted(maps.Keys(now)) {
		if _, there := before[cluster]; !there {
			lines = append(lines, fmt.Sprintf("waits  %s  %s", now[cluster], cluster))
		}
	}
	for _, cluster := range slices.Sorted(maps.Keys(before)) {
		if _, there := now[cluster]; !there {
			lines = append(lines, fmt.Sprintf("done   %s  %s", before[cluster], cluster))
		}
	}
	return lines
}
