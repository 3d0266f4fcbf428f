package conformance

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// runAll runs the tests in a number of processes and returns what is known of each by
// its name.
func runAll(ctx context.Context, s *server, specs []spec, workers int) (map[string]record, error) {
	hands := deal(specs, workers)
	type answer struct {
		records []record
		err     error
	}
	kubeconfigs := make([]string, len(hands))
	for i := range hands {
		var err error
		if kubeconfigs[i], err = s.workspace(ctx, "conformance-"+strconv.Itoa(i)); err != nil {
			return nil, err
		}
	}
	answers := make(chan answer)
	for i, hand := range hands {
		go func() {
			records, err := work(ctx, kubeconfigs[i], hand)
			answers <- answer{records, err}
		}()
	}
	records := map[string]record{}
	var errs []error
	for range hands {
		a := <-answers
		errs = append(errs, a.err)
		for _, r := range a.records {
			records[r.Name] = r
		}
	}
	return records, errors.Join(errs...)
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

// work runs some tests in a process of their own, and leaves its files beside the
// kubeconfig.
func work(ctx context.Context, kubeconfig string, tests []string) ([]record, error) {
	file := strings.TrimSuffix(kubeconfig, filepath.Ext(kubeconfig)) + ".json"
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
	records, err := readRecords(recordsOf(file))
	if err != nil {
		return records, err
	}
	if len(records) < len(tests) {
		return records, fmt.Errorf("a worker ran %d of %d tests: %w\n%s", len(records), len(tests), runErr, output)
	}
	return records, nil
}
