package apply

import (
	"context"
	"fmt"
	"time"
)

// How often to ask: what is waited for mostly takes milliseconds, and sometimes somebody
// else's controllers.
const (
	firstPause  = 2 * time.Millisecond
	longestWait = 200 * time.Millisecond
)

// poll asks until ask says that it is done, or returns an error. When ctx ends first, the
// error says what was last waited for.
func poll(ctx context.Context, ask func() (done bool, waiting string, err error)) error {
	pause := time.NewTimer(0)
	defer pause.Stop()
	for wait := firstPause; ; wait = min(wait+wait/2, longestWait) {
		done, waiting, err := ask()
		if err == nil && done {
			return nil
		}
		if ctx.Err() != nil {
			// An error of ask is but the end of ctx in other words.
			return fmt.Errorf("%w, while %s", context.Cause(ctx), orUnknown(waiting))
		}
		if err != nil {
			return err
		}
		pause.Reset(wait)
		select {
		case <-pause.C:
		case <-ctx.Done():
			return fmt.Errorf("%w, while %s", context.Cause(ctx), orUnknown(waiting))
		}
	}
}

func orUnknown(waiting string) string {
	if waiting == "" {
		return "the server did not answer"
	}
	return waiting
}
