package ephemeral

import (
	"context"
	"errors"
	"fmt"
	"testing"
)

func TestUnfinished(t *testing.T) {
	deadline := context.DeadlineExceeded
	for name, tc := range map[string]struct {
		reason string
		err    error
		want   string
	}{
		"Doing":    {"what was being done is what is not known yet", fmt.Errorf("starting the server: %w", deadline), "starting the server"},
		"Deep":     {"as far as it is known", fmt.Errorf("a: %w", fmt.Errorf("b: %w", deadline)), "a: b"},
		"Other":    {"what says more is left as it is", fmt.Errorf("a: %w, while waiting", deadline), "a: context deadline exceeded, while waiting"},
		"Nothing":  {"something is said", deadline, "context deadline exceeded"},
		"NoMatter": {"other errors are what they are", errors.New("disk full"), "disk full"},
	} {
		got := unfinished{tc.err}
		if got.Error() != tc.want {
			t.Errorf("%s: %s: got %q, want %q", name, tc.reason, got, tc.want)
		}
		if !errors.Is(got, tc.err) {
			t.Errorf("%s: it is another error", name)
		}
	}
}
