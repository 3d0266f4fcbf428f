package route

import (
	"context"
	"testing"

	"github.com/forkless/kcp/pkg/logicalcluster"
)

func TestConnections(t *testing.T) {
	one, two := place{cluster: logicalcluster.MustParseName("one")}, place{cluster: logicalcluster.MustParseName("two")}
	mounted := place{cluster: one.cluster, mounted: "m"}
	c := NewConnections()
	begin := func(at place) (context.Context, func()) {
		ctx, cancel := context.WithCancel(t.Context())
		return ctx, c.add(at, cancel)
	}
	first, endFirst := begin(one)
	second, endSecond := begin(two)
	third, endThird := begin(mounted)

	c.Cut(one.cluster)
	if first.Err() == nil {
		t.Error("a request in a cluster that was cut still runs")
	}
	if second.Err() != nil {
		t.Error("a request in another cluster was cut as well")
	}
	if third.Err() != nil {
		t.Error("what is mounted in a cluster is not in it")
	}
	c.CutMount(mounted.cluster, mounted.mounted)
	if third.Err() == nil {
		t.Error("a request still runs in what was mounted")
	}
	if again, end := begin(one); again.Err() != nil {
		t.Error("cutting ends what runs, not what begins later")
	} else {
		end()
	}
	c.Close()
	if second.Err() == nil {
		t.Error("a request still runs though all were to end")
	}
	if late, end := begin(two); late.Err() == nil {
		t.Error("a request that begins while the server stops would keep it from stopping")
	} else {
		end()
	}
	endFirst()
	endSecond()
	endThird()
	if len(c.running) > 0 {
		t.Errorf("%d clusters are remembered", len(c.running))
	}
}
