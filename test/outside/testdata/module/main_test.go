package widgets

import (
	"context"
	"fmt"
	"os"
	"testing"

	"github.com/forkless/kcp/pkg/kcptest"
)

var controlPlane *kcptest.ControlPlane

func TestMain(m *testing.M) { os.Exit(run(m)) }

func run(m *testing.M) int {
	var err error
	if controlPlane, err = kcptest.New(context.Background()); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer controlPlane.Stop()
	return m.Run()
}
