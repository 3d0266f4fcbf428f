package conformance

import (
	"cmp"
	"os"
	"regexp"
	"slices"
	"strconv"
	"testing"
	"time"
)

// TestConformance runs all tests that no rule leaves out.
//
// KCP_CONFORMANCE_FOCUS, a regular expression, picks some by their names; then the
// document is not written.
func TestConformance(t *testing.T) {
	if os.Getenv(workerVariable) != "" {
		t.Skip("runs in the parent process")
	}
	verdicts, err := judge(all, rules(t))
	if err != nil {
		t.Fatal(err)
	}
	focus := os.Getenv("KCP_CONFORMANCE_FOCUS")
	pattern, err := regexp.Compile(focus)
	if err != nil {
		t.Fatal(err)
	}
	run := slices.DeleteFunc(slices.Clone(all), func(s spec) bool {
		return verdicts[s.Name] != "" || !pattern.MatchString(s.Name)
	})
	outcomes, err := runAll(t.Context(), startServer(t), run, workers(t))
	if err != nil {
		t.Error(err)
	}
	for _, s := range run {
		t.Run(s.Name, func(t *testing.T) {
			outcome, ok := outcomes[s.Name]
			switch {
			case !ok:
				t.Error("was not run")
			case outcome.skipped:
				t.Errorf("skipped itself, so a rule should leave it out: %s", outcome.message)
			case !outcome.passed:
				t.Errorf("%s:%d failed after %s: %s\n%s", s.File, s.Line, outcome.duration.Round(time.Millisecond), outcome.message, outcome.output)
			}
		})
	}
	slowest(t, outcomes)
	if document := os.Getenv("KCP_CONFORMANCE_DOCUMENT"); focus == "" && document != "" {
		if err := os.WriteFile(document, []byte(table(all, verdicts, outcomes)), 0o644); err != nil {
			t.Error(err)
		}
	}
}

// workers returns how many tests run at the same time. Most of them wait most of the
// time, so it is not a matter of processors.
func workers(t *testing.T) int {
	t.Helper()
	value := cmp.Or(os.Getenv("KCP_CONFORMANCE_WORKERS"), "6")
	n, err := strconv.Atoi(value)
	if err != nil || n < 1 {
		t.Fatalf("KCP_CONFORMANCE_WORKERS is %q, and should be a number from 1 on", value)
	}
	return n
}

// slowest says where the time went.
func slowest(t *testing.T, outcomes map[string]outcome) {
	t.Helper()
	names := make([]string, 0, len(outcomes))
	for name := range outcomes {
		names = append(names, name)
	}
	slices.SortFunc(names, func(a, b string) int { return cmp.Compare(outcomes[b].duration, outcomes[a].duration) })
	for _, name := range names[:min(10, len(names))] {
		t.Logf("%6.1fs %s", outcomes[name].duration.Seconds(), name)
	}
}
