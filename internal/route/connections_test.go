package route

import (
	"context"
	"testing"

	"github.com/forkless/kcp/pkg/logicalcluster"
)

func TestConnections(t *testing.T) {
	one, two := logicalcluster.MustParseName("one"), logicalcluster.MustParseName("two")
	c := NewConnections()
	begin := func(cluster logicalcluster.Name) (context.Context, func()) {
		ctx, cancel := context.WithCancel(t.Context())
		return ctx, c.add(cluster, cancel)
	}
	first, endFirst := begin(one)
	second, endSecond := begin(two)

	c.Cut(one)
	if first.Err() == nil {
		t.Error("a request in a cluster that was cut still runs")
	}
	if second.Err() != nil {
		t.Error("a request in another cluster was cut as well")
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
	if len(c.running) > 0 {
		t.Errorf("%d clusters are remembered", len(c.running))
	}
}
