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

// TestConformance runs all tests that no rule leaves out: first those of rules.yaml, then
// those of rules-types.yaml where workload types are served.
//
// KCP_CONFORMANCE_FOCUS, a regular expression, picks some by their names; then the
// document is not written.
func TestConformance(t *testing.T) {
	if os.Getenv(workerVariable) != "" {
		t.Skip("runs in the parent process")
	}
	focus := os.Getenv("KCP_CONFORMANCE_FOCUS")
	pattern, err := regexp.Compile(focus)
	if err != nil {
		t.Fatal(err)
	}
	var outcomes [2]outcome
	for i, r := range []struct {
		name, rules string
		start       func(t *testing.T) *server
	}{
		{"Workspace", rulesFile, startServer},
		{"WorkloadTypes", typesRulesFile, startServerWithTypes},
	} {
		t.Run(r.name, func(t *testing.T) {
			verdicts, err := judge(all, rules(t, r.rules))
			if err != nil {
				t.Fatal(err)
			}
			run := slices.DeleteFunc(slices.Clone(all), func(s spec) bool {
				return verdicts[s.Name] != "" || !pattern.MatchString(s.Name)
			})
			outcomes[i] = outcome{verdicts, check(t, r.start(t), run)}
		})
	}
	if focus == "" {
		if err := os.WriteFile(document, []byte(table(all, outcomes[0], outcomes[1])), 0o644); err != nil {
			t.Error(err)
		}
	}
}

// outcome is what was decided about the tests, and what became of those that were run.
type outcome struct {
	verdicts map[string]string
	records  map[string]record
}

// check runs tests on a server and says which have failed.
func check(t *testing.T, s *server, run []spec) map[string]record {
	t.Helper()
	if len(run) == 0 {
		return nil
	}
	records, err := runAll(t.Context(), s, run, workers(t))
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range run {
		t.Run(s.Name, func(t *testing.T) {
			r, ok := records[s.Name]
			switch {
			case !ok:
				t.Error("was not run")
			case r.Skipped:
				t.Errorf("skipped itself, so a rule should leave it out: %s", r.Message)
			case !r.Passed:
				t.Errorf("%s:%d failed after %s: %s\n%s", s.File, s.Line, r.Duration.Round(time.Millisecond), r.Message, r.Output)
			}
		})
	}
	slowest(t, records)
	return records
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
func slowest(t *testing.T, records map[string]record) {
	t.Helper()
	names := make([]string, 0, len(records))
	for name := range records {
		names = append(names, name)
	}
	slices.SortFunc(names, func(a, b string) int { return cmp.Compare(records[b].Duration, records[a].Duration) })
	for _, name := range names[:min(10, len(names))] {
		t.Logf("%6.1fs %s", records[name].Duration.Seconds(), name)
	}
}
