// Package orphan ends the programs that envtest starts when the test that started them has
// ended without stopping them: it was killed, or forgot to.
//
// Whoever starts the programs by other means may leave them behind on purpose. So what they
// do goes by their directory: envtest makes one for each, in the temporary directory of the
// machine and with a name of its own, which nobody else knows. It is removed, too: nobody
// would ever look into it again.
package orphan

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// envtests is how names of directories begin that envtest makes.
const envtests = "k8s_test_framework_"

// every is how often the parent is looked for: a look is one system call.
const every = 300 * time.Millisecond

// Watch returns a context that ends soon after the parent of this process, if envtest made
// directory, and what is to be called when the program has ended, which then removes that.
// The program goes on for grace without its parent.
func Watch(ctx context.Context, directory string, grace time.Duration) (context.Context, func() error) {
	return watch(ctx, directory, grace, os.Getppid)
}

func watch(ctx context.Context, directory string, grace time.Duration, parent func() int) (context.Context, func() error) {
	if !strings.HasPrefix(filepath.Base(directory), envtests) {
		return ctx, func() error { return nil }
	}
	ctx, cancel := context.WithCancelCause(ctx)
	go await(ctx, parent, grace, cancel)
	return ctx, func() error {
		defer cancel(nil)
		if errors.Is(context.Cause(ctx), errOrphan) {
			return os.RemoveAll(directory)
		}
		return nil
	}
}

// await waits for the end of the parent or of ctx.
func await(ctx context.Context, parent func() int, grace time.Duration, cancel context.CancelCauseFunc) {
	first := parent()
	tick := time.NewTicker(every)
	defer tick.Stop()
	for parent() == first {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
	}
	select {
	case <-time.After(grace):
		cancel(errOrphan)
	case <-ctx.Done():
	}
}

// errOrphan is why a context has ended whose program has no parent any more.
var errOrphan = errors.New("what started this program has ended")
