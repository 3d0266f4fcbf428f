package conformance

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/onsi/ginkgo/v2"
	"github.com/onsi/ginkgo/v2/types"
)

// workerVariable is set for processes that TestConformance starts: the file with the
// names of the tests to run. The report goes beside it.
const workerVariable = "KCP_CONFORMANCE_TESTS"

const suiteName = "upstream"

const (
	// bound is how long a test may take: many of upstream's wait for as long as they
	// are allowed to.
	bound = 2 * time.Minute
	// deadline bounds a worker, for tests that do not heed their context.
	deadline = 20 * time.Minute
)

// TestWorker runs the tests that its parent process wants, in the workspace of its
// kubeconfig. It is no test by itself.
func TestWorker(t *testing.T) {
	file := os.Getenv(workerVariable)
	if file == "" {
		t.Skip("runs in processes that TestConformance starts")
	}
	var names []string
	if err := readJSON(file, &names); err != nil {
		t.Fatal(err)
	}
	suite, reporter := ginkgo.GinkgoConfiguration()
	suite.FocusStrings = []string{exactly(names)}
	suite.Timeout = deadline
	suite.FailOnEmpty = true
	reporter.JSONReport = reportOf(file)
	reporter.SilenceSkips = true
	ginkgo.RunSpecs(t, suiteName, suite, reporter, ginkgo.AroundNode(bounded))
}

// bounded runs a part of a test with a deadline.
func bounded(ctx context.Context, body func(context.Context)) {
	ctx, cancel := context.WithTimeout(ctx, bound)
	defer cancel()
	body(ctx)
}

// exactly returns the expression that matches these tests, to ginkgo, which puts the
// name of the suite before theirs.
func exactly(names []string) string {
	quoted := make([]string, len(names))
	for i, name := range names {
		quoted[i] = regexp.QuoteMeta(name)
	}
	return "^" + suiteName + " (" + strings.Join(quoted, "|") + ")$"
}

func reportOf(names string) string {
	return strings.TrimSuffix(names, ".json") + "-report.json"
}

// outcome is what became of a test.
type outcome struct {
	passed   bool
	duration time.Duration
	// message is why it was skipped or how it failed.
	message string
	skipped bool
	// output is what the test said, if it failed.
	output string
}

// runAll runs the tests in a number of processes and returns the outcome of each by name.
func runAll(ctx context.Context, s *server, specs []spec, workers int) (map[string]outcome, error) {
	hands := deal(specs, workers)
	type answer struct {
		outcomes map[string]outcome
		err      error
	}
	answers := make(chan answer)
	for i, hand := range hands {
		go func() {
			outcomes, err := work(ctx, s, "conformance-"+strconv.Itoa(i), hand)
			answers <- answer{outcomes, err}
		}()
	}
	all := map[string]outcome{}
	var errs []error
	for range hands {
		a := <-answers
		errs = append(errs, a.err)
		for name, outcome := range a.outcomes {
			all[name] = outcome
		}
	}
	return all, errors.Join(errs...)
}

// deal spreads tests over workers. Those of one file are alike, also in how long they
// take, so neighbors go to different workers.
func deal(specs []spec, workers int) [][]string {
	hands := make([][]string, min(workers, len(specs)))
	for i, s := range specs {
		hands[i%len(hands)] = append(hands[i%len(hands)], s.Name)
	}
	return hands
}

// work runs some tests in a process and workspace of that name.
func work(ctx context.Context, s *server, name string, tests []string) (map[string]outcome, error) {
	kubeconfig, err := s.workspace(ctx, name)
	if err != nil {
		return nil, err
	}
	file := filepath.Join(s.directory, name+".json")
	data, err := json.Marshal(tests)
	if err != nil {
		return nil, err
	}
	if err := os.WriteFile(file, data, 0o600); err != nil {
		return nil, err
	}
	// The flags of this process are those of the framework, too.
	args := append(slices.Clone(os.Args[1:]), "-test.run=^TestWorker$", "-test.v=false", "-test.timeout=0", "-kubeconfig="+kubeconfig)
	cmd := exec.CommandContext(ctx, os.Args[0], args...)
	cmd.Env = append(os.Environ(), workerVariable+"="+file)
	output, runErr := cmd.CombinedOutput()
	outcomes, err := outcomesIn(reportOf(file))
	if err != nil {
		return nil, fmt.Errorf("worker %s left no report: %w; %w\n%s", name, runErr, err, output)
	}
	return outcomes, nil
}

func outcomesIn(file string) (map[string]outcome, error) {
	var reports []ginkgo.Report
	if err := readJSON(file, &reports); err != nil {
		return nil, err
	}
	outcomes := map[string]outcome{}
	for _, report := range reports {
		for _, r := range report.SpecReports {
			if r.LeafNodeType != types.NodeTypeIt || r.State.Is(types.SpecStateSkipped) && r.Failure.Message == "" {
				continue // what others run
			}
			outcomes[r.FullText()] = outcome{
				passed:   r.State.Is(types.SpecStatePassed),
				skipped:  r.State.Is(types.SpecStateSkipped),
				duration: r.RunTime,
				message:  r.Failure.Message,
				output:   r.CapturedGinkgoWriterOutput,
			}
		}
	}
	return outcomes, nil
}

func readJSON(file string, into any) error {
	data, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	return json.Unmarshal(data, into)
}
