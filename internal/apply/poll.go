package apply

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// How often to ask: what is waited for mostly takes milliseconds, and sometimes somebody
// else's controllers.
const (
	firstPause   = 2 * time.Millisecond
	longestPause = 200 * time.Millisecond
)

// waitError says that something has not come in time.
type waitError struct {
	// missing is what was last seen, cause why nobody has waited longer.
	missing string
	cause   error
	waited  time.Duration
}

func (e *waitError) Error() string {
	text := fmt.Sprintf("%s (waited %s)", e.missing, e.waited.Round(time.Millisecond))
	if !errors.Is(e.cause, context.DeadlineExceeded) {
		text += ": " + e.cause.Error()
	}
	return text
}

// Unwrap returns why nobody has waited longer.
func (e *waitError) Unwrap() error { return e.cause }

// poll asks until ask says that it is done, or returns an error. When ctx ends first, the
// error says what was last waited for, and for how long.
func poll(ctx context.Context, ask func() (done bool, waiting string, err error)) error {
	began, pause := time.Now(), time.NewTimer(0)
	defer pause.Stop()
	for wait := firstPause; ; wait = min(wait+wait/2, longestPause) {
		done, waiting, err := ask()
		if err == nil && done {
			return nil
		}
		if ctx.Err() != nil {
			// An error of ask is but the end of ctx in other words.
			return &waitError{missing: orUnknown(waiting), cause: context.Cause(ctx), waited: time.Since(began)}
		}
		if err != nil {
			return err
		}
		pause.Reset(wait)
		select {
		case <-pause.C:
		case <-ctx.Done():
			return &waitError{missing: orUnknown(waiting), cause: context.Cause(ctx), waited: time.Since(began)}
		}
	}
}

func orUnknown(waiting string) string {
	if waiting == "" {
		return "the server did not answer"
	}
	return waiting
}
