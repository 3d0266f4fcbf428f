package conformance

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/onsi/ginkgo/v2"
	"github.com/onsi/ginkgo/v2/types"
	"github.com/onsi/gomega"
	"k8s.io/kubernetes/test/e2e/framework"
)

// workerVariable is set for processes that TestConformance starts: the file with the
// names of the tests to run. What it says of them goes beside it.
const workerVariable = "KCP_CONFORMANCE_TESTS"

const suiteName = "upstream"

const (
	// bound is how long a test may take: many of upstream's wait for as long as they
	// are allowed to.
	bound = 3 * time.Minute
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
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	if err := json.Unmarshal(data, &names); err != nil {
		t.Fatal(err)
	}
	suite, reporter := ginkgo.GinkgoConfiguration()
	suite.FocusStrings = []string{exactly(names)}
	suite.Timeout = deadline
	suite.FailOnEmpty = true
	reporter.SilenceSkips = true
	gomega.RegisterFailHandler(framework.Fail)
	// Not at the top level of the package: ginkgo keeps such a node for the first of its
	// runs only, which is the dry one that lists the tests.
	ginkgo.ReportAfterEach(keepRecords(recordsOf(file)))
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

// record is what a worker says of a test that it ran.
type record struct {
	Name     string        `json:"name"`
	Passed   bool          `json:"passed"`
	Skipped  bool          `json:"skipped"`
	Duration time.Duration `json:"duration"`
	// Message is why it was skipped or how it failed.
	Message string `json:"message"`
	// Output is what it said meanwhile.
	Output string `json:"output"`
}

// keepRecords returns what writes down each test when it is over, not all of them at the
// end: so nothing is lost when a worker crashes.
func keepRecords(file string) func(ginkgo.SpecReport) {
	return func(report ginkgo.SpecReport) {
		if report.State.Is(types.SpecStateSkipped) && report.Failure.Message == "" {
			return // what others run
		}
		framework.ExpectNoError(appendJSON(file, record{
			Name:     report.FullText(),
			Passed:   report.State.Is(types.SpecStatePassed),
			Skipped:  report.State.Is(types.SpecStateSkipped),
			Duration: report.RunTime,
			Message:  report.Failure.Message,
			Output:   report.CapturedGinkgoWriterOutput,
		}))
	}
}

// recordsOf returns the file of what was said of the tests in another file.
func recordsOf(names string) string {
	return strings.TrimSuffix(names, ".json") + "-records.json"
}

func appendJSON(file string, value any) error {
	data, err := json.Marshal(value)
	if err != nil {
		return err
	}
	f, err := os.OpenFile(file, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	return errors.Join(err, f.Close())
}

// readRecords returns the records of a worker; one that crashed may have left none.
func readRecords(file string) ([]record, error) {
	f, err := os.Open(file)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	var records []record
	for decoder := json.NewDecoder(f); ; {
		var r record
		err := decoder.Decode(&r)
		if errors.Is(err, io.EOF) {
			return records, nil
		}
		if err != nil {
			return records, err
		}
		records = append(records, r)
	}
}
